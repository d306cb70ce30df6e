using GroupCore.Groups;
using GroupCore.Groups.Dispatch;
using GroupCore.Groups.State;
using GroupCore.Groups.Views;

namespace GroupCore.Tests.Groups;

/// <summary>Each view begins the transfer of the state again. A join still ends in bounded time, but not merely because its transfer takes longer than some views.</summary>
public sealed class JoinProgressTests
{
    /// <summary>Two members with a large state, and links that take a second for each megabyte. The giver's save and its handlers may be slow.</summary>
    private static GroupCluster Settled(ulong seed, int stateBytes, double savesFor = 0, double handlersTake = 0)
    {
        GroupCluster? all = null;
        bool slow = false;
        var cluster = new GroupCluster(seed, 2, beforeMembers: c => all = c, link: new() { BytesPerSecond = 1_000_000 }, tap: node => new DelayingNode(all!.Simulation, node,
            work => TimeSpan.FromSeconds(!slow ? 0 : work is StateCut ? savesFor : work is Dispatcher ? handlersTake : 0)))
        {
            StateBytes = stateBytes,
        };
        Assert.True(cluster.Settle(60));
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        slow = true;
        return cluster;
    }

    [Theory]
    [InlineData(0, 0)]
    [InlineData(1.2, 0)]
    [InlineData(0, 1.2)]
    public void Views_that_come_faster_than_the_state_keep_no_join_waiting_for_ever(double savesFor, double handlersTake)
    {
        using var cluster = Settled(1, 8_000_000, savesFor, handlersTake);
        var comer = cluster.Add(host: new() { JoinTimeout = TimeSpan.FromSeconds(10) });
        for (int i = 0; i < 60 && comer.JoinError is null; i++)
        {
            _ = cluster.Simulation.Spawn(() => cluster[0].SendAsync(ordered: false));
            cluster.Simulation.Run(TimeSpan.FromSeconds(2.5));
            cluster.Oracle.RequestView(cluster.Oracle.Find("g")!.Id);
        }
        Assert.Null(comer.Group);
        Assert.Contains("begins again with each view", Assert.IsType<JoinTimeoutException>(comer.JoinError).WaitedFor, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(8)]
    public void A_transfer_that_views_interrupted_has_the_time_again_that_it_took(double savesFor)
    {
        using var cluster = Settled(2, 14_000_000, savesFor);
        var comer = cluster.Add(host: new() { JoinTimeout = TimeSpan.FromSeconds(10) });
        // The first transfer gets far; the next two are soon interrupted.
        foreach (double seconds in new[] { savesFor + 12, 2, 2 })
        {
            cluster.Simulation.Run(TimeSpan.FromSeconds(seconds));
            cluster.Oracle.RequestView(cluster.Oracle.Find("g")!.Id);
        }
        Assert.True(cluster.Simulation.RunUntil(() => comer.Group is not null || comer.JoinError is not null, TimeSpan.FromSeconds(60)));
        Assert.Null(comer.JoinError);
    }

    [Fact]
    public void A_transfer_that_takes_longer_than_before_goes_on_when_no_view_interrupts_it()
    {
        GroupCluster? all = null;
        bool slow = false;
        using var cluster = new GroupCluster(4, 2, beforeMembers: c => all = c, link: new() { BytesPerSecond = 1_000_000 }, tap: node => new DelayingNode(all!.Simulation, node,
            work => TimeSpan.FromSeconds(slow && work is StateCut ? 30 : 0)))
        {
            StateBytes = 14_000_000,
        };
        Assert.True(cluster.Settle(60));
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        var comer = cluster.Add(host: new() { JoinTimeout = TimeSpan.FromSeconds(10) });
        cluster.Simulation.Run(TimeSpan.FromSeconds(12));
        Assert.Equal(GroupPhase.Loading, comer.Host.Groups[0].Phase);
        slow = true;
        cluster.Oracle.RequestView(cluster.Oracle.Find("g")!.Id);
        Assert.True(cluster.Simulation.RunUntil(() => comer.Group is not null || comer.JoinError is not null, TimeSpan.FromSeconds(90)));
        Assert.Null(comer.JoinError);
    }

    [Fact]
    public void A_join_that_a_view_change_holds_up_says_whom_that_waits_for()
    {
        var gate = new TaskCompletionSource();
        int joined = 0;
        using var cluster = new GroupCluster(3, 2, more: g =>
        {
            bool hangs = ++joined == 2;
            g.HandleAsync<int>("hang", async (from, m) =>
            {
                if (hangs) await gate.Task.ConfigureAwait(false);
            }).OnError(static error => { });
        }, link: new() { BytesPerSecond = 1_000_000 })
        {
            StateBytes = 4_000_000,
        };
        Assert.True(cluster.Settle(60));
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        var comer = cluster.Add(host: new() { JoinTimeout = TimeSpan.FromSeconds(10) });
        Assert.True(cluster.Simulation.RunUntil(() => comer.Host.Groups is [{ Phase: GroupPhase.Loading }], TimeSpan.FromSeconds(5)));
        var sender = cluster[0].Group!;
        _ = cluster.Simulation.Spawn(() => sender.SendToAsync(sender.Protocol.View!.RankOf(cluster[1].Id), "hang", 1).AsTask());
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(500));
        cluster.Oracle.RequestView(cluster.Oracle.Find("g")!.Id);
        Assert.True(cluster.Simulation.RunUntil(() => comer.JoinError is not null, TimeSpan.FromSeconds(20)));
        Assert.Contains("a view change", Assert.IsType<JoinTimeoutException>(comer.JoinError).WaitedFor, StringComparison.Ordinal);
        cluster.Simulation.After(TimeSpan.Zero, gate.SetResult);
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
    }
}
