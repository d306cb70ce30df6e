using System.CommandLine;
using Ida.Interleavings.Scenarios;

namespace Ida.Interleavings;

/// <summary>The command line. Exit codes: 0 every scenario holds and every control was found, 1 not so, 2 the command line makes no sense.</summary>
internal static class Program
{
    private const long DefaultSchedules = 10_000;

    public static int Main(string[] args)
    {
        var schedules = new Option<long?>("--schedules") { Description = "How many schedules of each scenario (10,000), and of each control at most ten times as many; with --bounded a limit (none)", HelpName = "N" };
        var seed = new Option<ulong>("--seed") { Description = "The seed of the first one", HelpName = "X", DefaultValueFactory = static _ => 1 };
        var scenario = new Option<string?>("--scenario") { Description = "Only this one", HelpName = "NAME" };
        var omit = new Option<string?>("--omit") { Description = "Leaves out a rule; without it each scenario runs, and then its controls", HelpName = "CONTROL" };
        var bounded = new Option<int>("--bounded") { Description = "All schedules with at most so many preemptions, late writes and signals, of the scenarios that are small enough", HelpName = "N" };
        var trace = new Option<bool>("--trace") { Description = "Prints the points of the first schedule" };
        var root = new RootCommand("Interleavings of the threads of a node's runtime: one thread runs at a time, and a seed says which goes on.") { schedules, seed, scenario, omit, bounded, trace };
        root.SetAction(parsed =>
        {
            if (parsed.GetValue(scenario) is { } name && ScenarioTable.Find(name) is null) return Refuse($"--scenario must be one of {string.Join(", ", ScenarioTable.All.Select(static one => one.Name))}");
            if (parsed.GetValue(omit) is { } rule && Omitted.All.All(one => one.Name != rule)) return Refuse($"--omit must be one of {string.Join(", ", Omitted.All.Select(static one => one.Name))}");
            if (parsed.GetValue(schedules) < 1) return Refuse("--schedules must be at least 1");
            if (parsed.GetResult(bounded) is { Implicit: false } && parsed.GetValue(bounded) < 1) return Refuse("--bounded must be at least 1");
            bool isBounded = parsed.GetValue(bounded) > 0;
            if (isBounded && parsed.GetValue(scenario) is { } large && !ScenarioTable.Find(large)!.IsSmall) return Refuse($"--bounded is for {string.Join(", ", ScenarioTable.All.Where(static one => one.IsSmall).Select(static one => one.Name))}");
            var run = new Run(Console.Out)
            {
                Schedules = parsed.GetValue(schedules) ?? (isBounded ? long.MaxValue : DefaultSchedules), Seed = parsed.GetValue(seed), Omit = parsed.GetValue(omit), Bounded = parsed.GetValue(bounded), Traces = parsed.GetValue(trace),
            };
            foreach (var one in ScenarioTable.All)
                if (parsed.GetValue(scenario) is not { } only || one.Name == only) run.Of(one);
            Console.WriteLine($"{ScenarioTable.All.Count} scenarios and {Omitted.All.Length} controls are known.");
            Console.WriteLine($"{run.Passed} passed, {run.Failed} failed");
            return run.Failed == 0 ? 0 : 1;
        });
        var result = root.Parse(args);
        return result.Errors.Count == 0 ? result.Invoke() : Refuse(result.Errors[0].Message);
    }

    private static int Refuse(string error)
    {
        Console.Error.WriteLine(error);
        return 2;
    }
}
