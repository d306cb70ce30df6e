using System.Collections.Concurrent;
using System.Globalization;
using System.Runtime.InteropServices;
using Ida.Perf.Macro.CommandLine;
using Ida.Perf.Macro.Driving;

namespace Ida.Perf.Macro.Members;

/// <summary>
/// The main program of a member process: obeys the driver's lines and answers each with one line. It ends when its input ends. The kernel kills it when the driver's main
/// thread ends, even if the member is stopped, so no member outlives its run.
/// </summary>
internal static partial class MemberProgram
{
    public const string Quit = "QUIT";
    private const int ParentDeathSignal = 1;
    private const int Kill = 9;

    public static int Run(int id, string cluster, string[] seeds, RunOptions options)
    {
        _ = Control(ParentDeathSignal, Kill, 0, 0, 0);
        // A Ctrl-C at the terminal reaches the members too; the driver hears it and ends them.
        using var interrupt = PosixSignalRegistration.Create(PosixSignal.SIGINT, signal => signal.Cancel = true);
        using var hangup = PosixSignalRegistration.Create(PosixSignal.SIGHUP, signal => signal.Cancel = true);
        var lines = ReadLines();
        try
        {
            RunAsync(id, cluster, seeds, options, lines).GetAwaiter().GetResult();
            return 0;
        }
        catch (Exception error)
        {
            Console.Error.WriteLine(error);
            Console.WriteLine(MemberAnswer.Failed + $"{error.GetType().Name}: {error.Message}".ReplaceLineEndings(" "));
            return 1;
        }
    }

    private static async Task RunAsync(int id, string cluster, string[] seeds, RunOptions options, BlockingCollection<string> lines)
    {
        var place = new Place(id, cluster, seeds, options);
        await using IMember member = options.Command == "p2p" ? await PeerMember.StartAsync(place)
            : options.IsMulticast ? await MulticastMember.StartAsync(place)
            : await StoreMember.StartAsync(place);
        Console.WriteLine(MemberAnswer.Done + "{}");
        foreach (string line in lines.GetConsumingEnumerable())
        {
            if (line == Quit) return;
            string[] words = line.Split(' ');
            var answer = await member.DoAsync(words[0], [.. words.Skip(1).Select(word => long.Parse(word, CultureInfo.InvariantCulture))]);
            Console.WriteLine(MemberAnswer.Done + answer.ToJsonString());
        }
    }

    /// <summary>A separate thread waits for lines, so that the end of the input is noticed whatever the rest of the process does.</summary>
    private static BlockingCollection<string> ReadLines()
    {
        var lines = new BlockingCollection<string>();
        var thread = new Thread(() =>
        {
            while (Console.In.ReadLine() is { } line) lines.Add(line);
            Environment.Exit(0);
        })
        { IsBackground = true, Name = "driver's lines" };
        thread.Start();
        return lines;
    }

    [LibraryImport("libc", EntryPoint = "prctl")]
    private static partial int Control(int option, nuint a, nuint b, nuint c, nuint d);
}
