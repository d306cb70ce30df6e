using Ida.Perf.Macro.CommandLine;
using Ida.Perf.Macro.Measuring;
using Ida.Perf.Macro.Reporting;

namespace Ida.Perf.Macro.Driving;

/// <summary>The idle round trip between two members, layer by layer. Each row has its own warm-up and window.</summary>
internal sealed class PeerRun(RunOptions options, Cluster cluster, Report report) : Run(options, cluster, report)
{
    private static readonly string[] Rows = ["node", "send-inline", "send", "query-inline", "query"];

    public override string Execute()
    {
        Report.Set("loop", "closed");
        Form();
        long port = Cluster.All("PORT", 20)[1].Number("port");
        double others = 0;
        var human = new List<string>();
        foreach (string row in Rows)
        {
            string name = row.Replace('-', '_');
            double cpu = Measure(row.ToUpperInvariant(), $" {port}");
            var answers = Cluster.Members.Select(m => m.Answer(60)).ToList();
            var trips = Histogram.Decode(answers[0].Text("trips"));
            Report.Set(name, trips);
            Report.Set($"{name}_cpu_us_per_op", cpu * 1e6 / Math.Max(1, trips.Count));
            Report.Set($"{name}_allocated_bytes_per_op", answers.Sum(a => a.Number("allocated")) / (double)Math.Max(1, trips.Count));
            others = Math.Max(others, (double)Report["cpu_others_share"]);
            human.Add($"{row} {Report.Three(name)}");
            if (trips.Count == 0) Faults.Add($"no round trip in row {row}");
        }
        Report.Set("cpu_others_share", others);
        return $"# p2p ida, {Options.Size} B, round trip p50/p99/p99.9 us: {string.Join(", ", human)}";
    }
}
