using Ida.Perf.Macro.CommandLine;
using Ida.Perf.Macro.Driving;
using Ida.Perf.Macro.Members;
using Ida.Perf.Macro.Reporting;

namespace Ida.Perf.Macro;

/// <summary>
/// The command line. Exit codes: 0 done, 1 failed (the JSON line then has <c>error</c>), 2 wrong usage, 3 out of time, 128 + n ended by signal n.
/// The driver stays on its main thread: the kernel ends a member when the thread that started it ends.
/// </summary>
internal static class Program
{
    public const string MemberCommand = "member";

    public static int Main(string[] args)
    {
        if (args is [MemberCommand, var id, var cluster, var seeds, .. var words]) return MemberProgram.Run(int.Parse(id), cluster, seeds.Split(','), RunOptions.Parse(words));
        try
        {
            return Drive(RunOptions.Parse(args), args);
        }
        catch (UsageException error)
        {
            Console.Error.WriteLine($"macro: {error.Message}; see perf/README.md");
            return 2;
        }
    }

    private static int Drive(RunOptions options, string[] words)
    {
        var report = new Report();
        Driving.Run.Describe(options, report);
        using var cluster = new Cluster(options, words);
        using var ending = new Ending(cluster);
        using var limit = new Timer(
            _ => ending.End(3, () => Print(options, report, null, "out of time")), null, TimeSpan.FromSeconds(options.Warmup + options.Seconds + options.Grace), Timeout.InfiniteTimeSpan);
        Run run = options.Command switch
        {
            "multicast" => new MulticastRun(options, cluster, report),
            "failover" => new FailoverRun(options, cluster, report),
            "p2p" => new PeerRun(options, cluster, report),
            "memory" => new MemoryRun(options, cluster, report),
            "join" => new JoinRun(options, cluster, report),
            _ => new StoreRun(options, cluster, report),
        };
        string? human = null, fault = null;
        try
        {
            human = run.Execute();
            if (run.Faults.Count > 0) fault = string.Join("; ", run.Faults);
        }
        catch (RunFailedException error)
        {
            fault = error.Message;
        }
        return ending.Claim() ? Print(options, report, human, fault) : ending.Wait();
    }

    private static int Print(RunOptions options, Report report, string? human, string? fault)
    {
        if (fault is not null) report.Set("error", fault);
        if (human is not null) Console.WriteLine(human);
        if (fault is not null) Console.WriteLine($"# {options.Command} ida: FAILED: {fault}");
        string json = report.ToJson();
        Console.WriteLine(json);
        if (options.Out is { } file) File.AppendAllText(file, json + "\n");
        return fault is null ? 0 : 1;
    }
}
