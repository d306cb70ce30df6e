namespace Ida.Testing.Checking;

/// <summary>One value of an overwritten key: who wrote it (−1: nobody, the key is absent at first), who read it, and its version.</summary>
internal sealed class RegisterValue(HistoryValue value, int writer)
{
    public HistoryValue Value { get; } = value;

    public int Writer { get; } = writer;

    public long? Version { get; set; }

    public List<int> Readers { get; } = [];

    /// <summary>Who read absent at this removal or at a later one.</summary>
    public List<int> ReadersSince { get; } = [];

    /// <summary>Who read absent at this removal or at an earlier one.</summary>
    public List<int> ReadersUntil { get; } = [];
}
