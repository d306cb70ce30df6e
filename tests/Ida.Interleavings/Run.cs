using System.Diagnostics;
using Ida.Interleavings.Scenarios;
using Ida.Interleavings.Scheduling;

namespace Ida.Interleavings;

/// <summary>Scenarios, one after the other: as they are, and then with each rule left out that they must notice.</summary>
internal sealed class Run(TextWriter output)
{
    private const int MostTraced = 2_000;

    /// <summary>Each control gets at most this many times the schedules of its scenario: some show once in 20,000.</summary>
    public const int ControlFactor = 10;

    public long Schedules { get; init; } = 1_000;

    public ulong Seed { get; init; } = 1;

    public string? Omit { get; init; }

    /// <summary>How many preemptions, if all schedules with at most so many are run; else 0.</summary>
    public int Bounded { get; init; }

    public bool Traces { get; init; }

    public int Passed { get; private set; }

    public int Failed { get; private set; }

    public void Of(Scenario scenario)
    {
        if (Bounded > 0)
        {
            if (scenario.IsSmall) RunBounded(scenario);
            return;
        }
        if (Traces) Print(new Explorer(scenario).RunOne(Seed, Omit));
        if (!Holds(scenario, Omit) || Omit is not null) return;
        foreach (var control in scenario.Controls) Finds(scenario, control);
    }

    private bool Holds(Scenario scenario, string? omitted)
    {
        var explorer = new Explorer(scenario);
        var watch = Stopwatch.StartNew();
        var failed = explorer.Run(Seed, Schedules, omitted);
        Count(failed is null);
        if (failed is null) Say($"{scenario.Name}: {Schedules:N0} schedules, {explorer.Points:N0} points, {watch.Elapsed.TotalSeconds:F1} s: {scenario.Rule}");
        if (failed is null && Schedules > 1) Say($"  came to: {string.Join(", ", scenario.Reaches.Select(name => $"{name} ({explorer.Reached.ShareOf(name):P1})"))}");
        if (failed is not null) Tell(scenario, failed, omitted);
        return failed is null;
    }

    private void Finds(Scenario scenario, Control control)
    {
        var failed = new Explorer(scenario).Run(Seed, Schedules * ControlFactor, control.Name, control.IsNoticedBy);
        bool found = failed is not null && control.IsNoticedBy(failed.Schedule.Failure!);
        Count(found);
        if (failed is null) Say($"  FAILED: {control.Name} left out, and {Schedules * ControlFactor:N0} schedules did not notice");
        else Say($"  {(found ? "" : $"FAILED: \"{control.Anomaly}\" was expected, ")}without {control.Name}: schedule {failed.Tried:N0}, seed {failed.Seed}: {Short(failed.Schedule.Failure!)}");
    }

    private void RunBounded(Scenario scenario)
    {
        var watch = Stopwatch.StartNew();
        var (failed, count, all) = new Explorer(scenario).RunBounded(Bounded, Schedules, Omit);
        // What was not run may fail.
        Count(failed is null && all);
        Say($"{(all ? "" : "FAILED: ")}{scenario.Name}: {count:N0} schedules with at most {Bounded} preemptions, late writes and signals, {(all ? "all there are" : "not all")}, {watch.Elapsed.TotalSeconds:F1} s: {failed?.Failure ?? "hold"}");
        if (failed is not null) Print(failed);
    }

    private void Tell(Scenario scenario, FailedSchedule failed, string? omitted)
    {
        Print(failed.Schedule);
        Say($"FAILED: {scenario.Name}, schedule {failed.Tried:N0}: {failed.Schedule.Failure}");
        Say($"dotnet run -c Release --project tests/Ida.Interleavings -- --scenario {scenario.Name} --schedules 1 --seed {failed.Seed}{(omitted is null ? "" : $" --omit {omitted}")}");
    }

    // Only the last points if there are very many.
    private void Print(Schedule schedule)
    {
        foreach (var (lane, place) in schedule.Trace.Skip(schedule.Trace.Count - MostTraced)) output.WriteLine($"  {lane.Name,-10} {place}");
    }

    private void Count(bool passed)
    {
        if (passed) Passed++;
        else Failed++;
    }

    private static string Short(string text) => text.ReplaceLineEndings(" ") is { Length: > 160 } line ? line[..160] + "…" : text;

    private void Say(string text) => output.WriteLine(text);
}
