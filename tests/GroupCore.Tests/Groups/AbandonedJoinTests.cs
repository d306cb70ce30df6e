using GroupCore.Groups;
using GroupCore.Groups.Dispatch;
using GroupCore.Groups.Views;

namespace GroupCore.Tests.Groups;

/// <summary>A cancelled join gives its caller no group to dispose of, so the membership must end by itself, and must not hold the other members up.</summary>
public sealed class AbandonedJoinTests
{
    [Fact]
    public void A_join_cancelled_behind_a_load_that_hangs_holds_no_view_change_of_the_others_up()
    {
        GroupCluster? all = null;
        bool hangs = false;
        using var cluster = new GroupCluster(1, 2, more: g => g.HandleBytes("bytes", static (from, bytes) => { }), beforeMembers: c => all = c, tap: node =>
        {
            bool mine = hangs;
            return new DelayingNode(all!.Simulation, node, work => mine && work is Dispatcher ? TimeSpan.FromHours(1) : TimeSpan.Zero);
        });
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        hangs = true;
        using var cancel = new CancellationTokenSource();
        var comer = cluster.Add(token: cancel.Token);
        Assert.True(cluster.Simulation.RunUntil(() => comer.Host.Groups is [{ Phase: GroupPhase.Member }], TimeSpan.FromSeconds(2)));
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        var group = cluster[0].Group!;
        _ = cluster.Simulation.Spawn(() => group.SendToAsync<ReadOnlyMemory<byte>>(group.Protocol.View!.RankOf(comer.Id), "bytes", Array.Empty<byte>()).AsTask());
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        comer.End();
        cluster.Simulation.After(TimeSpan.Zero, cancel.Cancel);
        Assert.True(cluster.Simulation.RunUntil(() => comer.JoinError is OperationCanceledException, TimeSpan.FromSeconds(1)));
        Assert.True(cluster.Simulation.RunUntil(() => cluster.Members.Take(2).All(static m => m.Group!.Protocol is { IsWedged: false, View.Members.Count: 2 }), TimeSpan.FromSeconds(7)), $"{group.Protocol}");
        Assert.True(cluster.Simulation.RunUntil(() => comer.Host.Groups.Count == 0, TimeSpan.FromSeconds(1)));
        Assert.Empty(cluster.Oracle.Suspicions);
    }

    /// <summary>Two joins with different options wait for one that was given up: the first of the two counts, and the second is refused.</summary>
    [Fact]
    public void A_join_that_waits_for_one_that_was_given_up_is_not_overtaken()
    {
        using var cluster = new GroupCluster(2, 1);
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        using var cancel = new CancellationTokenSource();
        var comer = cluster.Add(token: cancel.Token);
        comer.Membership.Deaf = true;
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(10));
        cluster.Simulation.After(TimeSpan.Zero, cancel.Cancel);
        Assert.True(cluster.Simulation.RunUntil(() => comer.Host.Groups is [{ Phase: GroupPhase.Abandoned }], TimeSpan.FromSeconds(1)));
        Group? other = null;
        _ = cluster.Simulation.Spawn(async () => other = await comer.Host.JoinAsync("g", static g => g.Handle<ulong[]>("fifo", static (from, m) => { }), new() { SlowMemberTimeout = TimeSpan.FromSeconds(7) }));
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(10));
        Exception? error = null;
        _ = cluster.Simulation.Spawn(async () => error = await Record.ExceptionAsync(() => comer.Host.JoinAsync("g", static g => { }, new() { Composition = GroupCore.Membership.Composition.HotSwap }).AsTask()));
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(10));
        Assert.IsType<InvalidOperationException>(error);
        comer.Membership.Deaf = false;
        Assert.True(cluster.Simulation.RunUntil(() => other is not null, TimeSpan.FromSeconds(20)));
    }
}
