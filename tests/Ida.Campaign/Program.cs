using System.CommandLine;
using System.Runtime.InteropServices;

namespace Ida.Campaign;

/// <summary>
/// The command line. Exit codes: 0 success, 1 failure, or nothing ran, 2 wrong command line, 130 interrupted. Success means that all seeds passed, drew every ingredient often
/// enough and what excuses something seldom enough, lost what the guarantees need seldom enough and left no error that no code looked at; with --mutate, that the missing rule was noticed.
/// </summary>
internal static class Program
{
    public static async Task<int> Main(string[] args)
    {
        var suite = new Option<string>("--suite") { Description = "What to run: groups (groups, Oracle, both together), ida (the DHT), or frames (hostile frames at real nodes)", HelpName = "SUITE" };
        var seeds = new Option<string>("--seeds") { Description = "How many seeds (default 1,000; 1 with --seed)", HelpName = "N" };
        var seed = new Option<string>("--seed") { Description = "The first seed (default 1)", HelpName = "X" };
        var seconds = new Option<string>("--seconds") { Description = "Begins no seed, or batch of frames, after so many seconds (without --seeds or --frames: as many as they take)", HelpName = "N" };
        var scenario = new Option<string>("--scenario") { Description = "Only this scenario, with every seed", HelpName = "NAME" };
        var mutate = new Option<string>("--mutate") { Description = "Leaves out a rule and looks for the first seed that notices; all: every rule of the suite in turn", HelpName = "RULE" };
        var history = new Option<string>("--history") { Description = "Writes the history of the one seed, or of the first that fails", HelpName = "FILE" };
        var first = new Option<bool>("--first") { Description = "Stops at the first seed that fails" };
        var frames = new Option<string>("--frames") { Description = "Suite frames: how many frames (default 100,000)", HelpName = "N" };
        var port = new Option<string>("--port") { Description = "Suite frames: epoll or completion (default both, half of the frames each)", HelpName = "PORT" };
        var from = new Option<string>("--from") { Description = "Suite frames: who lies, strangers (default) or a member", HelpName = "WHO" };
        var security = new Option<string>("--security") { Description = "Suite frames: none (default), or key: all nodes and who lies have a cluster key, and all bytes go through TLS", HelpName = "WHICH" };
        var corpus = new Option<string>("--corpus") { Description = "Suite frames: where the smallest failing sequences are written", HelpName = "FOLDER" };
        var detection = new Option<string>("--detection") { Description = "Scenario pauses: other times of failure detection, PROBE,ROUNDS,LEASE (ms, number, ms)", HelpName = "TIMES" };
        var root = new RootCommand("Random schedules of the protocols in simulation, several seeds at a time, judged by the checkers.") { suite, seeds, seed, seconds, scenario, mutate, history, first, frames, port, from, security, corpus, detection };
        Option[] ofSeeds = [seeds, scenario, mutate, history, first, detection], ofFrames = [frames, port, from, security, corpus];
        root.SetAction(async (parsed, _) => (parsed.GetValue(suite) == FrameCampaign.Suite ? ofSeeds : ofFrames).FirstOrDefault(one => parsed.GetResult(one) is { Implicit: false }) is { } idle
            ? Refuse($"{idle.Name} has no meaning with --suite {parsed.GetValue(suite)}.")
            : parsed.GetValue(suite) == FrameCampaign.Suite
            ? FrameCampaign.TryParse(parsed.GetValue(seed), parsed.GetValue(frames), parsed.GetValue(seconds), parsed.GetValue(port), parsed.GetValue(from), parsed.GetValue(security), parsed.GetValue(corpus), out var hostile, out string wrong)
                ? await RunAsync(hostile)
                : Refuse(wrong)
            : CampaignOptions.TryParse(
                new(parsed.GetValue(suite), parsed.GetValue(seeds), parsed.GetValue(seed), parsed.GetValue(scenario), parsed.GetValue(mutate), parsed.GetValue(history), parsed.GetValue(first), parsed.GetValue(detection), parsed.GetValue(seconds)), out var options, out string error)
            ? Run(options)
            : Refuse(error));
        var parsed = root.Parse(args);
        if (parsed.Errors.Count > 0 && parsed.Action is System.CommandLine.Invocation.ParseErrorAction) return Refuse(parsed.Errors[0].Message);
        return await parsed.InvokeAsync(new() { ProcessTerminationTimeout = null });
    }

    private static async Task<int> RunAsync(FrameCampaign campaign)
    {
        using var cancel = new CancellationTokenSource();
        using var interrupt = PosixSignalRegistration.Create(PosixSignal.SIGINT, context =>
        {
            context.Cancel = true;
            cancel.Cancel();
        });
        var (passed, failed) = await campaign.RunAsync(cancel.Token);
        if (cancel.IsCancellationRequested) Console.WriteLine("Interrupted.");
        Console.WriteLine($"{passed} passed, {failed} failed");
        return cancel.IsCancellationRequested ? 130 : IsPassed(passed, failed) ? 0 : 1;
    }

    private static int Run(CampaignOptions options)
    {
        using var cancel = new CancellationTokenSource();
        using var interrupt = PosixSignalRegistration.Create(PosixSignal.SIGINT, context =>
        {
            context.Cancel = true;
            cancel.Cancel();
        });
        var campaign = new SeedCampaign(options);
        var (passed, failed) = options.Mutated.Count > 0 ? new Mutations(options).Run(cancel.Token) : campaign.Run(cancel.Token);
        if (cancel.IsCancellationRequested) Console.WriteLine("Interrupted.");
        Console.WriteLine($"{passed} passed, {failed} failed");
        return cancel.IsCancellationRequested ? 130 : IsPassed(passed, failed) && campaign.IsThorough ? 0 : 1;
    }

    /// <summary>Whether nothing failed and something ran; a run of nothing has shown nothing.</summary>
    public static bool IsPassed(long passed, long failed) => failed == 0 && passed > 0;

    private static int Refuse(string error)
    {
        Console.Error.WriteLine($"{error.ReplaceLineEndings(" ")} See --help.");
        return 2;
    }
}
