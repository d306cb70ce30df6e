using Oracle;

namespace Ida.Scenarios;

/// <summary>Schedules of the Oracle alone.</summary>
internal static class OracleScenarios
{
    /// <summary>Crashes leave a majority of the voters: every proposal must end.</summary>
    public static Scenario Spared { get; } = Of("spared", wild: false);

    /// <summary>Crashes without regard for the voters: agreement must hold all the same.</summary>
    public static Scenario Wild { get; } = Of("wild", wild: true);

    /// <summary>Systems of 1, 2, 5 and 20 processes, five voters, small saved states, and all that callers, hosts and strangers do besides crashing.</summary>
    public static Scenario Surface { get; } = OfSurface(trustsClocks: false);

    /// <summary>The negative control of its clocks: clocks that are wrong beyond what leases take into account are judged like others.</summary>
    public static Scenario SurfaceThatTrustsClocks { get; } = OfSurface(trustsClocks: true);

    /// <summary>Processes that look for each other by names and on the local network.</summary>
    public static Scenario Founding { get; } = new("oracle-founding", static run =>
    {
        using var schedule = new FoundingSchedule(run);
        ScenarioFailedException.ThrowIf(schedule.Run());
    }) { Ingredients = FoundingSchedule.Names };

    /// <summary>Processes that are held up, and one that is stopped, with the defaults of the membership service.</summary>
    public static Scenario Pauses { get; } = PausesWith(new());

    /// <summary>The same with other times.</summary>
    public static Scenario PausesWith(OracleOptions membership) => new("pauses", run =>
    {
        using var schedule = new PauseSchedule(run, membership);
        ScenarioFailedException.ThrowIf(schedule.Run());
    }) { Ingredients = PauseSchedule.Names };

    private static Scenario OfSurface(bool trustsClocks) => new("oracle-surface", run =>
    {
        using var schedule = new OracleSchedule(run.Case, run.Without, surface: run.Ingredients, trustsClocks: trustsClocks);
        string? violation = schedule.Run();
        run.Lost = schedule.OracleLost;
        ScenarioFailedException.ThrowIf(violation);
    }) { Ingredients = OracleSurface.Names, MostLost = 0.4 };

    private static Scenario Of(string name, bool wild) => new($"oracle-{name}", run =>
    {
        using var schedule = new OracleSchedule(run.Case, run.Without, wild: wild);
        string? violation = schedule.Run();
        run.Lost = schedule.OracleLost;
        ScenarioFailedException.ThrowIf(violation);
    });
}
