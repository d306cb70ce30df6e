namespace Ida.Chaos.Driving;

/// <summary>Two addresses, in either order.</summary>
internal readonly record struct Pair
{
    public Pair(string one, string other) => (First, Second) = string.CompareOrdinal(one, other) <= 0 ? (one, other) : (other, one);

    public string First { get; }

    public string Second { get; }
}

/// <summary>The pairs of members between which nothing flows now.</summary>
internal sealed class CutPairs
{
    private readonly Lock _lock = new();
    private readonly HashSet<Pair> _cut = [];
    private TaskCompletionSource _healed = new(TaskCreationOptions.RunContinuationsAsynchronously);

    public void Cut(IEnumerable<Pair> pairs)
    {
        lock (_lock) _cut.UnionWith(pairs);
    }

    public void HealAll()
    {
        lock (_lock)
        {
            _cut.Clear();
            _healed.SetResult();
            _healed = new(TaskCreationOptions.RunContinuationsAsynchronously);
        }
    }

    /// <summary>Returns when the pair is not cut.</summary>
    public async ValueTask WhileCutAsync(Pair pair, CancellationToken over)
    {
        while (true)
        {
            Task healed;
            lock (_lock)
            {
                if (!_cut.Contains(pair)) return;
                healed = _healed.Task;
            }
            await healed.WaitAsync(over);
        }
    }
}
