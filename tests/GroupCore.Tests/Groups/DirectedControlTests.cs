using GroupCore.Groups;
using GroupCore.Runtime;
using Ida.Testing.Checking;

namespace GroupCore.Tests.Groups;

/// <summary>
/// Rules of views (views-and-flush.md#rules) whose absence shows only in a schedule made for it. Each schedule breaks a guarantee without its rule and none with all rules.
/// </summary>
public sealed class DirectedControlTests
{
    [Fact]
    public void A_message_whose_cause_has_lost_its_position_is_dropped_by_all()
    {
        Assert.Null(LosePositionOfCause(null));
        Assert.Contains(TestMember.BeforeItsCause, LosePositionOfCause(nameof(GroupRules.R4ClosureTrim)), StringComparison.Ordinal);
        Assert.Contains(TestMember.BeforeItsCause, LosePositionOfCause(nameof(GroupRules.OrderDependency)), StringComparison.Ordinal);
    }

    [Fact]
    public void A_frame_that_comes_behind_its_view_is_refused()
    {
        Assert.Null(ComeBehindItsView(null));
        // Without the rule it counts as the sender's first message of the next view.
        Assert.Contains($"{nameof(GroupGuarantee.SendingView)} at ", ComeBehindItsView(nameof(GroupRules.OldViewRefused)), StringComparison.Ordinal);
    }

    /// <summary>Two reasons apply: its frames are of an old view, and it has no rank in the current one.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Frames_of_an_excluded_member_are_refused(bool toOne)
    {
        Assert.Null(SpeakAfterExclusion(null, RefusalReason.StaleView, toOne));
        Assert.Null(SpeakAfterExclusion(nameof(GroupRules.OldViewRefused), RefusalReason.WrongSender, toOne));
    }

    [Fact]
    public void A_removed_member_starts_nothing_in_a_flush()
    {
        Assert.Null(StartChainWhenRemoved(null));
        Assert.Contains("not received", StartChainWhenRemoved(nameof(GroupRules.R12RefuseRemoved)), StringComparison.Ordinal);
    }

    [Fact]
    public void The_order_that_a_caller_of_flush_saw_survives_it()
    {
        Assert.Null(LoseOrderAfterFlush(null));
        Assert.Contains($"{nameof(GroupGuarantee.Flush)} at ", LoseOrderAfterFlush(nameof(GroupRules.FlushOrderPart)), StringComparison.Ordinal);
    }

    private static (GroupCluster Cluster, List<TestMember> ByRank) Settled(string? without, Action<GroupBuilder>? more = null)
    {
        var cluster = new GroupCluster(31, 4, without, more: more);
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        return (cluster, [.. cluster.Members.OrderBy(m => m.Group!.Rank)]);
    }

    /// <summary>Only rank 1 hears the sequencer. It delivers what rank 2 sent and sends a message after that; then the sequencer and rank 1 are gone.</summary>
    private static string? LosePositionOfCause(string? without)
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

    /// <summary>Rank 2's message is held up on its way to rank 3, which gets it from another member in the flush and goes on to the next view.</summary>
    private static string? ComeBehindItsView(string? without)
    {
        var (cluster, rank) = Settled(without);
        using var _ = cluster;
        ulong old = rank[0].Group!.CurrentView.Id;
        cluster.Simulation.Network.Cut(rank[2].SimNode, rank[3].SimNode);
        cluster.Simulation.Spawn(() => rank[2].SendAsync(ordered: false));
        Assert.True(cluster.Simulation.RunUntil(() => rank[0].Group!.Protocol.Multicast.ReceivedOf(2) == 1, TimeSpan.FromSeconds(1)));
        Fail(cluster, rank[1]);
        Assert.True(cluster.Simulation.RunUntil(() => rank[3].Group!.CurrentView.Id > old, TimeSpan.FromSeconds(3)));
        cluster.Simulation.Network.Heal();
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        if (without is null) Assert.True(rank[3].SimNode.Node.Counters.Refused(RefusalReason.StaleView) > 0);
        return Rest(cluster);
    }

    /// <summary>Rank 1 has not heard that it is excluded and sends in the view it knows. Its frames are refused for the given reason.</summary>
    private static string? SpeakAfterExclusion(string? without, RefusalReason reason, bool toOne)
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
        Assert.True(rank[toOne ? 2 : 0].SimNode.Node.Counters.Refused(reason) > 0);
        return Rest(cluster);
    }

    /// <summary>Rank 2 has acknowledged the flush. Then rank 1, which is out, sends it a message whose handler sends on to rank 3.</summary>
    private static string? StartChainWhenRemoved(string? without)
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
                // It may hear before or after that it is excluded.
            }
        });
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        foreach (var member in rank) member.Membership.Deaf = member == rank[1];
        Assert.True(cluster.Simulation.RunUntil(() => rank[3].Group!.CurrentView.Id > old, TimeSpan.FromSeconds(3)));
        cluster.Simulation.Network.Heal();
        rank[1].End();
        return Rest(cluster);
    }

    /// <summary>Only rank 1 hears from the sequencer that rank 3's message comes before rank 2's. Its flush returns, and then the sequencer and rank 1 are gone.</summary>
    private static string? LoseOrderAfterFlush(string? without)
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
        Assert.Equal(without is not null, returned);
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
