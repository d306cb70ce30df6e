using GroupCore.Groups;
using GroupCore.Runtime;
using Ida.Chaos.Members;
using Ida.Testing.Calls;
using Ida.Testing.Checking;
using Ida.Testing.Workload;

namespace Ida.NetworkMember;

/// <summary>One trial of this process, in one group of its own: clients, what they did, and when this process acted for the group. A life that follows an exclusion goes on with the same trial.</summary>
internal sealed class Trial : IAsyncDisposable
{
    private static readonly TimeSpan s_pause = TimeSpan.FromMilliseconds(20), s_timeout = TimeSpan.FromSeconds(5), s_overtime = TimeSpan.FromSeconds(10);

    /// <summary>A value that fills some packets.</summary>
    private const int LargestValue = 20_000;

    /// <summary>Elements of a list, by all clients together, before all move on to the next.</summary>
    private const int ElementsPerList = 60;
    private readonly NetworkPlace _place;
    private readonly CallLedger _calls;
    private readonly FileStream _history, _acts;
    private readonly HistoryRecorder _recorder;
    private readonly HistoryWorkload _workload;
    private readonly CallBounds _bounds;
    private readonly Lock _lock = new();
    private readonly List<HistoryClient> _clients = [];

    public Trial(NetworkPlace place, string name, CallLedger calls)
    {
        (_place, Name, _calls, _bounds) = (place, name, calls, new(place.Place.LongestFault));
        _history = new(place.HistoryOf(name), FileMode.CreateNew, FileAccess.Write, FileShare.ReadWrite, bufferSize: 0);
        _acts = new(place.ActsOf(name), FileMode.CreateNew, FileAccess.Write, FileShare.ReadWrite, bufferSize: 0);
        _recorder = new(_history, prefix: $"{place.Place.Name}-");
        _workload = new()
        {
            Calls = calls, Pause = s_pause, Timeout = s_timeout, Overtime = s_overtime, Retries = 3,
            ElementsPerList = Math.Max(1, ElementsPerList / (place.Place.Clients * (place.Place.TargetSize + 1))),
            Removes = 0.15, Conditions = 0.15, Batches = 0.1, LargestValue = LargestValue,
        };
    }

    public string Name { get; }

    /// <summary>Whether the clients are to end after the operation they are in.</summary>
    public bool Rests { get; set; }

    /// <summary>Ordered messages of this process that came back to it.</summary>
    public long Said { get; private set; }

    /// <summary>Operations of its clients that succeeded.</summary>
    public long Succeeded
    {
        get
        {
            lock (_lock) return _clients.Sum(static client => client.Succeeded);
        }
    }

    private string Who => _place.Place.Name;

    /// <summary>Joins the group in a life, with a new DHT. Returns what of the trial goes on until it rests or that life ends.</summary>
    public async Task<Task> ServeAsync(IdaNode node, MemberLife life, int number, Func<Prng> random)
    {
        var group = await _calls.Begin(CallKind.Join, Who, () => node.JoinAsync(Name, group => group.Handle<int>("say", (from, _) => Said += from.Id == node.Id ? 1 : 0)).AsTask(), bound: _bounds.Join, mayBeOver: () => life.IsOver);
        var options = new DhtOptions { ShardSize = _place.Place.ShardSize, TargetSize = _place.Place.TargetSize, Member = new() { EnableTimeout = _bounds.Enable } };
        var dht = await _calls.Begin(CallKind.Enable, Who, () => group.EnableDhtAsync(options, Actor.Declare).AsTask(), bound: _bounds.Enable, mayBeOver: () => life.IsOverIn(group));
        (life.Group, life.Dht) = (group, dht);
        var clients = Enumerable.Range(0, _place.Place.Clients).Select(client =>
        {
            var own = new HistoryClient($"{Who}.{number}.{client}", Who, dht, _recorder, random(), _workload);
            lock (_lock) _clients.Add(own);
            return Task.Run(() => own.RunAsync(() => Rests));
        });
        return Task.WhenAll([.. clients, Task.Run(new Actor(node, group, dht, _acts, () => Rests || life.IsOverIn(group)).RunAsync), Task.Run(() => SayAsync(group, life))]);
    }

    /// <summary>Records the replica's state; false if this process has none.</summary>
    public async Task<bool> FinalAsync(MemberLife life) => life.Dht is { } dht && await FinalStateReader.RecordAsync(Who, dht, _recorder);

    /// <summary>Leaves the group.</summary>
    public Task LeaveAsync(MemberLife life) =>
        life.Group is { } group ? _calls.Begin(CallKind.Leave, Who, () => group.LeaveAsync().AsTask(), bound: _bounds.Send, mayBeOver: () => life.IsOverIn(group)) : Task.CompletedTask;

    public async ValueTask DisposeAsync()
    {
        await _history.DisposeAsync();
        await _acts.DisposeAsync();
    }

    private async Task SayAsync(Group group, MemberLife life)
    {
        for (int number = 0; !Rests && !life.IsOverIn(group); number++)
        {
            try
            {
                await group.OrderedSendAsync("say", number);
            }
            catch (Exception error) when (error is NotMemberException or ExcludedException or NodeStoppedException)
            {
                return;
            }
            await Task.Delay(s_pause);
        }
    }
}
