namespace Ida.Testing.Workload;

/// <summary>Which value each key had with each version, as far as anybody was told. Thread-safe.</summary>
internal sealed class VersionBook
{
    private readonly Lock _lock = new();
    private readonly Dictionary<(string Key, ulong Version), string> _marks = [];

    public void Learn(string key, ulong version, string mark)
    {
        lock (_lock) _marks.TryAdd((key, version), mark);
    }

    /// <summary>The mark of the value; null if nobody was told.</summary>
    public string? MarkOf(string key, ulong version)
    {
        lock (_lock) return _marks.GetValueOrDefault((key, version));
    }
}
