using Ida.Testing;

namespace Ida.Campaign;

/// <summary>
/// Looks every so many seeds for tasks that ended with an error which nobody looked at, and says between which seeds: such a task is heard of only when memory is collected, which
/// the seed that made it does not wait for.
/// </summary>
internal sealed class UnobservedSeeds : IDisposable
{
    private const int Every = 100;
    private readonly UnobservedErrors _errors = new();
    private readonly Lock _lock = new();
    private readonly HashSet<ulong> _running = [];
    private ulong _first = ulong.MaxValue, _last;
    private int _ended;

    /// <summary>Whether there was any.</summary>
    public bool Found { get; private set; }

    public void Begin(ulong seed)
    {
        lock (_lock)
        {
            _running.Add(seed);
            Count(seed);
        }
    }

    /// <summary>A seed has ended; now and then what is to be said of it and those before it, null where there is nothing.</summary>
    public string? End(ulong seed)
    {
        lock (_lock)
        {
            _running.Remove(seed);
            return ++_ended % Every == 0 ? Look() : null;
        }
    }

    /// <summary>What is to be said of the seeds since it was said last.</summary>
    public string? Collect()
    {
        lock (_lock) return Look();
    }

    public void Dispose() => _errors.Dispose();

    private string? Look()
    {
        string? found = _errors.Collect(), where = _first == _last ? $"seed {_first}" : $"seeds {_first}-{_last}";
        (_first, _last) = (ulong.MaxValue, 0);
        // What runs yet may have left some already.
        foreach (ulong seed in _running) Count(seed);
        Found |= found is not null;
        return found is null ? null : $"In {where}: {found}";
    }

    private void Count(ulong seed) => (_first, _last) = (Math.Min(_first, seed), Math.Max(_last, seed));
}
