using GroupCore.Groups;
using GroupCore.Runtime;
using GroupCore.Wire;
using Ida.Testing;

namespace GroupCore.Tests.Groups;

/// <summary>A script in which the members of a group send every type of frame. Each frame is shown to the test before its receiver gets it.</summary>
internal sealed class CapturedScript : IDisposable
{
    private readonly Action<TestMember, IFrameHandler, int, FrameHeader, byte[]> _onFrame;
    private readonly List<TaskCompletionSource> _gates = [];
    private bool _playing;
    private bool _released;

    public CapturedScript(ulong seed, Action<TestMember, IFrameHandler, int, FrameHeader, byte[]> onFrame)
    {
        _onFrame = onFrame;
        GroupCluster? built = null;
        built = new GroupCluster(seed, 5, more: g => g.HandleAsync<byte[]>("hang", HangAsync), tap: node => new TappedNode(node, (tapped, handler, peer, header, body) =>
        {
            if (_playing && built!.Members.Find(m => m.SimNode.Id == tapped.Id) is { } member) _onFrame(member, handler, peer, header, body);
        })) { StateBytes = 4_000_000 };
        Cluster = built;
    }

    public GroupCluster Cluster { get; }

    private Simulation Simulation => Cluster.Simulation;

    private List<TestMember> ByRank => [.. Cluster.Usable.OrderBy(m => m.Group!.Rank)];

    public void Play()
    {
        Assert.True(Cluster.Settle());
        Simulation.Run(TimeSpan.FromSeconds(1));
        var layers = new List<TestLayer>();
        foreach (var member in Cluster.Members)
            Simulation.Spawn(async () => layers.Add(await member.Group!.AttachLayerAsync(ToyLayers.First, port => new TestLayer(port, () => new byte[100]))));
        Simulation.Run(TimeSpan.FromMilliseconds(100));
        Assert.Equal(5, layers.Count);
        _playing = true;
        Talk();
        foreach (var layer in layers)
            Cluster.Members[0].SimNode.Simulation.Nodes.Single(n => n.Id == layer.Port.Node.Id).Post(() =>
            {
                layer.Port.Reserve(10);
                layer.Port.Send((layer.Port.Rank + 1) % layer.Port.View!.Members.Count, FrameType.FirstLayer, 10);
            });
        Simulation.Run(TimeSpan.FromMilliseconds(300));
        LoseASender();
        Talk();
        for (int i = 0; i < 2; i++) Join();
        Hang();
        Simulation.Run(TimeSpan.FromSeconds(1));
        _playing = false;
    }

    /// <summary>The verdict when all remaining members have come to rest.</summary>
    public string? Finish()
    {
        bool settled = Cluster.Settle(30);
        Simulation.Run(TimeSpan.FromSeconds(2));
        string? verdict = Cluster.Verdict();
        return settled ? verdict : $"{GroupSchedule.NotSettled}: {string.Join("; ", Cluster.Usable.Select(m => m.Group!.Protocol))}\n{verdict}";
    }

    public void Dispose() => Cluster.Dispose();

    private void Talk()
    {
        foreach (var member in ByRank)
        {
            if (!member.Usable) continue;
            for (int i = 0; i < 3; i++)
            {
                _ = Simulation.Spawn(() => member.SendAsync(ordered: false));
                _ = Simulation.Spawn(() => member.SendAsync(ordered: true));
                _ = Simulation.Spawn(() => member.SendToSomeoneAsync(Simulation.Random, 2));
            }
            _ = Simulation.Spawn(() => member.SendAsync(ordered: true, bytes: 150_000));
            _ = Simulation.Spawn(() => AskAsync(member));
            Simulation.Run(TimeSpan.FromMilliseconds(20));
        }
    }

    private static async Task AskAsync(TestMember member)
    {
        try
        {
            await member.Group!.QueryAsync<int, int>("ask", 1, timeout: TimeSpan.FromSeconds(1));
        }
        catch (Exception)
        {
            // The caller may notice a damaged answer.
        }
    }

    /// <summary>A sender dies when some members have not received its last messages, so they pull them.</summary>
    private void LoseASender()
    {
        var ranks = ByRank;
        var sender = ranks[^1];
        foreach (var deaf in ranks.Where(m => m.Group!.Rank is 0 or 2)) Simulation.Network.Cut(sender.SimNode, deaf.SimNode);
        for (int i = 0; i < 3; i++) _ = Simulation.Spawn(() => sender.SendAsync(ordered: false));
        Simulation.Run(TimeSpan.FromMilliseconds(30));
        sender.Crash();
        Cluster.Oracle.Fail(sender.Membership);
        Simulation.Run(TimeSpan.FromSeconds(1));
        Simulation.Network.Heal();
    }

    /// <summary>The joiner is so far away that it hears of its view before the state comes.</summary>
    private void Join()
    {
        var joiner = Cluster.Add();
        foreach (var member in ByRank) Simulation.Network.Slow(member.SimNode, joiner.SimNode, 100);
        Simulation.Run(TimeSpan.FromSeconds(2));
    }

    /// <summary>A handler that does not return holds a flush up until the members tell each other which member they wait for.</summary>
    private void Hang()
    {
        var ranks = ByRank;
        if (ranks.Count < 3) return;
        _ = Simulation.Spawn(() => ranks[1].Group!.SendToAsync(ranks[2].Group!.Rank, "hang", Array.Empty<byte>()).AsTask());
        Simulation.Run(TimeSpan.FromMilliseconds(100));
        Cluster.Oracle.RequestView(Cluster.Oracle.Find("g")!.Id);
        Simulation.Run(TimeSpan.FromSeconds(4));
        _released = true;
        foreach (var gate in _gates) Simulation.After(TimeSpan.Zero, gate.SetResult);
    }

    private async ValueTask HangAsync(MemberRef from, byte[] message)
    {
        if (_released) return;
        var gate = new TaskCompletionSource();
        _gates.Add(gate);
        await gate.Task.ConfigureAwait(false);
    }
}
