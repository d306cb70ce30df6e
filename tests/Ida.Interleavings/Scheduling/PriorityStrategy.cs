using GroupCore.Runtime;

namespace Ida.Interleavings.Scheduling;

/// <summary>
/// Probabilistic concurrency testing (Burckhardt and others, ASPLOS 2010): each lane has a random priority, and the lane with the highest one runs. At a few random points the lane that is about
/// to go on gets the lowest priority. If a schedule has at most <c>points</c> points, an error for which <c>d</c> steps have to come in order is met with a probability of at least
/// 1/(<see cref="MostChanges"/> · lanes · points^(d−1)), where <c>d</c> − 1 is at most <see cref="MostChanges"/>.
/// </summary>
/// <remarks>This covers only the order of the lanes. A lane that yields, or runs for very long, gets the lowest priority too; late writes and times are drawn apart from it.</remarks>
internal sealed class PriorityStrategy : Strategy
{
    private const int MostChanges = 5;

    // A lane that runs for so long may wait for another lane's next step without yielding.
    private const int MostAtOnce = 3_000;
    private readonly Prng _random;
    private readonly Dictionary<Lane, long> _priorities = [];
    private readonly HashSet<int> _changes = [];
    private readonly Lateness _late;
    private long _lowest = -1;
    private int _point;
    private Lane? _last;
    private int _atOnce;

    /// <param name="seed">The seed by which everything is drawn.</param>
    /// <param name="points">The most points that such schedules have: changes come before that.</param>
    public PriorityStrategy(ulong seed, int points)
    {
        _random = new(seed);
        for (int i = _random.Next(MostChanges); i >= 0; i--) _changes.Add(_random.Next(points));
        _late = new(_random);
    }

    public override int Next(List<Lane> lanes, int current)
    {
        int best = Best(lanes);
        if (_changes.Contains(_point++))
        {
            _priorities[lanes[best]] = _lowest--;
            best = Best(lanes);
        }
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

    private int Best(List<Lane> lanes)
    {
        int best = 0;
        for (int i = 1; i < lanes.Count; i++)
            if (Of(lanes[i]) > Of(lanes[best])) best = i;
        return best;
    }

    private long Of(Lane lane)
    {
        if (!_priorities.TryGetValue(lane, out long priority)) _priorities[lane] = priority = 1 + _random.Next(1 << 30);
        return priority;
    }
}
