using System.Text.Json.Nodes;
using Ida.Perf.Macro.CommandLine;
using Ida.Perf.Macro.Measuring;
using Ida.Perf.Macro.Reporting;

namespace Ida.Perf.Macro.Driving;

/// <summary>
/// Throughput: senders send as fast as <c>SendAsync</c> lets them, and the figure is deliveries per second at a member. Latency: one sender on a fixed schedule. At the end
/// every message must have arrived everywhere, without gaps per sender, and in one order in the case of total order.
/// </summary>
internal sealed class MulticastRun(RunOptions options, Cluster cluster, Report report) : Run(options, cluster, report)
{
    private const int DrainTries = 200;

    public override string Execute()
    {
        Report.Set("loop", Options.IsLatency ? "fixed-rate" : "flow-controlled");
        Form();
        double cpu = Measure("GO");
        var answers = Cluster.Members.Select(member => member.Answer(60)).ToList();
        double[] rates = [.. answers.Select(a => (double)a["rate"]!).Order()];
        double median = rates.Length % 2 == 1 ? rates[rates.Length / 2] : (rates[(rates.Length / 2) - 1] + rates[rates.Length / 2]) / 2;
        double deliveries = rates.Sum() * Options.Seconds;
        Report.Set("delivered_per_s_member_median", Math.Round(median));
        Report.Set("delivered_per_s_member_min", Math.Round(rates[0]));
        Report.Set("delivered_per_s_member_max", Math.Round(rates[^1]));
        Report.Set("mb_per_s_member_median", median * Options.Size / 1e6);
        Report.Set("cpu_us_per_delivery", cpu * 1e6 / deliveries);
        SetMemory(answers, "delivery", deliveries);
        if (answers.Exists(a => (bool)a["stuck"]!))
            Faults.Add($"sends never completed at members {string.Join(", ", answers.Index().Where(a => (bool)a.Item["stuck"]!).Select(a => a.Index))}; sent {string.Join(", ", answers.Select(a => a.Number("sent")))}");
        Check(answers.Sum(a => a.Number("sent")));
        string human = $"# multicast ida {Report["order"]} tcp, {Options.Members} members, {Options.Size} B: {median:0} deliveries/s per member "
            + $"({median * Options.Size / 1e6:0.#} MB/s), {cpu * 1e6 / deliveries:0.000} us CPU per delivery";
        if (!Options.IsLatency) return human;
        var sender = answers[Options.SenderIndex];
        Report.Set("self", Histogram.Decode(sender.Text("self")));
        Report.Set("self_from_send", Histogram.Decode(sender.Text("self_from_send")));
        Report.Set("one_way", Merge(answers, "one_way"));
        Report.Set("round_trip", Histogram.Decode(sender.Text("round_trip")));
        Report.Set("round_trip_from_send", Histogram.Decode(sender.Text("round_trip_from_send")));
        return human + $"; self p50/p99/p99.9 {Report.Three("self_from_send")}, round trip {Report.Three("round_trip_from_send")} us";
    }

    private void Check(long sent)
    {
        long began = Clock.Now;
        List<JsonObject> counts = [];
        for (int i = 0; i < DrainTries; i++)
        {
            counts = Cluster.All("COUNT", 20);
            if (counts.TrueForAll(c => c.Number("delivered") >= sent)) break;
            Clock.SleepUntil(Clock.Now + (100 * Clock.Millisecond));
        }
        bool all = counts.TrueForAll(c => c.Number("delivered") == sent);
        long errors = counts.Sum(c => c.Number("order_errors")), faults = counts.Sum(c => c.Number("payload_errors"));
        Report.Set("sent", sent);
        Report.Set("drain_s", (Clock.Now - began) / (double)Clock.Second);
        Report.Set("delivered_all", all);
        Report.Set("order_errors", errors);
        Report.Set("payload_errors", faults);
        if (!all) Faults.Add($"not everything that was sent was delivered: {sent} sent, delivered {string.Join(", ", counts.Select(c => c.Number("delivered")))}");
        if (errors > 0) Faults.Add($"{errors} messages were not delivered in their sender's order");
        if (faults > 0) Faults.Add($"{faults} payloads were not what was sent");
        if (!Options.TotalOrder) return;
        bool same = counts.Select(c => c.Text("hash")).Distinct().Count() == 1;
        Report.Set("same_order_everywhere", all ? same : "not comparable");
        if (all && !same) Faults.Add("members delivered in different orders");
    }
}
