using GroupCore.Groups;

namespace GroupCore.Tests.Groups;

/// <summary>A membership may be over for its callers, but its member takes part in what the others do until there is a view without it.</summary>
public sealed class WithdrawnTests
{
    private static GroupCluster Settled(ulong seed, Action<GroupBuilder>? more = null)
    {
        var cluster = new GroupCluster(seed, 3, more: more);
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        return cluster;
    }

    [Fact]
    public void R3_frames_of_its_next_view_count_at_a_member_that_failed()
    {
        using var cluster = Settled(81);
        var failed = cluster[2];
        var protocol = failed.Group!.Protocol;
        var sender = cluster[0].Group!.Protocol;
        ulong view = protocol.View!.Id;
        cluster.Oracle.RequestView(cluster.Oracle.Find("g")!.Id);
        Assert.True(cluster.Simulation.RunUntil(() => protocol.Flush.Acked, TimeSpan.FromSeconds(5)));
        // The failed member hears of the next view after the others.
        failed.Membership.Deaf = true;
        failed.End();
        failed.SimNode.Post(() => protocol.FailJoin("the test says so"));
        Assert.True(cluster.Simulation.RunUntil(() => sender.View!.Id == view + 1, TimeSpan.FromSeconds(5)));
        Assert.False(sender.IsWedged);
        _ = cluster.Simulation.Spawn(() => cluster[0].SendToAsync(sender.View!.RankOf(failed.Id), 0));
        Assert.True(cluster.Simulation.RunUntil(() => sender.Peers.Outstanding > 0, TimeSpan.FromMilliseconds(1)));
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        Assert.Equal(view, protocol.View.Id);
        failed.Membership.Deaf = false;
        Assert.True(cluster.Simulation.RunUntil(() => protocol.IsOver, TimeSpan.FromSeconds(20)), $"{protocol}\n{sender}");
        Assert.Empty(cluster.Oracle.Suspicions);
    }

    [Theory]
    [InlineData("the process is excluded")]
    [InlineData("the group is over")]
    public void Handlers_of_a_membership_that_failed_are_not_called_any_more(string why)
    {
        var gate = new TaskCompletionSource();
        int joined = 0;
        int[] handled = new int[3];
        using var cluster = Settled(83, g =>
        {
            int me = joined++;
            g.HandleAsync<int>("hang", async (from, m) =>
            {
                if (me == 1) await gate.Task.ConfigureAwait(false);
            }).Handle<int>("count", (from, m) => handled[me]++);
        });
        var failed = cluster[1];
        _ = cluster.Simulation.Spawn(() => cluster[0].Group!.SendAsync("hang", 0).AsTask());
        for (int i = 0; i < 500; i++)
        {
            _ = cluster.Simulation.Spawn(() => cluster[0].Group!.SendAsync("count", 0).AsTask());
            if (i % 100 == 0) cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        }
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        failed.End();
        if (why == "the process is excluded") cluster.Oracle.Fail(failed.Membership);
        else failed.SimNode.Post(() => failed.Host.OnGroupOver(cluster.Oracle.Find("g")!.Id, "the test says so"));
        Assert.True(cluster.Simulation.RunUntil(() => failed.Group!.Completion.IsFaulted, TimeSpan.FromSeconds(2)));
        cluster.Simulation.After(TimeSpan.Zero, gate.SetResult);
        cluster.Simulation.Run(TimeSpan.FromSeconds(2));
        Assert.Equal([500, 0, 500], handled);
    }

    [Fact]
    public void R10_a_hook_that_never_says_done_holds_no_flush_up_once_its_member_has_failed()
    {
        using var cluster = Settled(82, g => g.OnViewProposed(static (proposal, context) => { }));
        var protocol = cluster[1].Group!.Protocol;
        cluster.Oracle.RequestView(cluster.Oracle.Find("g")!.Id);
        Assert.True(cluster.Simulation.RunUntil(() => !protocol.HooksEnded, TimeSpan.FromSeconds(1)));
        cluster[1].End();
        cluster[1].SimNode.Post(() => protocol.FailJoin("the test says so"));
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        cluster[2].Crash();
        cluster.Oracle.Fail(cluster[2].Membership);
        Assert.True(cluster.Simulation.RunUntil(() => protocol.IsOver, TimeSpan.FromSeconds(30)), $"{protocol}");
        Assert.True(cluster.Settle());
        Assert.Single(cluster[0].Group!.CurrentView.Members);
    }
}
