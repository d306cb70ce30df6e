using System.CommandLine;
using System.Runtime.InteropServices;
using Ida.Chaos.Driving;
using Ida.Chaos.Members;

namespace Ida.Chaos;

/// <summary>The command line. Exit codes: 0 all checks passed, 1 a check failed, 2 the command line makes no sense, 130 interrupted.</summary>
internal static class Program
{
    public const string MemberCommand = "member";

    public static async Task<int> Main(string[] args)
    {
        if (args is [MemberCommand, .. var place]) return await MemberProgram.RunAsync(MemberPlace.Parse(place));

        var members = new Option<string>("--members") { Description = "Processes, besides those that join for a while (default 5)", HelpName = "N" };
        var shardSize = new Option<string>("--shard-size") { Description = "Members that hold each key (default 2)", HelpName = "S" };
        var seconds = new Option<string>("--seconds") { Description = "How long faults are made (default 60)", HelpName = "T" };
        var faults = new Option<string>("--faults") { Description = "Which: kill,stop,cut,join,leave (default these), blink", HelpName = "KINDS" };
        var clients = new Option<string>("--clients") { Description = "Clients at each member (default 2)", HelpName = "C" };
        var history = new Option<string>("--history") { Description = "Writes the whole history as JSON lines", HelpName = "FILE" };
        var seed = new Option<string>("--seed") { Description = "Chooses faults and their moments (default 1)", HelpName = "X" };
        var longest = new Option<string>("--longest") { Description = "Longest stop and cut in seconds (default 8)", HelpName = "L" };
        var blink = new Option<string>("--blink") { Description = "Longest blink in ms, which nobody may notice (default 50; with 3000 and --faults blink the run has to fail)", HelpName = "B" };
        var root = new RootCommand("Real processes under real faults: nothing acknowledged is lost, nothing is read that no serial order explains.")
        {
            members, shardSize, seconds, faults, clients, history, seed, longest, blink,
        };
        root.SetAction(parsed => ChaosOptions.TryParse(
                new(parsed.GetValue(members), parsed.GetValue(shardSize), parsed.GetValue(seconds), parsed.GetValue(faults), parsed.GetValue(clients), parsed.GetValue(history), parsed.GetValue(seed), parsed.GetValue(longest), parsed.GetValue(blink)),
                out var options, out string error)
            ? RunAsync(options)
            : Task.FromResult(Refuse(error)));
        var parsed = root.Parse(args);
        if (parsed.Errors.Count > 0 && parsed.Action is System.CommandLine.Invocation.ParseErrorAction) return Refuse(parsed.Errors[0].Message);
        return await parsed.InvokeAsync(new() { ProcessTerminationTimeout = null });
    }

    private static async Task<int> RunAsync(ChaosOptions options)
    {
        using var cancel = new CancellationTokenSource();
        using var interrupt = PosixSignalRegistration.Create(PosixSignal.SIGINT, context =>
        {
            context.Cancel = true;
            cancel.Cancel();
        });
        try
        {
            return await ChaosRun.RunAsync(options, cancel.Token) ? 0 : 1;
        }
        catch (OperationCanceledException) when (cancel.IsCancellationRequested)
        {
            Console.WriteLine("Interrupted; all members are ended.");
            return 130;
        }
    }

    private static int Refuse(string error)
    {
        Console.Error.WriteLine($"{error.ReplaceLineEndings(" ")} See --help.");
        return 2;
    }
}
