namespace Ida.Testing;

/// <summary>The states that faults give to something, each until its own end. The latest fault that has not ended counts; when all have ended, the state before them.</summary>
/// <typeparam name="TKey">What has the state: a way, a node.</typeparam>
/// <typeparam name="TState">The state.</typeparam>
internal sealed class HeldFaults<TKey, TState> where TKey : notnull
{
    private readonly Dictionary<TKey, (TState Before, List<(Fault By, TState State)> Held)> _held = [];

    /// <summary>A fault begins to hold it; <paramref name="before"/>: its state without any fault.</summary>
    public void Begin(TKey of, Fault by, TState state, TState before)
    {
        if (!_held.TryGetValue(of, out var held)) _held.Add(of, held = (before, []));
        held.Held.Add((by, state));
    }

    /// <summary>A fault ends; returns the state now, and whether another fault holds it.</summary>
    public (TState State, bool IsHeld) End(TKey of, Fault by)
    {
        var (before, held) = _held[of];
        held.RemoveAt(held.FindIndex(one => ReferenceEquals(one.By, by)));
        if (held.Count > 0) return (held[^1].State, true);
        _held.Remove(of);
        return (before, false);
    }
}
