using GroupCore.Groups;
using GroupCore.Groups.State;

namespace GroupCore.Tests.Groups;

/// <summary>A member that has asked a query leaves, and the group ends with it.</summary>
public sealed class LeavingAskerTests
{
    /// <summary>
    /// A sequencer that a message did not reach orders a query before that message and answers the query, but its order is lost. The asker, which leaves and is the last holder
    /// of the state, delivers the message first.
    /// </summary>
    [Fact]
    public void What_a_failed_member_answered_from_an_order_that_is_lost_does_not_count_when_the_group_ends_with_the_asker()
    {
        GroupCluster? all = null;
        var notes = new Dictionary<int, int>();
        int joined = 0;
        bool loads = false;
        using var cluster = new GroupCluster(1, 3, beforeMembers: c => all = c, more: g =>
        {
            int me = joined++;
            notes[me] = 0;
            g.Handle<int>("note", (from, _) => notes[me]++).OnQuery<int, int>("notes", (from, _) => notes[me]).OnError(static error => { });
        }, tap: node => new DelayingNode(all!.Simulation, node, work => loads && work is StateCut ? TimeSpan.FromHours(1) : TimeSpan.Zero));
        cluster.Oracle.Loss = 0;
        Assert.True(cluster.Settle());
        loads = true;
        var comer = cluster.Add();
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        var rank = cluster.Members.Where(m => m != comer).OrderBy(static member => member.Group!.Rank).ToList();
        Assert.Equal(4, rank[0].Group!.CurrentView.Members.Count);
        var network = cluster.Simulation.Network;
        network.Cut(rank[0].SimNode, rank[1].SimNode);
        network.Cut(rank[0].SimNode, comer.SimNode);
        network.Cut(rank[1].SimNode, rank[0].SimNode);
        network.Slow(rank[0].SimNode, rank[2].SimNode, 1_000);
        rank[0].Membership.Deaf = true;
        IReadOnlyList<MemberReply<int>>? replies = null;
        Exception? error = null;
        _ = cluster.Simulation.Spawn(async () => await rank[1].Group!.OrderedSendAsync("note", 1));
        _ = cluster.Simulation.Spawn(async () => error = await Record.ExceptionAsync(async () => replies = await rank[2].Group!.OrderedQueryAsync<int, int>("notes", 1, Replies.First)));
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(2));
        _ = cluster.Simulation.Spawn(rank[2].LeaveAsync);
        cluster.Simulation.Run(TimeSpan.FromSeconds(3));
        Assert.True(replies is null && error is null);
        foreach (var lost in rank[..2]) lost.Crash();
        cluster.Oracle.Fail(rank[0].Membership, rank[1].Membership);
        Assert.True(cluster.Simulation.RunUntil(() => replies is not null || error is not null, TimeSpan.FromSeconds(20)), $"{rank[2].Group!.Protocol}");
        Assert.True(cluster.Oracle.Find("g")!.Lost);
        Assert.Null(replies);
        Assert.IsType<NotMemberException>(error);
        Assert.Equal(1, notes[cluster.IndexOf(rank[2])]);
    }
}
