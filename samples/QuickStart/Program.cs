using System.CommandLine;
using System.Runtime.InteropServices;
using QuickStart.Conducting;
using QuickStart.Data;
using QuickStart.Members;
using QuickStart.Reporting;
using Spectre.Console;

namespace QuickStart;

/// <summary>The command line. Exit codes: 0 all checks passed, 1 a check failed, 2 the command line makes no sense, 128 + n ended by signal n.</summary>
internal static class Program
{
    public const string MemberCommandName = "member";

    public static async Task<int> Main(string[] args)
    {
        if (args is [MemberCommandName]) return await MemberProgram.RunAsync();

        var members = new Option<string>("--members") { Description = $"How many processes, one of them killed (default {RunOptions.DefaultMembers})", HelpName = "N" };
        var shardSize = new Option<string>("--shard-size") { Description = $"How many members hold each key (default {RunOptions.DefaultShardSize})", HelpName = "S" };
        var seed = new Option<string>("--seed") { Description = $"Chooses which member is killed, when, and what is read (default {RunOptions.DefaultSeed})", HelpName = "X" };
        var root = new RootCommand("Ida's main job: processes on this machine load a data set, one is killed, nothing is lost.") { members, shardSize, seed };
        root.SetAction(parsed => RunOptions.TryParse(parsed.GetValue(members), parsed.GetValue(shardSize), parsed.GetValue(seed), out var options, out string error)
            ? RunAsync(options)
            : Task.FromResult(Refuse(error)));

        var parsed = root.Parse(args);
        if (parsed.Errors.Count > 0 && parsed.Action is System.CommandLine.Invocation.ParseErrorAction) return Refuse(parsed.Errors[0].Message);
        return await parsed.InvokeAsync(new() { ProcessTerminationTimeout = null });
    }

    private static int Refuse(string error)
    {
        Console.Error.WriteLine($"{error.ReplaceLineEndings(" ")} See --help.");
        return 2;
    }

    private static async Task<int> RunAsync(RunOptions options)
    {
        int signal = 0;
        using var cancel = new CancellationTokenSource();
        PosixSignalRegistration[] registrations =
            [.. new[] { PosixSignal.SIGINT, PosixSignal.SIGTERM, PosixSignal.SIGHUP }.Select(s => PosixSignalRegistration.Create(s, End))];
        void End(PosixSignalContext context)
        {
            context.Cancel = true;
            signal = context.Signal switch { PosixSignal.SIGINT => 2, PosixSignal.SIGTERM => 15, _ => 1 };
            cancel.Cancel();
        }
        try
        {
            var result = await RunAsync(options, cancel.Token);
            return result.Passed ? 0 : 1;
        }
        catch (OperationCanceledException) when (signal != 0)
        {
            await Console.Error.WriteLineAsync("Interrupted; all members are ended.");
            return 128 + signal;
        }
        finally
        {
            foreach (var registration in registrations) registration.Dispose();
        }
    }

    private static async Task<RunResult> RunAsync(RunOptions options, CancellationToken cancel)
    {
        var table = ZoneTable.Load(Path.Combine(AppContext.BaseDirectory, "data"));
        if (Console.IsOutputRedirected || !AnsiConsole.Profile.Capabilities.Ansi)
        {
            var plain = new PlainReport(Console.Out);
            var result = await ConductAsync(options, table, plain, cancel);
            plain.Summary(result);
            return result;
        }
        var live = new LiveReport(AnsiConsole.Console);
        var shown = await live.RunAsync(() => ConductAsync(options, table, live, cancel));
        live.Summary(shown);
        return shown;
    }

    private static async Task<RunResult> ConductAsync(RunOptions options, ZoneTable table, IReport report, CancellationToken cancel)
    {
        using var conductor = new Conductor(options, table, report, cancel);
        return await conductor.RunAsync();
    }
}
