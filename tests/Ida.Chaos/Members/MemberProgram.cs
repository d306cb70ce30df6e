using System.Runtime.InteropServices;
using System.Text.Json;
using GroupCore.Groups;
using GroupCore.Membership;
using GroupCore.Runtime;
using Ida.Testing;
using Ida.Testing.Calls;
using Ida.Testing.Checking;
using Ida.Testing.Workload;

namespace Ida.Chaos.Members;

/// <summary>
/// A member process: a node with its clients, that begins a new life whenever it was excluded. It obeys the driver's lines and ends with its
/// input; the kernel ends it with the driver's main thread, also while it is stopped.
/// </summary>
internal sealed partial class MemberProgram
{
    private const int ParentDeathSignal = 1, Kill = 9;
    private static readonly TimeSpan s_statusEvery = TimeSpan.FromMilliseconds(100);
    private static readonly TimeSpan s_overtime = TimeSpan.FromSeconds(10);

    /// <summary>
    /// How long a life looks for the cluster, waits for a view and for the DHT, beyond the longest fault: a member that is cut off takes itself for excluded
    /// after a minute and begins its next life, in which it may find nobody until the cut heals.
    /// </summary>
    private static readonly TimeSpan s_start = TimeSpan.FromSeconds(30), s_join = TimeSpan.FromSeconds(60), s_enable = TimeSpan.FromMinutes(10);

    /// <summary>Half an hour of it makes a history of some hundred megabytes, which the checker holds in memory.</summary>
    private static readonly TimeSpan s_pause = TimeSpan.FromMilliseconds(20);

    /// <summary>Elements of a list, by all clients together, before all move on to the next.</summary>
    private const int ElementsPerList = 60;

    /// <summary>A value may have 256 KiB, and what goes to one shard 900 KiB.</summary>
    private const int LargestValue = 260_000, LargestWrite = 880_000;

    /// <summary>Longest time for which a handler of the second group keeps its thread, and between two such messages of a member.</summary>
    private const int LongestBlockMs = 5_000, BlockEveryMs = 20_000;
    private readonly MemberPlace _place;
    private readonly HistoryRecorder _recorder;
    private readonly AwakeClock _clock = new();
    private readonly CallLedger _calls;
    private readonly UnobservedErrors _unobserved;
    private readonly HistoryWorkload _workload;
    private readonly Prng _random;
    private readonly Lock _lock = new();
    private readonly List<HistoryClient> _clients = [];
    private readonly List<Task> _running = [];
    private Group? _group;
    private Dht? _dht;
    private int _lives;
    private volatile bool _rest;

    private MemberProgram(MemberPlace place, Stream history, UnobservedErrors unobserved)
    {
        _unobserved = unobserved;
        _calls = new(() => _clock.Now);
        (_place, _recorder, _random, _workload) = (place, new(history, prefix: $"{place.Name}-"), new(place.Seed), new()
        {
            Calls = _calls,
            Pause = s_pause, ElementsPerList = Math.Max(1, ElementsPerList / (place.Clients * (place.TargetSize + 1))),
            Removes = 0.15, Batches = 0.1, Cancelled = 0.03, Hurried = 0.03, Retries = 5, LargestValue = LargestValue, LargestWrite = LargestWrite, Overtime = s_overtime,
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
        var node = await _calls.Begin(CallKind.Start, _place.Name, () => IdaNode.StartAsync(new()
        {
            Cluster = _place.Cluster, Seeds = _place.Seeds, Listen = _place.Listen, Advertise = _place.Advertise, StartTimeout = s_start + _place.LongestFault,
            Groups = new() { JoinTimeout = s_join + _place.LongestFault }, OnPoison = PoisonPolicy.Rejoin, OnRejoined = (next, _) => ServeAsync(next),
        }).AsTask());
        using var over = new CancellationTokenSource();
        _ = ReportAsync(node, over.Token);
        var serving = ServeAsync(node);
        while (await Console.In.ReadLineAsync() is { } line)
        {
            switch (line)
            {
                case var _ when line.StartsWith(MemberCommands.Resolve, StringComparison.Ordinal):
                    Resolve(line[MemberCommands.Resolve.Length..]);
                    break;
                case MemberCommands.Rest:
                    _rest = true;
                    await Task.WhenAll(Running());
                    await SayAsync(node, line);
                    break;
                case MemberCommands.Final:
                    bool full = _dht is { } dht && await FinalStateReader.RecordAsync(_place.Name, dht, _recorder, snapshot => _calls.Begin(CallKind.Snapshot, _place.Name, snapshot));
                    await SayAsync(node, line, full);
                    break;
                case MemberCommands.Leave:
                    _rest = true;
                    await Task.WhenAll(Running());
                    await _calls.Begin(CallKind.Stop, _place.Name, () => node.DisposeAsync().AsTask());
                    if (await WrongAsync() is { } wrong) throw new InvalidOperationException(wrong);
                    return;
            }
        }
        await over.CancelAsync();
        await serving;
    }

    /// <summary>One life: joins, enables the DHT and starts its clients. A life that ends while it begins leaves it to the next.</summary>
    private async Task ServeAsync(IdaNode node)
    {
        int life = Interlocked.Increment(ref _lives);
        try
        {
            _dht = null;
            Run(BlockAsync(node));
            Run(new CalledGroup(_calls, $"{_place.Name}.{life}", Fork(), () => _rest).RunAsync(node));
            var group = _group = await _calls.Begin(CallKind.Join, _place.Name, () => node.JoinAsync("chaos").AsTask());
            var dht = await _calls.Begin(CallKind.Enable, _place.Name, () => group.EnableDhtAsync(new() { ShardSize = _place.ShardSize, TargetSize = _place.TargetSize, EnableTimeout = s_enable + _place.LongestFault }, HistoryWorkload.Register).AsTask());
            _dht = dht;
            for (int i = 0; i < _place.Clients; i++) Start(new($"{_place.Name}.{life}.{i}", _place.Name, dht, _recorder, Fork(), _workload) { HandOver = HandOver });
        }
        catch (Exception error) when (error is PoisonedException or NotMemberException or NodeStoppedException or DhtException or JoinRefusedException)
        {
            await Console.Error.WriteLineAsync($"{_place.Name}, life {life}: {error.GetType().Name}: {error.Message}");
        }
    }

    /// <summary>A second group, whose handlers keep their threads for seconds: that costs its own messages time, and nobody his place.</summary>
    private async Task BlockAsync(IdaNode node)
    {
        try
        {
            var random = Fork();
            var group = await _calls.Begin(CallKind.Join, _place.Name, () => node.JoinAsync("blocking", static group => group.Handle<int>("block", static (_, time) => Thread.Sleep(time))).AsTask());
            while (!_rest && !group.Completion.IsCompleted)
            {
                await Task.Delay((int)random.Next(1_000, BlockEveryMs));
                if (!_rest) await _calls.Begin(CallKind.Send, _place.Name, () => group.SendAsync("block", (int)random.Next(0, LongestBlockMs)).AsTask());
            }
        }
        catch (Exception error) when (error is PoisonedException or NotMemberException or NodeStoppedException or JoinRefusedException)
        {
            // Its life is over; the next one has a group of its own.
        }
    }

    // The driver chooses another member; at none of them it stays unknown.
    private static bool HandOver(HistoryWrite write)
    {
        Console.WriteLine(MemberCommands.Resolve + JsonSerializer.Serialize(write, MemberJson.Default.HistoryWrite));
        return true;
    }

    private void Resolve(string json)
    {
        if (_dht is { } dht && JsonSerializer.Deserialize(json, MemberJson.Default.HistoryWrite) is { } write)
            Run(new HistoryClient($"{_place.Name}.resolver", _place.Name, dht, _recorder, Fork(), _workload).ResolveAsync(write));
    }

    private void Start(HistoryClient client)
    {
        lock (_lock) _clients.Add(client);
        Run(Task.Run(() => client.RunAsync(() => _rest)));
    }

    private void Run(Task task)
    {
        lock (_lock)
        {
            _running.RemoveAll(static one => one.IsCompletedSuccessfully);
            _running.Add(task);
        }
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
        using var timer = new PeriodicTimer(s_statusEvery);
        while (await timer.WaitForNextTickAsync(over))
        {
            _clock.Tick();
            _calls.Look();
            await SayAsync(node, "");
        }
    }

    private async Task SayAsync(IdaNode node, string answer, bool full = false)
    {
        var status = new MemberStatus { Answer = answer, Active = node.State == MembershipState.Active, Succeeded = Succeeded(), Voters = node.Voters };
        if (answer == MemberCommands.Final) status = status with { Full = full, Wrong = await WrongAsync(), Calls = Met(), Heap = GC.GetTotalMemory(forceFullCollection: true) };
        else if (_dht is { Completion.IsCompleted: false } dht && _group is { Completion.IsCompleted: false } group)
        {
            try
            {
                var slots = await _calls.Begin(CallKind.Status, _place.Name, () => dht.StatusAsync());
                status = status with { View = slots.View, Members = group.CurrentView.Members.Count, Slot = slots.OwnSlot, Full = slots.IsFull && slots.OwnSlot >= 0, Shards = slots.Shards };
            }
            catch (Exception error) when (error is DhtException or NotMemberException or PoisonedException or NodeStoppedException)
            {
                // Between two lives.
            }
        }
        Console.WriteLine(status.ToLine());
    }

    /// <summary>What calls did that they must not; null when nothing. None is open but what says how the member is.</summary>
    private async Task<string?> WrongAsync()
    {
        for (int i = 0; _calls.Open > 0 && i < 100; i++) await Task.Delay(s_statusEvery);
        _calls.Finish();
        return _calls.Wrong is { } wrong ? wrong : _unobserved.Collect();
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
