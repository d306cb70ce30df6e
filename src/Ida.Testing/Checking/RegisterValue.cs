namespace Ida.Testing.Checking;

/// <summary>One value of an overwritten key: its writer (−1: none, the key is absent at first), its readers, and its version.</summary>
internal sealed class RegisterValue(HistoryValue value, int writer)
{
    public HistoryValue Value { get; } = value;

    public int Writer { get; } = writer;

    public long? Version { get; set; }

    public List<int> Readers { get; } = [];

    /// <summary>Operations that read the absence of this removal or of a later one.</summary>
    public List<int> ReadersSince { get; } = [];

    /// <summary>Operations that read the absence of this removal or of an earlier one.</summary>
    public List<int> ReadersUntil { get; } = [];
}
