using GroupCore.Runtime;
using Ida.Testing;

namespace Ida.Scenarios;

/// <summary>
/// Clocks that change their rate and are set forward and back as a schedule goes, in some of the seeds. Either no clock is wrong by more than 1 % over a lease
/// (node-and-turn.md#clocks-count-the-time-asleep-and-drift-by-one-percent-at-most), and all must hold that holds with right clocks. Or they are wrong beyond that. Leases are worth
/// nothing then, so it is not judged which process is active when; but what is decided must be decided alike everywhere, and once the clocks run right again the system must settle.
/// </summary>
internal sealed class WrongClocks
{
    public const string Rate = "clock changes its rate", Forward = "clock steps forward", Back = "clock steps back";
    public const string WrongRate = "clock beyond its rate", FarForward = "clock steps far forward", FarBack = "clock steps far back";

    // Somewhat less than what leases take into account, so that rounding costs nothing.
    private const double Allowed = 0.0099, Most = 0.5;
    private readonly SimulationCase _run;
    private readonly OracleCluster _cluster;
    private readonly Ingredients _drawn;
    private readonly Prng _random;
    private readonly bool _beyond;
    private readonly Dictionary<SimNode, Clock> _clocks = [];
    private bool _isOver;

    private WrongClocks(SimulationCase run, OracleCluster cluster, Ingredients drawn, Prng random, bool beyond, bool trusted)
    {
        (_run, _cluster, _drawn, _random, _beyond) = (run, cluster, drawn, random, beyond);
        if (beyond) cluster.Checker.LeasesHold = trusted;
        Later();
    }

    public static IReadOnlyList<string> Names { get; } = [Rate, Forward, Back, WrongRate, FarForward, FarBack];

    /// <summary>The clocks of a seed; null if they only drift. From random numbers of their own, so that the rest of the schedule is as without
    /// them. For a negative control all are <paramref name="trusted"/>, and judged like clocks that run right.</summary>
    public static WrongClocks? Draw(SimulationCase run, OracleCluster cluster, Ingredients drawn, bool trusted)
    {
        var random = new Prng(run.Seed ^ 0xC10C);
        return random.Next(5) switch
        {
            0 => new(run, cluster, drawn, random, beyond: false, trusted),
            1 => new(run, cluster, drawn, random, beyond: true, trusted),
            _ => null,
        };
    }

    /// <summary>All clocks run right from now on; what they show stays.</summary>
    public void End()
    {
        _isOver = true;
        foreach (var process in _cluster.Alive) process.Node.ClockDrift = 0;
    }

    private void Later() => _cluster.Simulation.After(TimeSpan.FromMilliseconds(_random.Next(50, 1_500)), () =>
    {
        if (_isOver) return;
        var alive = _cluster.Alive.ToList();
        if (alive.Count > 0) Change(alive[_random.Next(alive.Count)].Node, _random.Fork());
        Later();
    });

    private void Change(SimNode node, Prng random)
    {
        if (!_run.Happens($"clock of {node.Name} at {_cluster.Simulation.Now}")) return;
        if (_beyond) GoWrong(node, random);
        else StayAllowed(node, random);
    }

    private void GoWrong(SimNode node, Prng random)
    {
        int what = random.Next(3);
        if (what == 0) SetRate(node, WrongRate, Most * Share(random));
        // From what is hardly wrong to what no time-out survives.
        else if (what == 1) Step(node, FarForward, TimeSpan.FromMilliseconds(random.Next(30, 30 << (1 + random.Next(8)))));
        else Step(node, FarBack, -TimeSpan.FromMilliseconds(random.Next(30, 30 << (1 + random.Next(7)))));
    }

    /// <summary>A clock either runs at rates that change, or right but for steps: at most one step in the time of a lease, so that errors within that time do not add up.</summary>
    private void StayAllowed(SimNode node, Prng random)
    {
        var now = _cluster.Simulation.Now;
        var lease = _cluster.Options.LeaseDuration;
        if (!_clocks.TryGetValue(node, out var clock))
        {
            _clocks.Add(node, clock = new(Steps: random.Chance(0.5)) { NextStep = now + lease + lease });
            if (clock.Steps) node.ClockDrift = 0;
        }
        if (!clock.Steps)
        {
            SetRate(node, Rate, random.Chance(0.5) ? Allowed * (random.Chance(0.5) ? 1 : -1) : Allowed * Share(random));
            return;
        }
        if (now < clock.NextStep) return;
        clock.NextStep = now + lease + (lease / 50);
        var by = lease * Allowed * (random.Chance(0.5) ? 1 : random.NextDouble());
        if (random.Chance(0.5)) Step(node, Forward, by);
        else Step(node, Back, -by);
    }

    private void SetRate(SimNode node, string name, double drift)
    {
        _drawn.Draw(name);
        node.ClockDrift = drift;
    }

    private void Step(SimNode node, string name, TimeSpan by)
    {
        _drawn.Draw(name);
        node.StepClock(by);
    }

    /// <summary>-1 … 1.</summary>
    private static double Share(Prng random) => (2 * random.NextDouble()) - 1;

    private sealed record Clock(bool Steps)
    {
        public TimeSpan NextStep { get; set; }
    }
}
