using System.Buffers.Binary;
using GroupCore.Membership;
using GroupCore.Runtime;
using GroupCore.Wire;
using Ida.Testing;

namespace GroupCore.Tests.Groups;

/// <summary>Frames of flushes in which this member takes no part, or not yet, and what several groups say of one member that their flushes wait for.</summary>
public sealed class FlushWaitTests
{
    [Fact]
    public void R14_a_member_that_takes_no_part_in_a_proposal_refuses_its_frames()
    {
        using var cluster = new GroupCluster(31, 3);
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        var target = cluster[2];
        Exception? thrown = null;
        long refused = 0;
        target.SimNode.Post(() =>
        {
            var group = target.Group!.Protocol;
            var view = group.View!;
            group.OnPropose(new Proposal(view.Group, 1_000_000, view.Id, [view.Members[0].Id, view.Members[1].Id], [], []));
            byte[] body = new byte[9];
            BinaryPrimitives.WriteUInt64LittleEndian(body, 1_000_000);
            long before = target.SimNode.Node.Counters.Refused(RefusalReason.Unexpected);
            thrown = Record.Exception(() => group.Flush.OnFrame(0, FrameType.FlushWait, body));
            refused = target.SimNode.Node.Counters.Refused(RefusalReason.Unexpected) - before;
        });
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(10));
        Assert.Null(thrown);
        Assert.Equal(1, refused);
    }

    [Fact]
    public void R6_a_suspicion_that_one_group_withdraws_stands_while_another_group_has_it()
    {
        using var cluster = new GroupCluster(32, 4);
        Assert.True(cluster.Settle());
        foreach (var member in cluster.Members) _ = cluster.Simulation.Spawn(() => member.Host.JoinAsync("h", static h => { }).AsTask());
        Assert.True(cluster.Simulation.RunUntil(() => cluster.Oracle.Find("h") is { Pending: null, Members.Count: 4 } h && h.Members.TrueForAll(static m => m.Initialised), TimeSpan.FromSeconds(10)));
        _ = cluster.Simulation.Spawn(cluster[3].LeaveAsync);
        Assert.True(cluster.Simulation.RunUntil(() => cluster[3].Host.Groups.Count == 1, TimeSpan.FromSeconds(5)));
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        // The second member is out of reach: both groups wait for it, and say so.
        foreach (var other in new[] { cluster[0], cluster[2], cluster[3] }) cluster.Simulation.Network.Cut(cluster[1].SimNode, other.SimNode, CutMode.Drop);
        foreach (string name in new[] { "g", "h" }) cluster.Oracle.RequestView(cluster.Oracle.Find(name)!.Id);
        cluster.Simulation.Run(TimeSpan.FromSeconds(4));
        Assert.Contains((cluster[1].Id, Suspicion.FlushStall), cluster.Oracle.Suspicions);
        Assert.Empty(cluster.Oracle.Withdrawals);
        // The flush of one of them begins again.
        cluster[3].Crash();
        cluster.Oracle.Fail(cluster[3].Membership);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(500));
        Assert.DoesNotContain(cluster[1].Id, cluster.Oracle.Withdrawals);
        cluster.Simulation.Network.Heal();
        Assert.True(cluster.Simulation.RunUntil(() => cluster.Oracle.Find("g")!.Pending is null && cluster.Oracle.Find("h")!.Pending is null, TimeSpan.FromSeconds(20)));
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        // When both flushes are over, no group suspects it any more.
        Assert.Contains(cluster[1].Id, cluster.Oracle.Withdrawals);
    }

    [Fact]
    public void R15_frames_of_a_proposal_to_come_are_bounded_by_what_they_cost_and_not_by_their_bytes()
    {
        using var cluster = new GroupCluster(33, 2);
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        var target = cluster[1];
        long refused = 0;
        target.SimNode.Post(() =>
        {
            var flush = target.Group!.Protocol.Flush;
            byte[] body = new byte[8];
            BinaryPrimitives.WriteUInt64LittleEndian(body, 1_000_000);
            long before = target.SimNode.Node.Counters.Refused(RefusalReason.Unexpected);
            for (int i = 0; i < 1_000_000; i++) flush.OnFrame(0, FrameType.FlushAck, body);
            refused = target.SimNode.Node.Counters.Refused(RefusalReason.Unexpected) - before;
        });
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(10));
        Assert.True(refused > 0);
    }
}
