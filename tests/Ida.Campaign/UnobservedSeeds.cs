using Ida.Testing;

namespace Ida.Campaign;

/// <summary>
/// Looks, after every so many seeds, for tasks that ended with an error that no code looked at, and says between which seeds they ran. Such a task is noticed only when memory
/// is collected, and the seed that made it does not wait for that.
/// </summary>
internal sealed class UnobservedSeeds : IDisposable
{
    private const int Every = 100;
    private readonly UnobservedErrors _errors = new();
    private readonly Lock _lock = new();
    private readonly HashSet<ulong> _running = [];
    private ulong _first = ulong.MaxValue, _last;
    private int _ended;

    /// <summary>Whether any such task was found.</summary>
    public bool Found { get; private set; }

    public void Begin(ulong seed)
    {
        lock (_lock)
        {
            _running.Add(seed);
            Count(seed);
        }
    }

    /// <summary>Notes the end of a seed. Now and then returns the report on it and the seeds before it; null if there is nothing to report.</summary>
    public string? End(ulong seed)
    {
        lock (_lock)
        {
            _running.Remove(seed);
            return ++_ended % Every == 0 ? Look() : null;
        }
    }

    /// <summary>The report on the seeds since the last report; null if there is nothing to report.</summary>
    public string? Collect()
    {
        lock (_lock) return Look();
    }

    public void Dispose() => _errors.Dispose();

    private string? Look()
    {
        string? found = _errors.Collect(), where = _first == _last ? $"seed {_first}" : $"seeds {_first}-{_last}";
        (_first, _last) = (ulong.MaxValue, 0);
        // Seeds that are still running may already have left such a task.
        foreach (ulong seed in _running) Count(seed);
        Found |= found is not null;
        return found is null ? null : $"In {where}: {found}";
    }

    private void Count(ulong seed) => (_first, _last) = (Math.Min(_first, seed), Math.Max(_last, seed));
}
