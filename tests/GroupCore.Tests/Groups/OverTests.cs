using GroupCore.Groups.State;
using GroupCore.Groups.Views;
using GroupCore.Membership;
using GroupCore.Runtime;

namespace GroupCore.Tests.Groups;

/// <summary>A membership that is over, however it ended, holds nothing and does nothing any more.</summary>
public sealed class OverTests
{
    [Fact]
    public void A_giver_that_is_excluded_amid_a_transfer_holds_the_state_no_longer()
    {
        GroupCluster? all = null;
        WeakReference? given = null;
        using var cluster = new GroupCluster(1, 1, beforeMembers: c => all = c, link: new() { BytesPerSecond = 1_000_000 }, tap: node => new DelayingNode(all!.Simulation, node, work =>
        {
            if (work is StateCut cut) given = new(cut.Bytes);
            return TimeSpan.Zero;
        }))
        {
            StateBytes = 8_000_000,
        };
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        var comer = cluster.Add();
        Assert.True(cluster.Simulation.RunUntil(() => comer.Host.Groups is [{ Phase: GroupPhase.Loading }] && given is not null, TimeSpan.FromSeconds(5)));
        cluster.Simulation.Run(TimeSpan.FromSeconds(2));
        var held = cluster[0].Group!;
        cluster[0].End();
        cluster.Oracle.Fail(cluster[0].Membership);
        Assert.True(cluster.Simulation.RunUntil(() => held.Completion.IsCompleted, TimeSpan.FromSeconds(5)));
        cluster.Simulation.Run(TimeSpan.FromSeconds(2));
        GC.Collect();
        GC.WaitForPendingFinalizers();
        GC.Collect();
        Assert.False(given!.IsAlive);
        GC.KeepAlive(held);
    }

    /// <summary>The process is excluded while the first of two handlers is at work.</summary>
    [Theory]
    [InlineData("hook")]
    [InlineData("view")]
    public void No_later_handler_of_an_event_begins_once_the_membership_has_failed(string kind)
    {
        GroupCluster? all = null;
        bool ends = false;
        int joined = 0, later = 0;
        using var cluster = new GroupCluster(2, 3, beforeMembers: c => all = c, more: g =>
        {
            int me = joined++;
            void First()
            {
                // In reality the loop does this while handlers run.
                if (me == 1 && ends) all![1].Host.OnMembershipState(MembershipState.Excluded, "the test says so");
            }
            void Second() => later += me == 1 && ends ? 1 : 0;
            if (kind == "view") g.OnView(view => First()).OnView(view => Second());
            else
            {
                g.OnViewProposed((proposal, context) => First()).OnViewProposed((proposal, context) =>
                {
                    Second();
                    context.Done();
                });
            }
            g.OnError(static error => { });
        });
        Assert.True(cluster.Simulation.RunUntil(() => cluster.Members.TrueForAll(static m => m.Group?.CurrentView.Members.Count == 3), TimeSpan.FromSeconds(20)));
        cluster.Simulation.Run(TimeSpan.FromSeconds(8));
        var group = cluster[1].Group!.Protocol;
        cluster[1].End();
        ends = true;
        cluster.Oracle.RequestView(cluster.Oracle.Find("g")!.Id);
        Assert.True(cluster.Simulation.RunUntil(() => group.IsOver, TimeSpan.FromSeconds(5)));
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        Assert.Equal(0, later);
    }

    [Fact]
    public void Nothing_waits_for_the_time_of_a_dispose_that_is_over()
    {
        using var cluster = new GroupCluster(3, 2, beforeMembers: static c => c.HostOptions = new() { DisposeTimeout = TimeSpan.FromHours(1) });
        Assert.True(cluster.Settle());
        var node = Assert.IsType<Node>(cluster[1].SimNode.Node);
        cluster[1].End();
        bool disposed = false;
        _ = cluster.Simulation.Spawn(async () =>
        {
            await cluster[1].Group!.DisposeAsync();
            disposed = true;
        });
        cluster.Simulation.Run(TimeSpan.FromMinutes(1));
        Assert.True(disposed);
        Assert.True(node.NextTimer == long.MaxValue || node.NextTimer - node.Now < 60_000_000_000, $"the next timer is due in {(node.NextTimer - node.Now) / 1_000_000_000} s");
    }

    /// <summary>A member that cannot stay, for example because it has lost what another sent, remains in the flush that is going on.</summary>
    [Fact]
    public void Hooks_that_are_not_called_because_the_membership_has_failed_hold_no_view_change_up()
    {
        GroupCluster? all = null;
        bool fails = false;
        int joined = 0, later = 0;
        using var cluster = new GroupCluster(4, 3, beforeMembers: c => all = c, more: g =>
        {
            int me = joined++;
            g.OnViewProposed((proposal, context) =>
            {
                // In reality the loop does this while handlers run.
                if (me == 1 && fails) all![1].Host.Groups[0].FailJoin("the test says so");
                context.Done();
            }).OnViewProposed((proposal, context) =>
            {
                if (me == 1 && fails) later++;
                context.Done();
            }).OnError(static error => { });
        });
        Assert.True(cluster.Simulation.RunUntil(() => cluster.Members.TrueForAll(static m => m.Group?.CurrentView.Members.Count == 3), TimeSpan.FromSeconds(20)));
        cluster.Simulation.Run(TimeSpan.FromSeconds(8));
        var failed = cluster[1].Group!.Protocol;
        var stays = cluster[0].Group!.Protocol;
        ulong view = stays.View!.Id;
        cluster[1].End();
        fails = true;
        cluster.Oracle.RequestView(cluster.Oracle.Find("g")!.Id);
        Assert.True(cluster.Simulation.RunUntil(() => stays.View!.Id > view, TimeSpan.FromSeconds(5)));
        Assert.NotNull(failed.Over);
        Assert.Equal((0, 0), (later, failed.Status.HooksGivenUp));
    }

    /// <summary>The completion that reports the failure is still to come.</summary>
    [Fact]
    public void Nothing_waits_for_the_handlers_of_a_membership_that_failed_in_the_turn_of_the_dispose()
    {
        using var cluster = new GroupCluster(5, 2, beforeMembers: static c => c.HostOptions = new() { DisposeTimeout = TimeSpan.FromHours(1) });
        Assert.True(cluster.Settle());
        var node = Assert.IsType<Node>(cluster[1].SimNode.Node);
        var group = cluster[1].Group!.Protocol;
        cluster[1].End();
        cluster[1].SimNode.Post(() =>
        {
            cluster[1].Host.OnMembershipState(MembershipState.Excluded, "the test says so");
            group.LeaveSoon();
        });
        cluster.Simulation.Run(TimeSpan.FromMinutes(1));
        Assert.True(group.IsOver);
        Assert.True(node.NextTimer == long.MaxValue || node.NextTimer - node.Now < 60_000_000_000, $"the next timer is due in {(node.NextTimer - node.Now) / 1_000_000_000} s");
    }
}
