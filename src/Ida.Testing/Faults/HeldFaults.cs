namespace Ida.Testing;

/// <summary>What faults have made of something, each until its own end: the latest that has not ended counts, and what was there before them when all have.</summary>
/// <typeparam name="TKey">Of what: a way, a node.</typeparam>
/// <typeparam name="TState">What faults make of it.</typeparam>
internal sealed class HeldFaults<TKey, TState> where TKey : notnull
{
    private readonly Dictionary<TKey, (TState Before, List<(Fault By, TState State)> Held)> _held = [];

    /// <summary>A fault begins to hold it; <paramref name="before"/>: what it is without any.</summary>
    public void Begin(TKey of, Fault by, TState state, TState before)
    {
        if (!_held.TryGetValue(of, out var held)) _held.Add(of, held = (before, []));
        held.Held.Add((by, state));
    }

    /// <summary>A fault ends; what it is now, and whether another fault holds it.</summary>
    public (TState State, bool IsHeld) End(TKey of, Fault by)
    {
        var (before, held) = _held[of];
        held.RemoveAt(held.FindIndex(one => ReferenceEquals(one.By, by)));
        if (held.Count > 0) return (held[^1].State, true);
        _held.Remove(of);
        return (before, false);
    }
}
