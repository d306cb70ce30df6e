using GroupCore.Runtime;

namespace Ida.Interleavings.Scheduling;

/// <summary>At each point another lane goes on with a probability that is drawn for the schedule: from one half to hardly ever.</summary>
internal sealed class RandomStrategy : Strategy
{
    private const int MostRare = 6;
    private readonly Prng _random;
    private readonly Lateness _late;
    private readonly int _switches;

    public RandomStrategy(ulong seed)
    {
        _random = new(seed);
        _switches = 2 << _random.Next(MostRare);
        _late = new(_random);
    }

    public override int Next(List<Lane> lanes, int current) => current >= 0 && (lanes.Count == 1 || _random.Next(_switches) != 0) ? current : _random.Next(lanes.Count);

    public override void OnYield(Lane lane)
    {
        // Another lane goes on in any case.
    }

    public override bool IsLate() => _late.IsLate();

    public override bool IsSeen() => _late.IsSeen();

    public override bool IsOver() => _late.IsOver();

    public override bool Happens(int oneIn) => _random.Next(oneIn) == 0;

    public override int Draw(int bound) => _random.Next(bound);
}
