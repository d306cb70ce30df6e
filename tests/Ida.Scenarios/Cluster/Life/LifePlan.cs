using GroupCore.Runtime;
using Ida.Testing;
using Oracle;

namespace Ida.Scenarios;

/// <summary>
/// The faults of a seed as they are in life: from a millisecond to a minute and a half, often about as long as one of the system's timeouts, and of the kinds that the seed
/// draws.
/// </summary>
internal sealed class LifePlan
{
    /// <summary>Processes that faults hit.</summary>
    public const int Processes = 6;

    private static readonly OracleOptions s_times = new();
    private static readonly DhtMemberOptions s_dht = new();
    private static readonly FaultPlan s_plan = new()
    {
        Nodes = Processes, MaxFaults = 5, MaxDown = 2, MaxDuration = TimeSpan.FromSeconds(90), StaysDown = 0, Swarms = true,
        Around =
        [
            s_dht.TakeoverAfter, s_times.ElectionTimeout, s_times.ProbeInterval * s_times.ProbeRounds, s_times.LeaseDuration, s_times.LeaseDuration + (s_times.ProbeInterval * s_times.ProbeRounds),
            s_times.IsolationTimeout, s_dht.HandoverTimeout, new IdaNodeOptions().StartTimeout, s_times.ExclusionTimeout, s_times.IsolationTimeout + s_times.ExclusionTimeout,
        ],
    };

    public LifePlan(ScenarioRun run)
    {
        var shape = new Prng(run.Case.Seed * 0xBF58_476D_1CE4_E5B9);
        IsEarly = shape.Chance(0.4);
        IsOfOne = shape.Chance(0.4);
        Leaves = shape.Chance(0.5);
        Faults = run.Case.Faults(s_plan with { Within = TimeSpan.FromSeconds(IsEarly ? 3 : 15), OneNode = IsOfOne, MaxDown = IsOfOne ? 1 : 2 });
        if (IsEarly) run.Ingredients.Draw(LifeNames.Early);
        if (IsOfOne) run.Ingredients.Draw(LifeNames.OfOne);
    }

    /// <summary>Times of the system that many faults last about as long as.</summary>
    public static IReadOnlyList<TimeSpan> Around => s_plan.Around;

    public FaultSchedule Faults { get; }

    /// <summary>Whether the faults begin as the processes start, and not only when all of them serve.</summary>
    public bool IsEarly { get; }

    /// <summary>Whether all faults are those of one process, for which the others may lose nothing.</summary>
    public bool IsOfOne { get; }

    /// <summary>Whether programs leave, too.</summary>
    public bool Leaves { get; }

    /// <summary>Whether the machine of a process is off at a time, counted from the beginning of the faults.</summary>
    public bool IsDown(int process, TimeSpan since) =>
        Faults.Faults.Any(fault => fault.Kind is FaultKind.Crash or FaultKind.Vanish && fault.Node == process && fault.At <= since && since < fault.At + fault.For);

    /// <summary>When the next fault of a process begins; both times are counted from the beginning of the faults.</summary>
    public TimeSpan? NextFault(int process, TimeSpan since) => Faults.Faults.FirstOrDefault(fault => fault.At > since && (fault.Node == process || fault.Side.Contains(process)))?.At;

    /// <summary>The process that has all the faults; −1 if there is none such. A fault of the way between two processes counts for either end.</summary>
    public int Victim => IsOfOne ? Enumerable.Range(0, Processes).FirstOrDefault(process => Faults.Faults.All(fault => fault.Node == process || fault.Other == process || fault.Side.Contains(process)), -1) : -1;
}
