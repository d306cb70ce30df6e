namespace Ida.Testing;

/// <summary>
/// Hears of tasks of this process that ended with an error that nobody has looked at. The library starts no task whose error matters to nobody, so each is a defect, of the
/// library or of the harness.
/// </summary>
internal sealed class UnobservedErrors : IDisposable
{
    private const int MostKept = 5;
    private readonly Lock _lock = new();
    private readonly List<string> _kept = [];
    private int _count;

    public UnobservedErrors() => TaskScheduler.UnobservedTaskException += Note;

    /// <summary>Collects garbage, and tells how many such tasks were found since the last call, with the first of them; null if there were none.</summary>
    public string? Collect()
    {
        // A task that is found may have kept others alive.
        for (int i = 0; i < 2; i++)
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
        }
        lock (_lock)
        {
            string? found = Found;
            _count = 0;
            _kept.Clear();
            return found;
        }
    }

    /// <summary>What was found since the last look, without looking for more.</summary>
    public string? Found
    {
        get
        {
            lock (_lock) return _count == 0 ? null : $"{_count} tasks ended with errors that nobody looked at:\n{string.Join('\n', _kept)}";
        }
    }

    public void Dispose() => TaskScheduler.UnobservedTaskException -= Note;

    private void Note(object? sender, UnobservedTaskExceptionEventArgs args)
    {
        lock (_lock)
        {
            _count++;
            if (_kept.Count < MostKept) _kept.Add(args.Exception.ToString());
        }
    }
}
