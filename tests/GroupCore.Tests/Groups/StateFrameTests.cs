using System.Buffers.Binary;
using GroupCore.Groups.State;
using GroupCore.Groups.Views;
using GroupCore.Wire;

namespace GroupCore.Tests.Groups;

/// <summary>From which member, and when, a joiner takes the state of its group.</summary>
public sealed class StateFrameTests
{
    /// <summary>Two members, of which the first takes 5 s to save, and a joiner.</summary>
    private static (GroupCluster Cluster, List<TestMember> ByRank, TestMember Comer) Loading(ulong seed)
    {
        GroupCluster? all = null;
        var cluster = new GroupCluster(seed, 2, beforeMembers: c => all = c,
            tap: node => new DelayingNode(all!.Simulation, node, static work => TimeSpan.FromSeconds(work is StateCut ? 5 : 0)));
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        List<TestMember> rank = [.. cluster.Members.OrderBy(m => m.Group!.Rank)];
        var comer = cluster.Add();
        Assert.True(cluster.Simulation.RunUntil(() => comer.Host.Groups is [{ Phase: GroupPhase.Loading }] && rank.TrueForAll(static m => m.Group!.CurrentView.Members.Count == 3), TimeSpan.FromSeconds(5)));
        return (cluster, rank, comer);
    }

    /// <summary>Sends a joiner a whole state that no handler has made.</summary>
    private static void Give(GroupCluster cluster, TestMember from, TestMember to)
    {
        from.SimNode.Post(() =>
        {
            byte[] state = new byte[24];
            var hash = new StateHash();
            hash.Add(state);
            Send(FrameType.StateOpen, state.Length, []);
            Send(FrameType.StateChunk, 0, state);
            Send(FrameType.StateEnd, state.Length, BitConverter.GetBytes(hash.Value));
        });
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));

        void Send(FrameType type, long number, byte[] rest)
        {
            var group = from.Group!.Protocol;
            var frame = group.Links.Frame(type, 8 + rest.Length);
            BinaryPrimitives.WriteInt64LittleEndian(frame, number);
            rest.CopyTo(frame[8..]);
            group.Links.SendTo(group.View!.RankOf(to.Id));
        }
    }

    [Fact]
    public void A_state_is_taken_from_the_coordinator_alone()
    {
        var (cluster, rank, comer) = Loading(151);
        using var _ = cluster;
        comer.End();
        Give(cluster, rank[1], comer);
        Assert.Equal(GroupPhase.Loading, comer.Host.Groups[0].Phase);
        Give(cluster, rank[0], comer);
        Assert.Equal(GroupPhase.Member, comer.Host.Groups[0].Phase);
    }

    [Fact]
    public void A_state_that_comes_when_its_joiner_is_wedged_is_not_taken()
    {
        var (cluster, rank, comer) = Loading(152);
        using var _ = cluster;
        var group = comer.Host.Groups[0];
        ulong view = group.View!.Id;
        // The view change waits for rank 1.
        rank[1].Membership.Deaf = true;
        cluster.Oracle.RequestView(cluster.Oracle.Find("g")!.Id);
        Assert.True(cluster.Simulation.RunUntil(() => group.IsWedged, TimeSpan.FromSeconds(2)));
        Give(cluster, rank[0], comer);
        Assert.Equal((GroupPhase.Loading, view), (group.Phase, group.View.Id));
        rank[1].Membership.Deaf = false;
        Assert.True(cluster.Settle(30));
        Assert.Null(cluster.Verdict());
    }
}
