using System.Runtime;
using System.Text.Json.Nodes;
using Ida.Perf.Macro.CommandLine;
using Ida.Perf.Macro.Measuring;
using Ida.Perf.Macro.Reporting;

namespace Ida.Perf.Macro.Driving;

/// <summary>What all runs have in common: the settings in the report, the window, and the resources that the members used in it.</summary>
internal abstract class Run(RunOptions options, Cluster cluster, Report report)
{
    /// <summary>Time between the driver's decision and the start of the load, so that every member has the command by then.</summary>
    protected const long Lead = 300 * Clock.Millisecond;

    protected RunOptions Options => options;

    protected Cluster Cluster => cluster;

    protected Report Report => report;

    /// <summary>Faults that fail the run at its end; the report is printed all the same.</summary>
    public List<string> Faults { get; } = [];

    /// <summary>Runs to the end and returns the human line.</summary>
    public abstract string Execute();

    /// <summary>The settings in force that every run reports.</summary>
    public static void Describe(RunOptions options, Report report)
    {
        report.Set("bench", options.Command);
        report.Set("system", "ida");
        report.Set("version", typeof(IdaNode).Assembly.GetName().Version!.ToString(3));
        if (options.Command != "p2p") report.Set(options.IsMulticast ? "members" : "nodes", options.Members);
        if (options.IsMulticast) DescribeMulticast(options, report);
        else if (options.Command == "p2p") report.Set("size", options.Size);
        else DescribeStore(options, report);
        report.Set("seconds", options.Seconds);
        report.Set("warmup", options.Warmup);
        report.Set("spin_us", options.Spin);
        report.Set("security", options.Secure ? "key" : "none");
        report.Set("runtime", $".NET {Environment.Version}");
        report.Set("gc", $"{(GCSettings.IsServerGC ? "server" : "workstation")}, concurrent {(GC.GetConfigurationVariables().GetValueOrDefault("ConcurrentGC") is true ? "on" : "off")}");
        report.Set("cpu_cores", Environment.ProcessorCount);
    }

    /// <summary>Starts the members. From then on the report has <c>began</c>, so that a later fault is a failure of the run and not of its start.</summary>
    protected void Form()
    {
        cluster.Start();
        report.Set("began", true);
    }

    /// <summary>Tells every member when the load starts, when the window begins and how long it is. Reports and returns the processor time of the window.</summary>
    protected double Measure(string command, string more = "")
    {
        long start = Clock.Now + Lead, window = start + (options.Warmup * Clock.Second);
        foreach (var member in cluster.Members) member.Tell($"{command} {start} {options.Warmup * 1000} {options.Seconds * 1000}{more}");
        Clock.SleepUntil(window);
        var before = cluster.ReadProcessorTime();
        Clock.SleepUntil(window + (options.Seconds * Clock.Second));
        var after = cluster.ReadProcessorTime();
        report.Set("cpu_s", after.Own - before.Own);
        report.Set("cpu_others_share", ProcessorTime.OthersShare(before, after));
        return after.Own - before.Own;
    }

    /// <summary>Reports the memory that all members used in the window, per operation or delivery.</summary>
    protected void SetMemory(IReadOnlyCollection<JsonObject> answers, string per, double count)
    {
        report.Set("allocated_bytes_per_" + per, answers.Sum(a => a.Number("allocated")) / Math.Max(1, count));
        report.Set("gc_collections", answers.Sum(a => a.Number("collections")));
        report.Set("gc_pause_ms_worst_member", answers.Max(a => (double)a["pause_ms"]!));
    }

    /// <summary>Reports failed operations, and the checks of the values that were read.</summary>
    protected void SetErrors(IReadOnlyCollection<JsonObject> answers)
    {
        report.Set("errors", answers.Sum(a => a.Number("errors")));
        if (answers.Select(a => a.Text("first_error")).FirstOrDefault(e => e.Length > 0) is { } error) report.Set("first_error", error);
        long values = answers.Sum(a => a.Number("value_errors")), stale = answers.Sum(a => a.Number("stale_reads"));
        report.Set("value_errors", values);
        report.Set("stale_reads", stale);
        if (values > 0) Faults.Add($"{values} reads returned a value that nobody wrote there");
        if (stale > 0) Faults.Add($"{stale} reads were older than a put that had returned before");
    }

    protected static Histogram Merge(IEnumerable<JsonObject> answers, string name)
    {
        var sum = new Histogram();
        foreach (var answer in answers) sum.Add(Histogram.Decode((string)answer[name]!));
        return sum;
    }

    private static void DescribeMulticast(RunOptions options, Report report)
    {
        report.Set("order", options.TotalOrder ? "total" : "fifo");
        report.Set("transport", "tcp");
        report.Set("size", options.Size);
        report.Set("rate", options.Rate);
        if (options.IsLatency) report.Set("sender_index", options.SenderIndex);
        else report.Set("senders", options.Senders == options.Members ? "all" : $"{options.Senders}");
        report.Set("inline", options.Inline);
        if (options.TotalOrder) report.Set("inflight", options.InFlight);
    }

    private static void DescribeStore(RunOptions options, Report report)
    {
        report.Set("backups", options.Backups);
        report.Set("target", options.TargetSize);
        report.Set("spares", options.Spares);
        report.Set("value", options.Value);
        report.Set("keyspace", options.Keyspace);
        report.Set("threads", options.Threads);
        if (options.Command == "multikey")
        {
            report.Set("keys", options.Keys);
            report.Set("op", options.Mix);
            report.Set("atomic", true);
        }
        else
        {
            report.Set("inflight", options.InFlight);
            report.Set("mix", options.Mix);
            report.Set("calls", options.Blocking ? "blocking" : "chained");
            report.Set("keys_by", options.Zipf ? "zipf 0.99" : "uniform");
        }
        report.Set("level", options.Strict ? "strict" : "ordered");
        report.Set("rate", options.Rate);
    }
}
