using GroupCore.Groups;
using GroupCore.Groups.Calls;
using GroupCore.Groups.Multicast;
using GroupCore.Transport.Mesh;
using Ida.Testing;

namespace GroupCore.Tests.Groups;

/// <summary>All that waits in the groups of a node and on its links is bounded together; each group has a little for itself.</summary>
public sealed class NodeQuotaTests
{
    private const int Bytes = 64 << 10;

    [Fact]
    public void R_calls_that_wait_in_groups_are_bounded_by_the_node_and_each_group_has_some_for_itself()
    {
        const long Limit = 8L << 20;
        using var cluster = new GroupCluster(new Simulation(new SimulationOptions { Seed = 91, MostQueuedBytes = Limit, ReplayCommand = "seed 91" }), 2, more: g => g.HandleBytes("bytes", static (from, bytes) => { }));
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        var held = cluster[0].SimNode.Links.Held;
        var groups = new List<Group> { cluster[0].Group! };
        _ = cluster.Simulation.Spawn(async () =>
        {
            for (int i = 0; i < 3; i++) groups.Add(await cluster[0].Host.JoinAsync($"other{i}", static g => g.HandleBytes("bytes", static (from, bytes) => { })));
        });
        Assert.True(cluster.Simulation.RunUntil(() => groups.Count == 4, TimeSpan.FromSeconds(10)));
        cluster[0].Membership.Block(true);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        int sent = 0;
        var refused = new List<SendQueueFullException>();
        void Send(Group group, int count)
        {
            for (int i = 0; i < count; i++)
            {
                _ = cluster.Simulation.Spawn(async () =>
                {
                    try
                    {
                        await group.OrderedSendAsync<ReadOnlyMemory<byte>>("bytes", new byte[Bytes]);
                        sent++;
                    }
                    catch (SendQueueFullException error)
                    {
                        refused.Add(error);
                    }
                });
            }
            cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        }
        Send(groups[0], 200);
        // The group's own block and the node's are used, and nothing of the 128 MiB beyond them.
        Assert.Equal((200 - (9 << 4), Limit), (refused.Count, held.CallBytes));
        Assert.All(refused, static error =>
        {
            Assert.Null(error.Receiver);
            Assert.Contains("this node", error.Message, StringComparison.Ordinal);
            Assert.InRange(error.RetryAfter, TimeSpan.FromMilliseconds(1), TimeSpan.FromSeconds(1));
        });
        refused.Clear();
        foreach (var group in groups.Skip(1)) Send(group, 20);
        Assert.Equal(3 * 4, refused.Count);
        cluster[0].Membership.Block(false);
        int taken = (9 << 4) + (3 * 16);
        Assert.True(cluster.Simulation.RunUntil(() => sent == taken, TimeSpan.FromSeconds(20)), $"{sent} of {taken}");
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        Assert.Equal(0, held.CallBytes);
        refused.Clear();
        Send(groups[3], 100);
        Assert.True(cluster.Simulation.RunUntil(() => sent == taken + 100, TimeSpan.FromSeconds(20)));
        Assert.Empty(refused);
    }

    [Fact]
    public void R_flushes_that_wait_are_calls_like_others()
    {
        using var cluster = new GroupCluster(92, 2);
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        cluster[0].Membership.Block(true);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        var group = cluster[0].Group!;
        int flushed = 0, refused = 0;
        for (int i = 0; i < 3; i++)
        {
            if (i == 1) for (int filled = group.Protocol.Calls.Budget.Calls; filled < GroupLimits.QueuedCalls; filled++) group.Protocol.Calls.Budget.Take(0, null, canWait: true);
            _ = cluster.Simulation.Spawn(async () =>
            {
                try
                {
                    await group.FlushAsync();
                    flushed++;
                }
                catch (SendQueueFullException)
                {
                    refused++;
                }
            });
            cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        }
        cluster[0].Membership.Block(false);
        Assert.True(cluster.Simulation.RunUntil(() => flushed == 1, TimeSpan.FromSeconds(5)));
        Assert.Equal((2, GroupLimits.QueuedCalls - 1), (refused, group.Protocol.Calls.Budget.Calls));
    }

    [Fact]
    public void R_flushes_share_rounds_and_each_ends_when_all_hold_what_was_sent_before_it()
    {
        using var cluster = new GroupCluster(93, 3, more: static g => g.HandleBytes("bytes", static (from, bytes) => { }));
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        var (from, late) = (cluster[0], cluster[1]);
        int rank = from.Group!.Rank, flushed = 0, early = 0;
        uint HeldBy(TestMember member) => member.Group!.Protocol.Multicast.ReceivedOf(rank);
        cluster.Simulation.Network.Cut(from.SimNode, late.SimNode, CutMode.Hold);
        for (int i = 0; i < 500; i++)
        {
            _ = cluster.Simulation.Spawn(async () =>
            {
                await from.Group.SendAsync<ReadOnlyMemory<byte>>("bytes", new byte[10]);
                uint sent = HeldBy(from);
                await from.Group.FlushAsync();
                flushed++;
                if (HeldBy(late) < sent || HeldBy(cluster[2]) < sent) early++;
            });
            cluster.Simulation.Run(TimeSpan.FromMilliseconds(1));
        }
        Assert.Equal((0, StabilityRounds.Most), (flushed, from.Group.Protocol.Multicast.StabilityRoundsOpen));
        cluster.Simulation.Network.Heal();
        Assert.True(cluster.Simulation.RunUntil(() => flushed == 500, TimeSpan.FromSeconds(5)), $"{flushed} flushed");
        Assert.Equal((0, 0), (early, from.Group.Protocol.Multicast.StabilityRoundsOpen));
    }

    [Fact]
    public void Room_that_links_hold_is_not_given_to_groups()
    {
        var node = new LinkBacklog(10L << 20);
        node.Add(8L << 20);
        var (one, other) = (new CallBudget("one", node), new CallBudget("other", node));
        // Each group takes its own block; the first takes two blocks of the node, too.
        one.Take(3 << 20, null, canWait: true);
        Assert.Equal(2L << 20, node.CallBytes);
        other.Take(1 << 20, null, canWait: true);
        var error = Assert.Throws<SendQueueFullException>(() => other.Take(1, null, canWait: true));
        Assert.Equal(("other", 1), (error.Group, error.Calls));
        Assert.False(node.IsFull);
        node.Remove(1L << 20);
        other.Take(1, null, canWait: true);
        other.Return(1, null, 0);
        other.Return(1 << 20, null, 0);
        one.TakeBack(3 << 20, null);
        Assert.Equal((0L, 0L, 0L), (node.CallBytes, one.Bytes, other.Bytes));
    }

    [Fact]
    public void A_message_larger_than_the_bound_goes_where_nothing_else_waits()
    {
        var node = new LinkBacklog(4L << 20);
        node.Add(4L << 20);
        var (one, other) = (new CallBudget("one", node), new CallBudget("other", node));
        one.Take(GroupLimits.MessageBytes, null, canWait: true);
        Assert.Throws<SendQueueFullException>(() => other.Take(2 << 20, null, canWait: true));
        one.Return(GroupLimits.MessageBytes, null, 0);
        other.Take(2 << 20, null, canWait: true);
    }

    /// <summary>Callers and the loop work at once: no room is granted twice, and none stays taken.</summary>
    [Fact]
    public void Callers_on_many_threads_leave_nothing_behind()
    {
        var node = new LinkBacklog(6L << 20);
        CallBudget[] groups = [new("a", node), new("b", node)];
        Parallel.For(0, 4, thread =>
        {
            var group = groups[thread % 2];
            for (int i = 0; i < 20_000; i++)
            {
                int taken = 0;
                try
                {
                    for (; taken < 4; taken++) group.Take(500_000, null, canWait: true);
                }
                catch (SendQueueFullException)
                {
                }
                Assert.InRange(node.CallBytes, 0, 8L << 20);
                while (taken-- > 0) group.TakeBack(500_000, null);
            }
        });
        Assert.Equal((0L, 0L, 0L), (node.CallBytes, groups[0].Bytes, groups[1].Bytes));
    }
}
