using System.Buffers;
using GroupCore.Groups;
using GroupCore.Runtime;
using GroupCore.Wire;
using Ida.Nodes;
using Ida.Testing;
using Oracle;

namespace Ida.Scenarios;

/// <summary>
/// Frames that members of a group and of a DHT send each other, of every type and several lengths: recorded from whole nodes in a simulation
/// of one fixed seed, so that they are today's format and the same in every run.
/// </summary>
internal sealed class FrameRecorder
{
    private const int EachType = 12;
    private const ulong Seed = 7;
    private static readonly string[] s_keys = ["a", "b", "c", "d", "e", "f"];
    private readonly Dictionary<FrameType, List<FrameSample>> _samples = [];
    private readonly List<Group> _groups = [];
    private readonly List<Dht> _dhts = [];

    private FrameRecorder()
    {
    }

    /// <summary>Samples by type, in the order of types.</summary>
    public static IReadOnlyDictionary<FrameType, IReadOnlyList<FrameSample>> Record()
    {
        var recorder = new FrameRecorder();
        using var simulation = new Simulation(Seed);
        simulation.RunAsync(() => recorder.PlayAsync(simulation), TimeSpan.FromMinutes(5));
        return recorder._samples.OrderBy(pair => pair.Key).ToDictionary(pair => pair.Key, pair => (IReadOnlyList<FrameSample>)pair.Value);
    }

    private async Task PlayAsync(Simulation simulation)
    {
        var nodes = new List<(IdaNode Node, TappedHost Host)>();
        for (int i = 0; i < 4; i++) nodes.Add(await StartAsync(simulation));
        foreach (var (node, _) in nodes) await JoinAsync(node);
        _dhts.AddRange(await Task.WhenAll(_groups.Select(group => group.EnableDhtAsync(new() { ShardSize = 2, TargetSize = 4 }, DhtWorld.Maps).AsTask())));
        foreach (var dht in _dhts) await dht.WhenInitialisedAsync();
        for (int round = 0; round < 3; round++) await TalkAsync(round);
        // Operations under way when a member dies are settled, forwarded and taken over; a joiner gets the state.
        var last = new List<Task>();
        for (int i = 0; i < 20; i++) last.Add(Quietly(_dhts[i % 3].Map<string, string>("texts").PutAsync(Pairs(i)).AsTask()));
        for (int i = 0; i < 3; i++) last.Add(Quietly(_groups[i].OrderedSendAsync("note", new byte[30_000]).AsTask()));
        nodes[3].Host.Inner.Node!.Crash();
        await simulation.Delay(TimeSpan.FromMilliseconds(20));
        for (int i = 0; i < 20; i++) last.Add(Quietly(_dhts[i % 3].Map<string, string>("texts").PutAsync(Pairs(i)).AsTask()));
        await simulation.Delay(TimeSpan.FromSeconds(5));
        await Task.WhenAll(last);
        var joiner = await StartAsync(simulation);
        await JoinAsync(joiner.Node);
        var late = await _groups[^1].EnableDhtAsync(new() { ShardSize = 2, TargetSize = 4 }, DhtWorld.Maps);
        for (int i = 0; i < 10; i++) await Quietly(_dhts[0].Map<string, string>("texts").PutAsync(Pairs(i)).AsTask());
        await late.WhenInitialisedAsync();
        await simulation.Delay(TimeSpan.FromSeconds(2));
    }

    private async Task TalkAsync(int round)
    {
        for (int i = 0; i < 4; i++)
        {
            int length = round == 2 ? 70_000 : 10 << round;
            await _groups[i].SendAsync("note", new byte[length]);
            await _groups[i].OrderedSendAsync("note", new byte[length]);
            await _groups[i].SendToAsync((i + 1) % 4, "note", new byte[length]);
            await _groups[i].QueryAsync<int, int>("echo", i);
            await _groups[i].FlushAsync();
            var map = _dhts[i].Map<string, string>("texts");
            await ChangeAsync(_dhts[i], map, $"{round}{i}");
            await map.PutAsync(Pairs(i));
            await map.PutAsync("a", new('x', length));
            await map.GetAsync(s_keys);
            await Task.WhenAll(s_keys.Select(key => map.GetAsync(key).AsTask()));
        }
    }

    // Each effect on a key, with and without an expectation, met and not met.
    private static async Task ChangeAsync(Dht dht, DhtMap<string, string> map, string mark)
    {
        await map.TryAddAsync("added", mark);
        await map.MergeAsync("merged", 5);
        var seen = await map.GetAsync("merged");
        await map.TryReplaceAsync("merged", mark, seen.Version);
        await dht.NewBatch().Merge(map, "merged", 5).Expect(map, "merged", seen.Version).CommitAsync();
        await dht.NewBatch().Expect(map, "added", 0).CommitAsync();
        await map.RemoveAsync("added");
    }

    private static Dictionary<string, string?> Pairs(int number) => s_keys.Take(1 + (number % s_keys.Length)).ToDictionary(key => key, key => (string?)$"{key}{number}");

    private static async Task Quietly(Task task)
    {
        try
        {
            await task;
        }
        catch (Exception)
        {
            // A member dies meanwhile: only the frames count.
        }
    }

    private async Task<(IdaNode Node, TappedHost Host)> StartAsync(Simulation simulation)
    {
        var host = new TappedHost(new(simulation, null, [Simulation.AddressOf(0)], null), Take);
        return (await IdaNode.HostAsync(new() { Cluster = "sim" }, host, CancellationToken.None), host);
    }

    private async Task JoinAsync(IdaNode node) => _groups.Add(await node.JoinAsync(FrameVictims.GroupName,
        g => g.OnQuery<int, int>("echo", static (_, number) => number).Handle<byte[]>("note", static (_, _) => { })
            .Checkpoint(static to => to.Write(new byte[600_000]), static _ => { }),
        new() { StrictPrimary = true }));

    private void Take(FrameType type, byte[] body)
    {
        if (!_samples.TryGetValue(type, out var samples)) _samples.Add(type, samples = []);
        // One sample each of several lengths tells more than several of one length.
        if (samples.Count < EachType && !samples.Exists(sample => sample.Body.Length == body.Length)) samples.Add(new(type, body));
    }

    private sealed class TappedHost(SimLifeHost inner, Action<FrameType, byte[]> take) : ILifeHost
    {
        public SimLifeHost Inner => inner;

        public INode Begin(Action<INode> attach) => inner.Begin(node => attach(new TappedNode(node, (_, _, _, header, body) => take(header.Type, body))));

        public OracleOptions MembershipOptions(IdaNodeOptions options) => inner.MembershipOptions(options);

        public ValueTask EndAsync() => inner.EndAsync();
    }
}
