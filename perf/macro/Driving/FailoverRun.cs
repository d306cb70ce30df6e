using System.Diagnostics;
using System.Text.Json.Nodes;
using Ida.Perf.Macro.CommandLine;
using Ida.Perf.Macro.Measuring;
using Ida.Perf.Macro.Reporting;

namespace Ida.Perf.Macro.Driving;

/// <summary>
/// A steady load on all members. After some seconds one member is killed or stopped; then only the survivors' successes count, in 10 ms steps. At the end every survivor
/// checks whether anything is missing.
/// </summary>
internal sealed class FailoverRun(RunOptions options, Cluster cluster, Report report) : Run(options, cluster, report)
{
    private const int LeastBeforeFault = 5;
    private const int CountTries = 50;

    public override string Execute()
    {
        Report.Set("loop", Options.Rate > 0 ? "fixed-rate" : "closed");
        Report.Set("fault", Options.Stop ? "stop" : "kill");
        if (Options.Detection > 0) Report.Set("detection_ms", Options.Detection);
        Report.Set("victim", Options.VictimFirst ? "oldest member (coordinator)" : Options.Spares > 0 ? "holder of the last slot" : "youngest member");
        Form();
        if (!Options.GroupLoad) Cluster.All($"FILL {Options.Members}", 120);
        int victimIndex = Options.VictimFirst ? 0 : Options.GroupLoad ? Options.Members - 1 : HolderOfLastSlot();
        var victim = Cluster.Members[victimIndex];
        MemberProcess[] survivors = [.. Cluster.Members.Where(m => m != victim)];

        long start = Clock.Now + Lead;
        int runMs = (Options.Warmup + Options.Seconds) * 1000;
        foreach (var member in Cluster.Members) member.Tell($"FAIL-RUN {start} 0 {runMs} {victimIndex}");
        Clock.SleepUntil(start + (Options.Warmup * Clock.Second));
        var warm = Cluster.ReadProcessorTime();
        Clock.SleepUntil(start + ((Options.Warmup + Math.Max(LeastBeforeFault, Options.Seconds / 4)) * Clock.Second));
        Report.Set("cpu_others_share", ProcessorTime.OthersShare(warm, Cluster.ReadProcessorTime()));
        if (Options.Stop) StopProcess(victim);
        else victim.Kill();
        long fault = Clock.Now - start;

        var answers = survivors.Select(s => s.Answer((runMs / 1000) + 90)).ToList();
        victim.Kill();
        var lines = answers.Select(a => new Timeline(a["steps"]!.AsArray().Select(n => (int)n!))).ToList();
        string human = SetTimes(lines, (int)(fault / Clock.Millisecond / Timeline.StepMs));
        return human + (Options.GroupLoad ? SetGroup(survivors, answers, fault) : SetStore(survivors, answers, fault));
    }

    /// <summary>The first spare does not hold the shard of this slot, so the loss makes state move.</summary>
    private int HolderOfLastSlot() => Cluster.All("SLOT", 20).FindIndex(a => a.Number("slot") == Options.TargetSize - 1);

    private static void StopProcess(MemberProcess victim)
    {
        using var kill = Process.Start("kill", ["-STOP", $"{victim.Id}"]);
        kill.WaitForExit();
    }

    private string SetTimes(List<Timeline> lines, int fault)
    {
        var sum = Timeline.Sum(lines);
        int from = Math.Max(Options.Warmup * Timeline.StepsPerSecond, fault - (5 * Timeline.StepsPerSecond));
        double before = sum.Rate(from, fault);
        var (dipped, back) = sum.Recovery(fault, before);
        int zero = sum.LongestZero(fault, sum.Length).Ms;
        Report.Set("ops_per_s_before", Math.Round(before));
        Report.Set("ops_per_s_last_3_s", Math.Round(sum.Rate(sum.Length - (3 * Timeline.StepsPerSecond), sum.Length)));
        Report.Set("zero_ms_before_kill", sum.LongestZero(from, fault).Ms);
        Report.Set("zero_ms_after_kill", zero);
        Report.Set("zero_ms_worst_survivor", lines.Max(l => l.LongestZero(fault, l.Length).Ms));
        Report.Set("dip_below_50_percent", dipped);
        Report.Set("back_to_90_percent_ms", back);
        if (before == 0) Faults.Add("no operation succeeded before the fault");
        return $"# failover ida {Report["fault"]} of the {Report["victim"]}, {Options.Members} members: {before:0} ops/s before, nothing for {zero} ms, back to 90 % after {back} ms";
    }

    private string SetGroup(MemberProcess[] survivors, List<JsonObject> answers, long fault)
    {
        long view = answers.Max(a => a.Number("view_at"));
        object newView = view > fault ? (view - fault) / Clock.Millisecond : "none";
        Report.Set("new_view_ms", newView);
        List<JsonObject> counts = [];
        for (int i = 0; i < CountTries; i++)
        {
            counts = Cluster.All(survivors, "COUNT", 20);
            if (counts.Select(c => c.Number("delivered")).Distinct().Count() == 1) break;
            Clock.SleepUntil(Clock.Now + (100 * Clock.Millisecond));
        }
        bool same = counts.Select(c => c.Number("delivered")).Distinct().Count() == 1;
        long errors = counts.Sum(c => c.Number("order_errors")) + counts.Sum(c => c.Number("payload_errors"));
        Report.Set("survivors_delivered_same_number", same);
        Report.Set("order_errors", errors);
        if (!same) Faults.Add("survivors delivered different numbers of messages");
        if (errors > 0) Faults.Add($"{errors} messages were out of order or not what was sent");
        if (Options.TotalOrder)
        {
            bool order = counts.Select(c => c.Text("hash")).Distinct().Count() == 1;
            Report.Set("same_order_everywhere", order);
            if (!order) Faults.Add("survivors delivered in different orders");
        }
        return $", new view after {newView} ms";
    }

    private string SetStore(MemberProcess[] survivors, List<JsonObject> answers, long fault)
    {
        long whole = answers.Max(a => a.Number("whole_at"));
        Report.Set("all_slots_full_ms", whole > fault ? (whole - fault) / Clock.Millisecond : "none");
        double slowest = Math.Max(Merge(answers, "gets").Max, Merge(answers, "puts").Max);
        Report.Set("slowest_op_ms", Math.Round(slowest / Clock.Millisecond));
        SetErrors(answers);
        var looks = Cluster.All(survivors, "VERIFY", 90);
        long missing = looks.Max(l => l.Number("missing")), lost = looks.Sum(l => l.Number("lost"));
        Report.Set("keys_missing_after", missing);
        Report.Set("acknowledged_lost", lost);
        if (missing > 0) Faults.Add($"{missing} keys are missing after the fault");
        if (lost > 0) Faults.Add($"{lost} keys are older than a put that was acknowledged");
        return $", {Report["errors"]} failed ops, {missing} keys missing";
    }
}
