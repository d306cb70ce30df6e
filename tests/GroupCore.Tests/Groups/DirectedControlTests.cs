using GroupCore.Groups;
using GroupCore.Runtime;
using Ida.Testing.Checking;

namespace GroupCore.Tests.Groups;

/// <summary>
/// Rules of views (views-and-flush.md#rules) whose absence needs a schedule made for it: each of these schedules breaks a guarantee without the rule
/// and none with all rules.
/// </summary>
public sealed class DirectedControlTests
{
    [Fact]
    public void A_message_whose_cause_has_lost_its_position_is_dropped_by_all()
    {
        Assert.Null(LosePositionOfCause(Rule.None));
        Assert.Contains("before its cause", LosePositionOfCause(Rule.R4ClosureTrim), StringComparison.Ordinal);
        Assert.Contains("before its cause", LosePositionOfCause(Rule.OrderDependency), StringComparison.Ordinal);
    }

    [Fact]
    public void Frames_of_an_excluded_member_are_refused()
    {
        Assert.Null(SpeakAfterExclusion(Rule.None));
        string? broken = SpeakAfterExclusion(Rule.OldViewRefused);
        Assert.NotNull(broken);
        // The message of the excluded member counts as one of the member that has its rank now, which knows of no such message.
        Assert.Contains("delivered", broken, StringComparison.OrdinalIgnoreCase);
    }

    [Fact]
    public void Messages_to_one_member_of_an_excluded_one_are_refused()
    {
        Assert.Null(SpeakAfterExclusion(Rule.None, toOne: true));
        string? broken = SpeakAfterExclusion(Rule.OldViewRefused, toOne: true);
        Assert.NotNull(broken);
        Assert.Contains(nameof(GroupGuarantee.SendingView), broken, StringComparison.Ordinal);
        Assert.Contains(nameof(GroupGuarantee.Finalisation), broken, StringComparison.Ordinal);
    }

    [Fact]
    public void A_removed_member_starts_nothing_in_a_flush()
    {
        Assert.Null(StartChainWhenRemoved(Rule.None));
        Assert.Contains("not received", StartChainWhenRemoved(Rule.R12RefuseRemoved), StringComparison.Ordinal);
    }

    [Fact]
    public void The_order_that_a_caller_of_flush_saw_survives_it()
    {
        Assert.Null(LoseOrderAfterFlush(Rule.None));
        Assert.NotNull(LoseOrderAfterFlush(Rule.FlushOrderPart));
    }

    private static (GroupCluster Cluster, List<TestMember> ByRank) Settled(Rule without, Action<GroupBuilder>? more = null)
    {
        var cluster = new GroupCluster(31, 4, without, more: more);
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        return (cluster, [.. cluster.Members.OrderBy(m => m.Group!.Rank)]);
    }

    /// <summary>Only rank 1 hears the sequencer: it delivers what rank 2 sent and sends a message after it; then both are gone.</summary>
    private static string? LosePositionOfCause(Rule without)
    {
        var (cluster, rank) = Settled(without);
        using var _ = cluster;
        foreach (int deaf in new[] { 2, 3 }) cluster.Simulation.Network.Cut(rank[0].SimNode, rank[deaf].SimNode);
        cluster.Simulation.Spawn(() => rank[2].SendAsync(ordered: true));
        Assert.True(cluster.Simulation.RunUntil(() => rank[1].LastOrdered != 0, TimeSpan.FromSeconds(1)));
        cluster.Simulation.Spawn(() => rank[1].SendAsync(ordered: true));
        Assert.True(cluster.Simulation.RunUntil(() => new[] { 2, 3 }.All(r => rank[r].Group!.Protocol.Multicast.ReceivedOf(1) == 1), TimeSpan.FromSeconds(1)));
        Fail(cluster, rank[0], rank[1]);
        return Rest(cluster);
    }

    /// <summary>Rank 1 has not heard that it is out, and sends in the view it knows.</summary>
    private static string? SpeakAfterExclusion(Rule without, bool toOne = false)
    {
        var (cluster, rank) = Settled(without);
        using var _ = cluster;
        ulong old = rank[0].Group!.CurrentView.Id;
        rank[1].Membership.Deaf = true;
        cluster.Oracle.Fail(rank[1].Membership);
        Assert.True(cluster.Simulation.RunUntil(() => rank[0].Group!.CurrentView.Id > old && rank[2].Group!.CurrentView.Id > old && rank[3].Group!.CurrentView.Id > old, TimeSpan.FromSeconds(3)));
        cluster.Simulation.Spawn(() => toOne ? rank[1].SendToAsync(2, hops: 0) : rank[1].SendAsync(ordered: false));
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        rank[1].End();
        if (without == Rule.None) Assert.True(rank[toOne ? 2 : 0].SimNode.Node.Counters.Refused(RefusalReason.StaleView) > 0);
        return Rest(cluster);
    }

    /// <summary>Rank 2 has acknowledged the flush when rank 1, which is out, sends it a message whose handler sends on to rank 3.</summary>
    private static string? StartChainWhenRemoved(Rule without)
    {
        GroupCluster? built = null;
        List<TestMember> rank = [];
        (built, rank) = Settled(without, g => g.Handle<byte[]>("start", (from, m) => { _ = rank[2].SendToAsync(3, 0, chained: true); }));
        using var cluster = built;
        ulong old = rank[0].Group!.CurrentView.Id;
        rank[1].Membership.Deaf = true;
        cluster.Oracle.Fail(rank[1].Membership);
        Assert.True(cluster.Simulation.RunUntil(() => rank[2].Group!.Protocol.Flush.Acked && rank[3].Group!.Protocol.Flush.Acked, TimeSpan.FromSeconds(3)));
        foreach (var member in rank) member.Membership.Deaf = true;
        cluster.Simulation.Network.Cut(rank[2].SimNode, rank[3].SimNode);
        cluster.Simulation.Spawn(async () =>
        {
            try
            {
                await rank[1].Group!.SendToAsync(2, "start", Array.Empty<byte>());
            }
            catch (Exception error) when (error is ExcludedException or NotMemberException)
            {
                // It hears that it is out before or after.
            }
        });
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        foreach (var member in rank) member.Membership.Deaf = member == rank[1];
        Assert.True(cluster.Simulation.RunUntil(() => rank[3].Group!.CurrentView.Id > old, TimeSpan.FromSeconds(3)));
        cluster.Simulation.Network.Heal();
        rank[1].End();
        return Rest(cluster);
    }

    /// <summary>Only rank 1 hears the sequencer: rank 3's message before rank 2's. Its flush returns, and both are gone.</summary>
    private static string? LoseOrderAfterFlush(Rule without)
    {
        var (cluster, rank) = Settled(without);
        using var _ = cluster;
        foreach (int deaf in new[] { 2, 3 }) cluster.Simulation.Network.Cut(rank[0].SimNode, rank[deaf].SimNode);
        foreach (int sender in new[] { 3, 2 })
        {
            int before = rank[1].DeliveredInView.Count;
            cluster.Simulation.Spawn(() => rank[sender].SendAsync(ordered: true));
            Assert.True(cluster.Simulation.RunUntil(() => rank[1].DeliveredInView.Count > before, TimeSpan.FromSeconds(1)));
        }
        bool returned = false;
        cluster.Simulation.Spawn(async () => returned = await rank[1].FlushAsync());
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        Assert.Equal(without != Rule.None, returned);
        Fail(cluster, rank[0], rank[1]);
        return Rest(cluster);
    }

    private static void Fail(GroupCluster cluster, params TestMember[] members)
    {
        foreach (var member in members) member.Crash();
        cluster.Oracle.Fail([.. members.Select(m => m.Membership)]);
    }

    private static string? Rest(GroupCluster cluster)
    {
        bool settled = cluster.Settle();
        cluster.Simulation.Run(TimeSpan.FromSeconds(2));
        string? verdict = cluster.Verdict();
        return settled ? verdict : $"members stay wedged\n{verdict}";
    }
}
