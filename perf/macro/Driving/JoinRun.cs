using Ida.Perf.Macro.CommandLine;
using Ida.Perf.Macro.Measuring;
using Ida.Perf.Macro.Reporting;

namespace Ida.Perf.Macro.Driving;

/// <summary>One more member fills the last slot under load. Measures how long it takes until the member holds its shard's state, and what the others notice.</summary>
internal sealed class JoinRun(RunOptions options, Cluster cluster, Report report) : Run(options, cluster, report)
{
    public override string Execute()
    {
        Report.Set("loop", Options.Rate > 0 ? "fixed-rate" : "closed");
        Form();
        Cluster.All($"FILL {Options.Members}", 120);
        MemberProcess[] others = [.. Cluster.Members];
        long start = Clock.Now + Lead;
        int runMs = (Options.Warmup + Options.Seconds) * 1000;
        foreach (var member in others) member.Tell($"FAIL-RUN {start} 0 {runMs}");
        Clock.SleepUntil(start + (Options.Warmup * Clock.Second));
        var warm = Cluster.ReadProcessorTime();
        Clock.SleepUntil(start + ((Options.Warmup + (Options.Seconds / 4)) * Clock.Second));
        Report.Set("cpu_others_share", ProcessorTime.OthersShare(warm, Cluster.ReadProcessorTime()));

        long began = Clock.Now;
        var joiner = Cluster.Add();
        long grouped = Clock.Now;
        joiner.Tell("ENABLE");
        joiner.Answer(60);
        long enabled = Clock.Now;
        joiner.Tell("FULL");
        long initialised = joiner.Answer(60).Number("at");
        var answers = others.Select(m => m.Answer((runMs / 1000) + 90)).ToList();

        var lines = answers.Select(a => new Timeline(a["steps"]!.AsArray().Select(n => (int)n!))).ToList();
        var sum = Timeline.Sum(lines);
        int at = (int)((began - start) / Clock.Millisecond / Timeline.StepMs);
        double before = sum.Rate(Math.Max(Options.Warmup * Timeline.StepsPerSecond, at - (5 * Timeline.StepsPerSecond)), at);
        var (dipped, back) = sum.Recovery(at, before);
        Report.Set("join_ms", Ms(began, initialised));
        Report.Set("until_in_group_ms", Ms(began, grouped));
        Report.Set("until_enabled_ms", Ms(began, enabled));
        Report.Set("enabled_to_full_ms", Ms(enabled, initialised));
        Report.Set("ops_per_s_before", Math.Round(before));
        Report.Set("ops_per_s_last_3_s", Math.Round(sum.Rate(sum.Length - (3 * Timeline.StepsPerSecond), sum.Length)));
        Report.Set("zero_ms_during_join", sum.LongestZero(at, sum.Length).Ms);
        Report.Set("zero_ms_worst_member", lines.Max(l => l.LongestZero(at, l.Length).Ms));
        Report.Set("dip_below_50_percent", dipped);
        Report.Set("back_to_90_percent_ms", back);
        SetErrors(answers);
        joiner.Tell("VERIFY");
        long missing = joiner.Answer(90).Number("missing");
        Report.Set("keys_missing_after", missing);
        if (missing > 0) Faults.Add($"{missing} keys are missing after the join");
        return $"# join ida, {others.Length} nodes and one more: initialised after {Ms(began, initialised)} ms (in the group after {Ms(began, grouped)} ms), {before:0} ops/s before, "
            + $"nothing for {Report["zero_ms_during_join"]} ms, errors {Report["errors"]}";
    }

    private static long Ms(long from, long to) => (to - from) / Clock.Millisecond;
}
