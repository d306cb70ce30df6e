using GroupCore.Groups.State;
using GroupCore.Groups.Views;

namespace GroupCore.Tests.Groups;

/// <summary>Point-to-point messages to a member whose state is on its way: held in bounds, and never dropped while their sender waits.</summary>
public sealed class StatelessPeerTests
{
    private const int Bytes = 400_000;
    private const int Messages = 250;

    // The giver's save takes so much virtual time.
    private static (GroupCluster Cluster, TestMember Comer) Loading(ulong seed, int seconds, List<int> got)
    {
        GroupCluster? all = null;
        var cluster = new GroupCluster(seed, 1, more: g => g.HandleBytes("bytes", (from, bytes) => got.Add(bytes.Length)),
            tap: node => new DelayingNode(all!.Simulation, node, work => work is StateCut ? TimeSpan.FromSeconds(seconds) : TimeSpan.Zero), beforeMembers: c => all = c);
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        var comer = cluster.Add();
        Assert.True(cluster.Simulation.RunUntil(() => comer.Host.Groups is [{ Phase: GroupPhase.Loading }] && cluster[0].Group!.CurrentView.Members.Count == 2, TimeSpan.FromSeconds(5)));
        return (cluster, comer);
    }

    private static void Send(GroupCluster cluster, int count, int bytes)
    {
        byte[] payload = new byte[bytes];
        for (int i = 0; i < count; i++) _ = cluster.Simulation.Spawn(() => cluster[0].Group!.SendToAsync<ReadOnlyMemory<byte>>(1, "bytes", payload).AsTask());
    }

    [Fact]
    public void R3_more_than_a_joiner_holds_waits_at_its_sender_and_comes_when_the_state_is_loaded()
    {
        List<int> got = [];
        var (cluster, comer) = Loading(51, 20, got);
        using var closing = cluster;
        Send(cluster, Messages, Bytes);
        cluster.Simulation.Run(TimeSpan.FromSeconds(5));
        var peers = cluster[0].Group!.Protocol.Peers;
        Assert.True(peers.Outstanding is > 0 and <= 12, $"{peers.Outstanding} out");
        Assert.Empty(got);
        Assert.True(cluster.Simulation.RunUntil(() => comer.Group is not null && got.Count == Messages, TimeSpan.FromSeconds(40)), $"{got.Count} came");
        cluster.Simulation.Run(TimeSpan.FromSeconds(3));
        Assert.Equal(0, cluster[0].Group!.Protocol.Peers.Outstanding);
        Assert.Empty(cluster.Oracle.Accusations);
    }

    [Fact]
    public void R3_what_a_joiner_holds_unacknowledged_keeps_no_view_change()
    {
        var (cluster, comer) = Loading(52, 100, []);
        using var closing = cluster;
        Send(cluster, Messages, Bytes);
        cluster.Simulation.Run(TimeSpan.FromSeconds(5));
        ulong view = cluster[0].Group!.CurrentView.Id;
        Assert.True(cluster[0].Group!.Protocol.Peers.Outstanding > 0);
        cluster.Oracle.RequestView(cluster.Oracle.Find("g")!.Id);
        Assert.True(cluster.Simulation.RunUntil(() => cluster[0].Group!.CurrentView.Id > view, TimeSpan.FromSeconds(5)));
        Assert.Empty(cluster.Oracle.Accusations);
        Assert.Equal(GroupPhase.Loading, comer.Host.Groups[0].Phase);
    }
}
