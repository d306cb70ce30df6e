using System.Buffers.Binary;
using GroupCore.Groups.Calls;
using GroupCore.Groups.Shared;
using GroupCore.Membership;
using GroupCore.Wire;

namespace GroupCore.Tests.Groups;

/// <summary>What a member must have when it acknowledges a flush, and what the flush makes of its acknowledgement.</summary>
public sealed class FlushAckTests
{
    private static (GroupCluster Cluster, List<TestMember> ByRank) Settled(ulong seed, int members)
    {
        var cluster = new GroupCluster(seed, members);
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        return (cluster, [.. cluster.Members.OrderBy(m => m.Group!.Rank)]);
    }

    private static void Fail(GroupCluster cluster, TestMember member)
    {
        member.Crash();
        cluster.Oracle.Fail(member.Membership);
    }

    /// <summary>Rank 3 acknowledges another end of the view than the others.</summary>
    [Fact]
    public void A_flush_in_which_one_member_has_another_end_of_the_view_does_not_end_before_that_one_is_out()
    {
        var (cluster, rank) = Settled(141, 4);
        using var _ = cluster;
        var (leader, odd) = (rank[0].Group!.Protocol, rank[3]);
        ulong view = leader.View!.Id;
        // Rank 3 does not hear of the proposal, so it says only what the test writes here.
        odd.Membership.Deaf = true;
        cluster.Oracle.RequestView(cluster.Oracle.Find("g")!.Id);
        Assert.True(cluster.Simulation.RunUntil(() => leader.IsWedged, TimeSpan.FromSeconds(2)));
        ulong proposal = leader.Flush.Wedge;
        odd.SimNode.Post(() =>
        {
            var group = odd.Group!.Protocol;
            var report = group.Multicast.Report(proposal);
            report.Write(group.Links.Frame(FrameType.Report, report.Size));
            group.Links.SendTo(0);
            var ack = group.Links.Frame(FrameType.FlushAck, 17);
            BinaryPrimitives.WriteUInt64LittleEndian(ack, proposal);
            ack[8] = 1;
            BinaryPrimitives.WriteUInt64LittleEndian(ack[9..], 12_345);
            group.Links.SendTo(0);
        });
        cluster.Simulation.Run(TimeSpan.FromSeconds(5));
        Assert.Equal(view, leader.View.Id);
        Assert.NotEmpty(cluster.Oracle.Suspicions);
        Assert.All(cluster.Oracle.Suspicions, a => Assert.Equal((odd.Id, Suspicion.FlushStall), a));
        Fail(cluster, odd);
        Assert.True(cluster.Settle());
        Assert.Null(cluster.Verdict());
    }

    [Fact]
    public void A_member_acknowledges_when_it_has_the_contributions_of_all_members_that_the_cut_names()
    {
        var member = new LoopbackGroup().Members[1];
        var flush = member.Group.Protocol.Flush;
        var cut = new FlushCut(1, 3);
        cut.Parts.AddRange([(0, 0), (2, 0)]);
        byte[] body = new byte[cut.Size];
        cut.Write(body);
        Propose(member);
        Give(member, 0, FrameType.Cut, body);
        Assert.NotNull(flush.Cut);
        Assert.False(flush.Acked);
        Give(member, 0, FrameType.CutPart, Part(0));
        Assert.False(flush.Acked);
        Give(member, 0, FrameType.CutPart, Part(2));
        Assert.True(flush.Acked);
    }

    [Fact]
    public void A_leader_takes_a_report_when_it_has_the_contribution_that_this_tells_of()
    {
        var leader = new LoopbackGroup().Members[0];
        var flush = leader.Group.Protocol.Flush;
        Propose(leader);
        Give(leader, 1, FrameType.Report, Report(1, contributed: true));
        Give(leader, 2, FrameType.Report, Report(2, contributed: false));
        Assert.Null(flush.Cut);
        Give(leader, 1, FrameType.CutPart, Part(1));
        Give(leader, 1, FrameType.Report, Report(1, contributed: true));
        Assert.Equal([((ushort)1, (byte)0)], flush.Cut!.Parts);
    }

    /// <summary>Besides rank 4, which has failed, only the leader has what rank 4 sent. The leader fails when it has forwarded that to rank 1 and to no other member.</summary>
    [Fact]
    public void What_was_pulled_for_a_cut_that_is_superseded_is_in_the_next_one()
    {
        var (cluster, rank) = Settled(142, 5);
        using var _ = cluster;
        for (int deaf = 1; deaf < 4; deaf++) cluster.Simulation.Network.Cut(rank[4].SimNode, rank[deaf].SimNode);
        cluster.Simulation.Spawn(() => rank[4].SendAsync(ordered: false));
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        Assert.Equal(2, cluster.Checker.Deliveries);
        for (int deaf = 2; deaf < 4; deaf++) cluster.Simulation.Network.Cut(rank[0].SimNode, rank[deaf].SimNode);
        Fail(cluster, rank[4]);
        Assert.True(cluster.Simulation.RunUntil(() => rank[1].Group!.Protocol.Flush.Acked, TimeSpan.FromSeconds(3)));
        Fail(cluster, rank[0]);
        Assert.True(cluster.Settle());
        Assert.Equal(5, cluster.Checker.Deliveries);
        Assert.Null(cluster.Verdict());
    }

    /// <summary>The sequencer fails before it has given rank 2's message a position.</summary>
    [Fact]
    public void What_a_cut_leaves_without_a_position_is_delivered_with_the_next_view_and_not_when_it_is_acknowledged()
    {
        var (cluster, rank) = Settled(143, 4);
        using var _ = cluster;
        cluster.Simulation.Network.Cut(rank[2].SimNode, rank[0].SimNode);
        cluster.Simulation.Spawn(() => rank[2].SendAsync(ordered: true));
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        Fail(cluster, rank[0]);
        Assert.True(cluster.Simulation.RunUntil(() => rank.Skip(1).All(static m => m.Group!.Protocol.Flush.Acked), TimeSpan.FromSeconds(3)));
        // The next view is decided, and nobody hears of it.
        foreach (var member in rank) member.Membership.Deaf = true;
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(500));
        Assert.Equal(0, cluster.Checker.Deliveries);
        foreach (var member in rank) member.Membership.Deaf = false;
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        Assert.Equal(3, cluster.Checker.Deliveries);
        Assert.Null(cluster.Verdict());
    }

    private static void Do(LoopbackNode member, Action what)
    {
        member.Group.Protocol.Post(new CallCommand(() =>
        {
            member.Group.Protocol.Touch();
            what();
        }));
        member.Turn(0);
    }

    /// <summary>A view change with the same members.</summary>
    private static void Propose(LoopbackNode member) => Do(member, () =>
    {
        var view = member.Group.Protocol.View!;
        member.Group.Protocol.OnPropose(new Proposal(view.Group, 1, view.Id, [.. view.Members.Select(m => m.Id)], [], []));
    });

    private static void Give(LoopbackNode member, int from, FrameType type, byte[] body) => Do(member, () => member.Group.Protocol.Flush.OnFrame(from, type, body));

    private static byte[] Part(int rank)
    {
        byte[] body = new byte[12];
        BinaryPrimitives.WriteUInt64LittleEndian(body, 1);
        BinaryPrimitives.WriteUInt16LittleEndian(body.AsSpan(8), (ushort)rank);
        return body;
    }

    private static byte[] Report(int rank, bool contributed)
    {
        var report = new FlushReport(1, rank, true, 3) { Parts = contributed ? 1 : 0 };
        byte[] body = new byte[report.Size];
        report.Write(body);
        return body;
    }
}
