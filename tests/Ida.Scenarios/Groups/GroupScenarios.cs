namespace Ida.Scenarios;

/// <summary>Schedules of groups alone, over a scripted membership; each stresses something else.</summary>
internal static class GroupScenarios
{
    public static Scenario General { get; } = Of("general", new());

    /// <summary>More faults, several at once, and slower links: cascades within a flush.</summary>
    public static Scenario Cascades { get; } = Of("cascades", new() { FaultEvery = 120, FailTogether = 0.5, SlowFactor = 60 });

    /// <summary>Long chains of point-to-point messages sent by handlers, over slow links.</summary>
    public static Scenario Chains { get; } = Of("chains", new() { FaultEvery = 100, Peer = 60, Fifo = 1, Ordered = 1, Flush = 0, Large = 0, Hops = 12, SlowFactor = 80 });

    public static Scenario Joins { get; } = Of("joins", new() { Join = 12, StateBytes = 40_000, CallEvery = 1_000 });

    /// <summary>Callers that fail as soon as their flush has returned, some of them together with a sequencer that others hear only late.</summary>
    public static Scenario Flushes { get; } = Of("flushes", new() { Flush = 40, Ordered = 120, FailAfterFlush = 0.6, SequencerFailsToo = 0.5, SlowSequencer = 0.5, FaultEvery = 400, SlowFactor = 60 });

    /// <summary>Whole nodes in systems of 1 to 20 processes: every public call of groups with every option and every misuse, careless user code, and failures.</summary>
    public static Scenario Surface { get; } = new("group-surface", static run => new GroupSurface(run).Run()) { Ingredients = [.. GroupNames.Declared, .. ThreadNames.Declared], MostLost = 0.2 };

    /// <summary>The same over the TCP mesh, which finds out by itself whose link a link is.</summary>
    public static Scenario SurfaceOverMesh { get; } = Surface.OverMesh(GroupNames.Unsettled);

    public static IReadOnlyList<Scenario> All { get; } = [General, Cascades, Chains, Joins, Flushes];

    private static Scenario Of(string name, GroupSchedule schedule) => new($"groups-{name}", run =>
    {
        var outcome = schedule.Run(run.Case, run.Without);
        (run.Work, run.Views) = (outcome.Deliveries, outcome.Views);
        ScenarioFailedException.ThrowIf(outcome.Violation);
    });
}
