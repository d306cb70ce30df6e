using System.Runtime.InteropServices;
using System.Text.Json;
using System.Threading.Channels;
using QuickStart.Checks;
using QuickStart.Data;
using QuickStart.Protocol;

namespace QuickStart.Members;

/// <summary>A member process. It obeys the conductor's lines and ends when its input ends, so no member outlives the conductor, whatever happens to it.</summary>
internal sealed class MemberProgram(EventWriter events, ZoneTable table) : IAsyncDisposable
{
    private readonly CancellationTokenSource _quiet = new();
    private readonly KnownRows _known = new();
    private DhtMember? _member;

    public static async Task<int> RunAsync()
    {
        var events = new EventWriter(Console.OpenStandardOutput());
        Console.SetOut(Console.Error);
        // A Ctrl-C at the terminal reaches the members too. They ignore it; the conductor hears it and ends them.
        using var interrupt = PosixSignalRegistration.Create(PosixSignal.SIGINT, signal => signal.Cancel = true);
        using var hangup = PosixSignalRegistration.Create(PosixSignal.SIGHUP, signal => signal.Cancel = true);
        try
        {
            await using var program = new MemberProgram(events, ZoneTable.Load(Path.Combine(AppContext.BaseDirectory, "data")));
            await program.FollowAsync(ReadCommands());
            return 0;
        }
        catch (Exception e)
        {
            events.Write(new ErrorEvent($"{e.GetType().Name}: {e.Message}"));
            await Console.Error.WriteLineAsync(e.ToString());
            return 1;
        }
    }

    public async ValueTask DisposeAsync()
    {
        if (_member is not null) await _member.DisposeAsync();
        _quiet.Dispose();
    }

    private async Task FollowAsync(ChannelReader<MemberCommand> commands)
    {
        var work = new List<Task>();
        while (true)
        {
            var next = commands.ReadAsync().AsTask();
            // A task that failed ends the member at once, not only when the next command comes.
            while (await Task.WhenAny([next, .. work]) is var done && done != next)
            {
                await done;
                work.Remove(done);
            }
            var command = await next;
            if (command is StopCommand) return;
            work.Add(DoAsync(command));
        }
    }

    private Task DoAsync(MemberCommand command) => command switch
    {
        StartCommand start => StartAsync(start),
        EnableCommand enable => EnableAsync(enable),
        ReadCommand read => Task.Run(() => new CutReader(Member, table, _known, events, read.Seed).RunAsync(_quiet.Token)),
        LoadCommand load => Task.Run(() => new RowLoader(Member, table, _known, events).RunAsync(load)),
        KnownCommand known => Learn(known),
        QuietCommand => _quiet.CancelAsync(),
        VerifyCommand => VerifyAsync(),
        _ => throw new InvalidDataException($"Unknown command {command.GetType().Name}"),
    };

    private DhtMember Member => _member ?? throw new InvalidOperationException("The node is not started.");

    private async Task StartAsync(StartCommand start)
    {
        _member = await DhtMember.StartAsync(start, events);
        events.Write(new StartedEvent(_member.Address));
    }

    private async Task EnableAsync(EnableCommand enable)
    {
        await Member.EnableAsync(enable);
        events.Write(new EnabledEvent());
    }

    private Task Learn(KnownCommand known)
    {
        foreach (int row in known.Rows) _known.Add(table.Rows[row].Name);
        return Task.CompletedTask;
    }

    private async Task VerifyAsync()
    {
        var all = Cut.OfAll(table);
        var read = await Member.ReadAsync(all);
        string? fault = CutCheck.FirstFault(all, read) ?? CutCheck.FirstStale(all, read, _ => true);
        events.Write(await Member.DescribeAsync(fault, read.Rows.Count));
    }

    /// <summary>A separate thread reads the lines, so that the end of the input is seen whatever the rest of the process does.</summary>
    private static ChannelReader<MemberCommand> ReadCommands()
    {
        var commands = Channel.CreateUnbounded<MemberCommand>();
        var thread = new Thread(() =>
        {
            while (Console.In.ReadLine() is { } line)
                commands.Writer.TryWrite(JsonSerializer.Deserialize(line, LineJson.Default.MemberCommand)!);
            Environment.Exit(0);
        })
        { IsBackground = true, Name = "conductor's lines" };
        thread.Start();
        return commands.Reader;
    }
}
