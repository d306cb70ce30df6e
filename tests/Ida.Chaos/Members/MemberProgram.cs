using System.Diagnostics.Metrics;
using System.Runtime.InteropServices;
using System.Text.Json;
using GroupCore.Groups;
using GroupCore.Membership;
using GroupCore.Runtime;
using Ida.Testing;
using Ida.Testing.Calls;
using Ida.Testing.Checking;
using Ida.Testing.Workload;
using Ida.Tests.Shared;

namespace Ida.Chaos.Members;

/// <summary>
/// A member process: a node with its clients, which begins a new life whenever it was excluded. The process obeys the driver's lines and ends with its
/// input. The kernel ends it with the driver's thread that started it, even while the process is stopped.
/// </summary>
internal sealed partial class MemberProgram
{
    private const int ParentDeathSignal = 1, Kill = 9;
    private static readonly TimeSpan s_statusEvery = TimeSpan.FromMilliseconds(100);
    private static readonly TimeSpan s_overtime = TimeSpan.FromSeconds(10);

    /// <summary>The clients' pause: half an hour at this pace makes a history of some hundred megabytes, which the checker holds in memory.</summary>
    private static readonly TimeSpan s_pause = TimeSpan.FromMilliseconds(20);

    /// <summary>Elements of a list, by all clients together, before all move on to the next.</summary>
    private const int ElementsPerList = 60;

    /// <summary>A little below the bounds: a value may have 256 KiB, and what goes to one shard 900 KiB.</summary>
    private const int LargestValue = 260_000, LargestWrite = 880_000;

    /// <summary>The longest time for which a handler of the second group keeps its thread, and the longest time between two such messages of a member.</summary>
    private const int LongestBlockMs = 5_000, BlockEveryMs = 20_000;

    /// <summary>The longest time for which a logger keeps its thread, and for which a listener keeps the thread of a call.</summary>
    private const int LongestLogMs = 3_000, LongestListenMs = 100;

    /// <summary>The longest time between two questions how the node is, and the time between two measurements.</summary>
    private const int DescribeEveryMs = 2_000, MeasureEveryMs = 1_000;

    /// <summary>One line in this many has the table of calls.</summary>
    private const int LinesPerTable = 10;
    private readonly MemberPlace _place;
    private readonly CallBounds _bounds;
    private readonly HistoryRecorder _recorder;
    private readonly AwakeClock _clock = new(TimeProvider.System);
    private readonly CallLedger _calls;
    private readonly UnobservedErrors _unobserved;
    private readonly HistoryWorkload _workload;
    private readonly Prng _random;
    private readonly Lock _lock = new();
    private readonly List<HistoryClient> _clients = [];
    private readonly List<Task> _running = [];

    /// <summary>The present life, once it has its DHT.</summary>
    private volatile MemberLife? _life;
    private Task _called = Task.CompletedTask;
    private int _lives;
    private volatile bool _rest, _leaves;

    private MemberProgram(MemberPlace place, Stream history, UnobservedErrors unobserved)
    {
        _unobserved = unobserved;
        _calls = new(() => _clock.Now, slack: CallBounds.Slack, passes: static () => TimeSpan.FromMilliseconds(Environment.TickCount64));
        _bounds = new(place.LongestFault);
        (_place, _recorder, _random, _workload) = (place, new(history, prefix: $"{place.Name}-"), new(place.Seed), new()
        {
            Calls = _calls,
            Pause = s_pause, ElementsPerList = Math.Max(1, ElementsPerList / (place.Clients * (place.TargetSize + 1))),
            Removes = 0.15, Conditions = 0.15, Batches = 0.1, Cancelled = 0.03, Hurried = 0.03, Retries = 5, LargestValue = LargestValue, LargestWrite = LargestWrite, Overtime = s_overtime,
        });
    }

    public static async Task<int> RunAsync(MemberPlace place)
    {
        _ = Control(ParentDeathSignal, Kill, 0, 0, 0);
        // A Ctrl-C at the terminal reaches the members too; the driver hears it and ends them.
        using var interrupt = PosixSignalRegistration.Create(PosixSignal.SIGINT, signal => signal.Cancel = true);
        await using var history = new FileStream(place.HistoryFile, FileMode.CreateNew, FileAccess.Write, FileShare.Read, bufferSize: 0);
        using var unobserved = new UnobservedErrors();
        await new MemberProgram(place, history, unobserved).RunAsync();
        return 0;
    }

    private async Task RunAsync()
    {
        using var ticker = new Ticker(() =>
        {
            _clock.Tick();
            _calls.Look();
        });
        var unruly = new UnrulyCode(Fork());
        using var listener = UnrulyListener.Begin(() => unruly.Act(LongestListenMs));
        var node = await _calls.Begin(CallKind.Start, _place.Name, () => IdaNode.StartAsync(new()
        {
            LoggerFactory = new UnrulyLoggers(() => unruly.Act(LongestLogMs)),
            Cluster = _place.Cluster, Seeds = _place.Seeds, Listen = _place.Listen, Advertise = _place.Advertise, StartTimeout = _bounds.Start,
            Groups = new() { JoinTimeout = _bounds.JoinWithoutProgress }, OnExcluded = ExclusionPolicy.Rejoin, OnRejoined = (next, _) => WatchAsync("a later life", ServeAsync(next)),
        }).AsTask(), bound: _bounds.Start, mayBeOver: () => _leaves);
        using var over = new CancellationTokenSource();
        var report = WatchAsync("its reports", ReportAsync(node, over.Token));
        _ = WatchAsync("its node", EndOfAsync(node));
        _ = WatchAsync("its measurements", MeasureAsync(unruly, over.Token));
        var describing = WatchAsync("its descriptions", DescribeAsync(node, over.Token));
        var serving = WatchAsync("its first life", ServeAsync(node));
        while (await Console.In.ReadLineAsync() is { } line)
        {
            switch (line)
            {
                case var _ when line.StartsWith(MemberCommands.Resolve, StringComparison.Ordinal):
                    Resolve(line[MemberCommands.Resolve.Length..]);
                    break;
                case var _ when line.StartsWith(MemberCommands.Fault, StringComparison.Ordinal):
                    _calls.Meet(CallTable.OfFault(line[MemberCommands.Fault.Length..]));
                    Say(new() { Answer = MemberStatus.Note, Wrong = Wrong, Calls = Met() });
                    break;
                case MemberCommands.Rest:
                    _rest = true;
                    await Task.WhenAll(Running());
                    Say(new() { Answer = line, Wrong = Wrong });
                    break;
                case MemberCommands.Final:
                    bool initialised = _life is { Dht: { } dht } life && await FinalStateReader.RecordAsync(_place.Name, dht, _recorder, snapshot => _calls.Begin(CallKind.Snapshot, _place.Name, snapshot, bound: _bounds.Enable, mayBeOver: () => life.IsOverIn(life.Group)));
                    Say(new() { Answer = line, Initialised = initialised, Wrong = await WrongAsync(over, report, describing), Calls = Met(), Heap = GC.GetTotalMemory(forceFullCollection: true) });
                    break;
                case MemberCommands.Leave:
                    _rest = true;
                    await Task.WhenAll(Running());
                    _leaves = true;
                    await _calls.Begin(CallKind.Stop, _place.Name, () => node.DisposeAsync().AsTask(), bound: CallBounds.Stop);
                    string? wrong = await WrongAsync(over, report, describing);
                    Say(new() { Answer = line, Wrong = wrong, Calls = Met() });
                    if (wrong is not null) throw new InvalidOperationException(wrong);
                    return;
            }
        }
        await over.CancelAsync();
        await serving;
    }

    /// <summary>Serves one life: joins, enables the DHT and starts the clients. If the life ends meanwhile, the next one does that.</summary>
    private async Task ServeAsync(IdaNode node)
    {
        int life = Interlocked.Increment(ref _lives);
        var own = new MemberLife(node, () => _leaves);
        try
        {
            _life = null;
            Run("the group whose handlers block", BlockAsync(node, own));
            _called = new CalledGroup(_calls, _bounds, $"{_place.Name}.{life}", Fork(), () => _rest).RunAsync(node, earlier: _called);
            Run("the group of every call", _called);
            var group = await _calls.Begin(CallKind.Join, _place.Name, () => node.JoinAsync("chaos").AsTask(), bound: _bounds.Join, mayBeOver: () => own.IsOver);
            var dht = await _calls.Begin(CallKind.Enable, _place.Name, () => group.EnableDhtAsync(new() { ShardSize = _place.ShardSize, TargetSize = _place.TargetSize, Member = new() { EnableTimeout = _bounds.Enable } }, HistoryWorkload.Declare).AsTask(), bound: _bounds.Enable, mayBeOver: () => own.IsOverIn(group));
            (own.Group, own.Dht) = (group, dht);
            _life = own;
            for (int i = 0; i < _place.Clients; i++) Start(new($"{_place.Name}.{life}.{i}", _place.Name, dht, _recorder, Fork(), _workload) { HandOver = HandOver });
        }
        catch (Exception error) when (error is ExcludedException or NotMemberException or NodeStoppedException or DhtException or JoinRefusedException)
        {
            await Console.Error.WriteLineAsync($"{_place.Name}, life {life}: {error.GetType().Name}: {error.Message}");
        }
    }

    /// <summary>A second group, whose handlers keep their threads for seconds: that delays the group's own messages, and costs no member its place.</summary>
    private async Task BlockAsync(IdaNode node, MemberLife own)
    {
        try
        {
            var random = Fork();
            var group = await _calls.Begin(CallKind.Join, _place.Name, () => node.JoinAsync("blocking", static group => group.Handle<int>("block", static (_, time) => Thread.Sleep(time))).AsTask(), bound: _bounds.Join, mayBeOver: () => own.IsOver);
            while (!_rest && !group.Completion.IsCompleted)
            {
                await Task.Delay((int)random.Next(1_000, BlockEveryMs));
                if (!_rest) await _calls.Begin(CallKind.Send, _place.Name, () => group.SendAsync("block", (int)random.Next(0, LongestBlockMs)).AsTask(), bound: _bounds.Send, mayBeOver: () => own.IsOverIn(group));
            }
        }
        catch (Exception error) when (error is ExcludedException or NotMemberException or NodeStoppedException or JoinRefusedException)
        {
            // Its life is over; the next one has a group of its own.
        }
    }

    // The driver chooses another member; if there is none, the outcome stays unknown.
    private static bool HandOver(HistoryWrite write)
    {
        Console.WriteLine(MemberCommands.Resolve + JsonSerializer.Serialize(write, MemberJson.Default.HistoryWrite));
        return true;
    }

    private void Resolve(string json)
    {
        if (_life is { Dht: { } dht } && JsonSerializer.Deserialize(json, MemberJson.Default.HistoryWrite) is { } write)
            Run("a client that finds out what became of a write", new HistoryClient($"{_place.Name}.resolver", _place.Name, dht, _recorder, Fork(), _workload).ResolveAsync(write));
    }

    private void Start(HistoryClient client)
    {
        lock (_lock) _clients.Add(client);
        Run("a client", Task.Run(() => client.RunAsync(() => _rest)));
    }

    private void Run(string what, Task task)
    {
        lock (_lock)
        {
            _running.RemoveAll(static one => one.IsCompleted);
            _running.Add(WatchAsync(what, task));
        }
    }

    /// <summary>
    /// Any error that ends a part of this program is a finding, and is reported at once: the member may be killed before anybody asks. A join that takes longer than the longest fault is one, and
    /// so is the end of a node that gives up.
    /// </summary>
    private async Task WatchAsync(string what, Task part)
    {
        try
        {
            await part;
        }
        catch (Exception error)
        {
            _calls.Accuse($"{_place.Name}: {what} ended with {error}");
            Say(new() { Answer = MemberStatus.Note, Wrong = Wrong });
        }
    }

    /// <summary>A node goes on until it is told to leave; after an exclusion it begins another life.</summary>
    private async Task EndOfAsync(IdaNode node)
    {
        await node.Completion;
        if (!_leaves) throw new InvalidOperationException("no error, though nobody had told it to end");
    }

    private Prng Fork()
    {
        lock (_lock) return _random.Fork();
    }

    private Task[] Running()
    {
        lock (_lock) return [.. _running];
    }

    private async Task ReportAsync(IdaNode node, CancellationToken over)
    {
        var slots = new SlotReport(_calls, _place.Name, _clock);
        using var timer = new PeriodicTimer(s_statusEvery);
        try
        {
            for (int line = 0; await timer.WaitForNextTickAsync(over); line++)
            {
                var status = new MemberStatus { Active = node.State == MembershipState.Active, Succeeded = Succeeded(), Voters = node.Voters };
                status = await slots.AddToAsync(status, _life);
                Say(status with { HeldUpMs = (long)_clock.HeldUp.TotalMilliseconds, Wrong = Wrong, Calls = line % LinesPerTable == 0 ? Met() : [] });
            }
        }
        catch (OperationCanceledException) when (over.IsCancellationRequested)
        {
            // Its calls are to be judged, or the input has ended.
        }
    }

    /// <summary>Asks how the node is, and at times gives up.</summary>
    private async Task DescribeAsync(IdaNode node, CancellationToken over)
    {
        var random = Fork();
        while (!over.IsCancellationRequested)
        {
            try
            {
                await Task.Delay((int)random.Next(1, DescribeEveryMs), over);
                using var source = random.Next(4) == 0 ? new CancellationTokenSource((int)random.Next(0, 5)) : new CancellationTokenSource();
                string text = await _calls.Begin(CallKind.Describe, _place.Name, () => node.DescribeAsync(source.Token).AsTask(), bound: CallBounds.Status, token: source.Token);
                if (!text.Contains($"at {node.Address}", StringComparison.Ordinal)) throw new InvalidOperationException($"a text that does not name it: {text}");
            }
            catch (OperationCanceledException)
            {
                // The asker has given up, or the calls are to be judged; the ledger knows whether this call may end so.
            }
        }
    }

    /// <summary>Measures everything there is to measure, with callbacks that throw or keep their thread.</summary>
    private static async Task MeasureAsync(UnrulyCode unruly, CancellationToken over)
    {
        using var listener = new MeterListener
        {
            InstrumentPublished = static (instrument, listener) =>
            {
                if (instrument.Meter.Name is "Ida" or "Ida.GroupCore" or "Ida.Oracle") listener.EnableMeasurementEvents(instrument);
            },
        };
        listener.SetMeasurementEventCallback<long>((_, _, _, _) => unruly.Act(LongestListenMs));
        listener.Start();
        using var timer = new PeriodicTimer(TimeSpan.FromMilliseconds(MeasureEveryMs));
        try
        {
            while (await timer.WaitForNextTickAsync(over))
            {
                try
                {
                    listener.RecordObservableInstruments();
                }
                catch (Exception error) when (error is FormatException or AggregateException)
                {
                    // What a callback throws comes back to the code that measures.
                }
            }
        }
        catch (OperationCanceledException) when (over.IsCancellationRequested)
        {
            // Its calls are to be judged, or the input has ended.
        }
    }

    private static void Say(MemberStatus status) => Console.WriteLine(status.ToLine());

    /// <summary>What is known so far.</summary>
    private string? Wrong => Join(_calls.Wrong, _unobserved.Found);

    private static string? Join(string? one, string? other) => one is null ? other : other is null ? one : $"{one}\n{other}";

    /// <summary>What calls did that they must not do; null: nothing. Stops the reports first, so that no call begins while the last ones end.</summary>
    private async Task<string?> WrongAsync(CancellationTokenSource over, params Task[] reports)
    {
        await over.CancelAsync();
        await Task.WhenAll(reports);
        for (int i = 0; _calls.Open > 0 && i < 100; i++) await Task.Delay(s_statusEvery);
        _calls.Finish();
        return Join(_calls.Wrong, _unobserved.Collect());
    }

    private List<MetCalls> Met()
    {
        var table = new CallTable();
        _calls.AddTo(table);
        return [.. table.Cells.Select(static cell => new MetCalls(cell.Key.Kind, cell.Key.Column, cell.Value))];
    }

    private long Succeeded()
    {
        lock (_lock) return _clients.Sum(static client => client.Succeeded);
    }

    [LibraryImport("libc", EntryPoint = "prctl")]
    private static partial int Control(int option, nuint a, nuint b, nuint c, nuint d);
}
