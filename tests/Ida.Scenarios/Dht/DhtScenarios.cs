using Ida.Testing;

namespace Ida.Scenarios;

/// <summary>Schedules of the DHT over a model of its members: single deliveries chosen at random, atomic view changes.</summary>
internal static class DhtScenarios
{
    /// <summary>Crashes, exclusions, joins, views and retries; every fourth seed is calm.</summary>
    public static Scenario Strict { get; } = Of("strict", static (run, without) => new(run, without, calm: run.Seed % 4 == 0)) with { MostLost = 0.05 };

    /// <summary>The same at level Ordered, which promises nothing in real time (dht-order.md#strict-and-ordered).</summary>
    public static Scenario Ordered { get; } = Of("ordered", static (run, without) => new(run, without, calm: run.Seed % 4 == 0, level: ConsistencyLevel.Ordered)) with { MostLost = 0.05 };

    /// <summary>Members leave, some without contact, and nothing else happens to them (dht-view-change.md#a-leaver-stays-as-the-source). Others can always take over, so nothing
    /// may be lost.</summary>
    public static Scenario Leaves { get; } = Of("leaves", static (run, without) => new(run, without, calm: true, leaves: true)) with { MostLost = 0 };

    public static Scenario LeavesAndCrashes { get; } = Of("leaves-and-crashes", static (run, without) => new(run, without, leaves: true)) with { MostLost = 0.25 };

    /// <summary>A careless program: every public call with every option and every misuse, cancellations and expiries at every step.</summary>
    public static Scenario Surface { get; } = new("dht-surface", static run =>
    {
        var schedule = new SurfaceSchedule(run.Case, run.Ingredients, run.Calls, run.Without);
        string? violation = schedule.Run();
        run.History = schedule.Recorder.ToHistory();
        (run.Work, run.Views, run.Lost) = (schedule.Operations, schedule.ViewChanges, schedule.Depopulated);
        ScenarioFailedException.ThrowIf(violation);
    }) { Ingredients = SurfaceNames.All, MostLost = 0.2 };

    private static Scenario Of(string name, Func<SimulationCase, string?, DhtSchedule> make) => new($"dht-{name}", run =>
    {
        var schedule = make(run.Case, run.Without);
        string? violation = schedule.Run();
        run.History = schedule.History;
        schedule.Calls.AddTo(run.Calls);
        run.Unjudged = schedule.SightsLost;
        (run.Work, run.Views, run.Left, run.Lost) = (schedule.Operations, schedule.ViewChanges, schedule.Left, schedule.Depopulated);
        ScenarioFailedException.ThrowIf(violation);
    });
}
