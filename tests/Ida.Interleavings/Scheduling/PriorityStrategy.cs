using GroupCore.Runtime;

namespace Ida.Interleavings.Scheduling;

/// <summary>
/// Probabilistic concurrency testing (Burckhardt and others, ASPLOS 2010): the lane with the highest of random priorities runs; at a few random points it gets the lowest. An
/// error that takes <c>d</c> of them to come in order is met with a probability of at least 1/(lanes · points^(d−1)), however long the schedule is.
/// </summary>
internal sealed class PriorityStrategy : Strategy
{
    private const int MostChanges = 5;

    // Who runs for so long may be waiting for another one's next step without a yield.
    private const int MostAtOnce = 3_000;
    private readonly Prng _random;
    private readonly Dictionary<Lane, long> _priorities = [];
    private readonly HashSet<int> _changes = [];
    private readonly Lateness _late;
    private long _lowest = -1;
    private int _point;
    private Lane? _last;
    private int _atOnce;

    public PriorityStrategy(ulong seed, int points)
    {
        _random = new(seed);
        for (int i = _random.Next(MostChanges); i >= 0; i--) _changes.Add(_random.Next(points));
        _late = new(_random);
    }

    public override int Next(List<Lane> lanes, int current)
    {
        if (current >= 0 && _changes.Contains(_point)) _priorities[lanes[current]] = _lowest--;
        _point++;
        int best = 0;
        for (int i = 1; i < lanes.Count; i++)
            if (Of(lanes[i]) > Of(lanes[best])) best = i;
        _atOnce = lanes[best] == _last ? _atOnce + 1 : 0;
        _last = lanes[best];
        if (_atOnce == MostAtOnce) (_priorities[_last], _atOnce) = (_lowest--, 0);
        return best;
    }

    public override void OnYield(Lane lane) => _priorities[lane] = _lowest--;

    public override bool IsLate() => _late.IsLate();

    public override bool IsSeen() => _late.IsSeen();

    public override bool IsOver() => _late.IsOver();

    public override bool Happens(int oneIn) => _random.Next(oneIn * 4) == 0;

    public override int Draw(int bound) => _random.Next(bound);

    private long Of(Lane lane)
    {
        if (!_priorities.TryGetValue(lane, out long priority)) _priorities[lane] = priority = 1 + _random.Next(1 << 30);
        return priority;
    }
}
