using Ida.Perf.Macro.CommandLine;
using Ida.Perf.Macro.Measuring;
using Ida.Perf.Macro.Reporting;

namespace Ida.Perf.Macro.Driving;

/// <summary>Load on the DHT by all members alike: one key per operation, or several keys in one atomic operation.</summary>
internal sealed class StoreRun(RunOptions options, Cluster cluster, Report report) : Run(options, cluster, report)
{
    public override string Execute()
    {
        Report.Set("loop", Options.Rate > 0 ? "fixed-rate" : "closed");
        Form();
        Cluster.All($"FILL {Options.Members}", 120);
        double cpu = Measure("GO");
        var answers = Cluster.Members.Select(member => member.Answer(90)).ToList();
        var gets = Merge(answers, "gets");
        var puts = Merge(answers, "puts");
        var all = new Histogram();
        all.Add(gets);
        all.Add(puts);
        long ops = all.Count;
        var perNode = answers.Select(a => a.Number("ops")).ToList();
        Report.Set("ops_per_s", ops / Options.Seconds);
        Report.Set("ops_per_s_node_min", perNode.Min() / Options.Seconds);
        Report.Set("ops_per_s_node_max", perNode.Max() / Options.Seconds);
        if (Options.Keys > 1) Report.Set("keys_per_s", ops * Options.Keys / Options.Seconds);
        Report.Set("all", all);
        if (gets.Count > 0 && puts.Count > 0)
        {
            Report.Set("get", gets);
            Report.Set("put", puts);
        }
        Report.Set("cpu_us_per_op", cpu * 1e6 / Math.Max(1, ops));
        SetMemory(answers, "op", ops);
        long fast = answers.Sum(a => a.Number("fast")), slow = answers.Sum(a => a.Number("slow"));
        Report.Set("fast_path_share", (double)fast / (fast + slow));
        Report.Set("local_read_share", answers.Sum(a => a.Number("local_reads")) / (double)Math.Max(1, gets.Count));
        Report.Set("frames_per_op", answers.Sum(a => a.Number("frames")) / (double)Math.Max(1, ops));
        SetErrors(answers);
        if (ops == 0) Faults.Add("no operation succeeded");
        string what = Options.Command == "multikey" ? $"{Options.Keys}-key {Options.Mix}" : Options.Mix;
        return $"# {Options.Command} ida {Report["level"]} {what}, {Options.Members} nodes x {Options.Threads} threads x {Options.InFlight} in flight: "
            + $"{ops / Options.Seconds} ops/s, p50/p99/p99.9 {Report.Three("all")} us, {cpu * 1e6 / Math.Max(1, ops):0.00} us CPU per op, errors {Report["errors"]}";
    }
}
