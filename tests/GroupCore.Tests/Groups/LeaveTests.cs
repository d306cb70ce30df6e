using GroupCore.Groups;
using GroupCore.Groups.State;
using GroupCore.Groups.Views;

namespace GroupCore.Tests.Groups;

/// <summary>A member that leaves has first sent all that it was asked to send.</summary>
public sealed class LeaveTests
{
    [Fact]
    public void What_a_handler_sent_before_its_member_leaves_is_delivered()
    {
        const int messages = 10_000;
        int got = 0;
        TestMember? leaver = null;
        using var cluster = new GroupCluster(131, 3, more: g => g
            .Handle<int>("burst", (from, number) =>
            {
                if (leaver!.Group!.Rank != number) return;
                for (int i = 0; i < messages; i++) _ = leaver.Group.SendAsync("one", i).AsTask();
            })
            .Handle<int>("one", (from, number) => got++));
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        leaver = cluster[2];
        int rank = leaver.Group!.Rank;
        _ = cluster.Simulation.Spawn(async () =>
        {
            await leaver.Group.SendToAsync(rank, "burst", rank);
            await leaver.LeaveAsync();
        });
        Assert.True(cluster.Simulation.RunUntil(() => leaver.Ended, TimeSpan.FromSeconds(30)), $"{leaver.Group.Protocol}");
        cluster.Simulation.Run(TimeSpan.FromSeconds(2));
        Assert.Equal(3 * messages, got);
        Assert.Null(cluster.Verdict());
    }

    /// <summary>The caller is told that nothing was done, so nothing may have been requested.</summary>
    [Fact]
    public void A_call_whose_token_is_cancelled_already_asks_for_nothing()
    {
        using var cluster = new GroupCluster(7, 2);
        Assert.True(cluster.Settle());
        var group = cluster[1].Group!;
        var cancelled = new CancellationToken(canceled: true);
        bool created = false;
        var calls = new[] { group.LeaveAsync(cancelled).AsTask(), group.AttachLayerAsync<TestLayer>(ToyLayers.First, _ => { created = true; throw new NotSupportedException(); }, cancelled).AsTask() };
        Assert.All(calls, static call => Assert.Equal(TaskStatus.Canceled, call.Status));
        cluster.Simulation.Run(TimeSpan.FromSeconds(5));
        Assert.False(created);
        Assert.Equal(GroupPhase.Member, group.Protocol.Phase);
        Assert.Equal(2, group.CurrentView.Members.Count);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void What_completed_before_its_member_leaves_is_delivered_over_a_slow_link(bool dispose)
    {
        const int messages = 60;
        int[] got = new int[3];
        int joined = 0;
        using var cluster = new GroupCluster(132, 3, link: new() { BytesPerSecond = 2_500_000 }, beforeMembers: static c => c.HostOptions = new() { DisposeTimeout = TimeSpan.FromSeconds(20) }, more: g =>
        {
            int me = joined++;
            g.Handle<byte[]>("bulk", (from, m) => got[me]++);
        });
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        var leaver = cluster[2];
        bool left = false;
        _ = cluster.Simulation.Spawn(async () =>
        {
            for (int i = 0; i < messages; i++) await leaver.Group!.SendAsync("bulk", new byte[60_000]);
            leaver.End();
            if (dispose) await leaver.Group!.DisposeAsync();
            else await leaver.Group!.LeaveAsync();
            left = true;
        });
        Assert.True(cluster.Simulation.RunUntil(() => left, TimeSpan.FromSeconds(30)), $"{leaver.Group!.Protocol}");
        cluster.Simulation.Run(TimeSpan.FromSeconds(5));
        Assert.Equal([messages, messages, messages], got);
    }

    /// <summary>The Oracle keeps the latest views only. A leaver that misses the view with which it left hears of a later one, and of no other after that.</summary>
    [Theory]
    [InlineData(1)]
    [InlineData(12)]
    public void A_leaver_that_missed_the_first_view_without_it_has_left_with_the_one_that_it_hears_of(int more)
    {
        using var cluster = new GroupCluster(135, 3);
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        var leaver = cluster[2];
        var (protocol, group) = (leaver.Group!.Protocol, cluster.Oracle.Find("g")!);
        ulong view = protocol.View!.Id;
        bool left = false;
        leaver.End();
        _ = cluster.Simulation.Spawn(async () =>
        {
            await leaver.Group.LeaveAsync();
            left = true;
        });
        Assert.True(cluster.Simulation.RunUntil(() => protocol.IsWedged && protocol.Flush.Acked, TimeSpan.FromSeconds(5)));
        leaver.Membership.Deaf = true;
        for (ulong next = view + 1; next <= view + 1 + (ulong)more; next++)
        {
            Assert.True(cluster.Simulation.RunUntil(() => cluster[0].Group!.Protocol.View!.Id == next && cluster[1].Group!.Protocol.View!.Id == next, TimeSpan.FromSeconds(5)));
            cluster.Oracle.RequestView(group.Id);
        }
        Assert.Equal((view, false), (protocol.View.Id, left));
        leaver.SimNode.Post(() => leaver.Host.OnInstall(group.Installed[^1]));
        Assert.True(cluster.Simulation.RunUntil(() => left, TimeSpan.FromSeconds(1)), $"{protocol}");
        Assert.True(leaver.Group.Completion.IsCompletedSuccessfully);
        // The name is free for another membership.
        leaver.Membership.Deaf = false;
        Assert.True(protocol.IsOver);
        Assert.Null(cluster.Verdict());
    }

    [Fact]
    public void The_last_holder_of_the_state_leaves_like_any_other_though_the_group_is_over_with_it()
    {
        const int messages = 100;
        var gate = new TaskCompletionSource();
        int handled = 0;
        GroupCluster? all = null;
        using var cluster = new GroupCluster(134, 1, beforeMembers: c => all = c,
            tap: node => new DelayingNode(all!.Simulation, node, work => work is StateCut ? TimeSpan.FromHours(1) : TimeSpan.Zero), more: g => g
                .HandleAsync<int>("one", async (from, number) =>
                {
                    await gate.Task.ConfigureAwait(false);
                    handled++;
                }));
        Assert.True(cluster.Settle());
        var comer = cluster.Add();
        Assert.True(cluster.Simulation.RunUntil(() => comer.Host.Groups is [{ Phase: GroupPhase.Loading }], TimeSpan.FromSeconds(5)));
        var leaver = cluster[0];
        for (int i = 0; i < messages; i++) _ = cluster.Simulation.Spawn(() => leaver.Group!.SendAsync("one", 0).AsTask());
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        bool left = false;
        leaver.End();
        _ = cluster.Simulation.Spawn(async () =>
        {
            await leaver.Group!.LeaveAsync();
            left = true;
        });
        Assert.True(cluster.Simulation.RunUntil(() => comer.JoinError is JoinRefusedException, TimeSpan.FromSeconds(5)));
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        Assert.False(left);
        cluster.Simulation.After(TimeSpan.Zero, gate.SetResult);
        Assert.True(cluster.Simulation.RunUntil(() => left, TimeSpan.FromSeconds(5)));
        Assert.Equal(messages, handled);
        Assert.True(leaver.Group!.Completion.IsCompletedSuccessfully);
    }

    [Fact]
    public void A_member_that_gave_up_waiting_for_the_others_has_left_when_the_group_ends_with_it()
    {
        const int messages = 100;
        var gate = new TaskCompletionSource();
        int handled = 0;
        GroupCluster? all = null;
        using var cluster = new GroupCluster(136, 1, beforeMembers: c => all = c,
            tap: node => new DelayingNode(all!.Simulation, node, work => work is StateCut ? TimeSpan.FromHours(1) : TimeSpan.Zero), more: g => g
                .HandleAsync<int>("one", async (from, number) =>
                {
                    await gate.Task.ConfigureAwait(false);
                    handled++;
                }));
        Assert.True(cluster.Settle());
        var comer = cluster.Add();
        Assert.True(cluster.Simulation.RunUntil(() => comer.Host.Groups is [{ Phase: GroupPhase.Loading }], TimeSpan.FromSeconds(5)));
        var leaver = cluster[0];
        for (int i = 0; i < messages; i++) _ = cluster.Simulation.Spawn(() => leaver.Group!.SendAsync("one", 0).AsTask());
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        // The decision takes longer than the leaver waits for it, but less than its handlers have.
        comer.Membership.Deaf = true;
        leaver.End();
        _ = cluster.Simulation.Spawn(() => leaver.Group!.DisposeAsync().AsTask());
        cluster.Simulation.Run(TimeSpan.FromSeconds(3));
        Assert.Equal(GroupPhase.Withdrawn, leaver.Group!.Protocol.Phase);
        comer.Membership.Deaf = false;
        Assert.True(cluster.Simulation.RunUntil(() => leaver.Group.Protocol.IsOver, TimeSpan.FromMilliseconds(700)), $"{leaver.Group.Protocol}");
        cluster.Simulation.After(TimeSpan.Zero, gate.SetResult);
        Assert.True(cluster.Simulation.RunUntil(() => leaver.Group.Completion.IsCompleted, TimeSpan.FromSeconds(5)));
        Assert.True(leaver.Group.Completion.IsCompletedSuccessfully);
        Assert.Equal(messages, handled);
    }

    [Fact]
    public void What_the_flush_agreed_on_is_delivered_to_a_leaver_with_which_the_group_is_over()
    {
        int joined = 0, slow = 0;
        int[] handled = new int[2];
        GroupCluster? all = null;
        using var cluster = new GroupCluster(135, 2, beforeMembers: c => all = c,
            tap: node => new DelayingNode(all!.Simulation, node, work => work is StateCut ? TimeSpan.FromHours(slow) : TimeSpan.Zero), more: g =>
            {
                int me = joined++;
                g.Handle<int>("one", (from, number) => handled[Math.Min(me, 1)]++);
            });
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        slow = 1;
        var comer = cluster.Add(static g => g.Handle<int>("one", static (from, number) => { }));
        Assert.True(cluster.Simulation.RunUntil(() => comer.Host.Groups is [{ Phase: GroupPhase.Loading }] && cluster[0].Group!.CurrentView.Members.Count == 3, TimeSpan.FromSeconds(5)));
        // Both leave with one view, and the position of the second one's message reaches it after it is wedged.
        cluster.Oracle.Gather = TimeSpan.FromMilliseconds(50);
        var (first, second) = cluster[0].Group!.Rank == 0 ? (cluster[0], cluster[1]) : (cluster[1], cluster[0]);
        cluster.Simulation.Network.Slow(first.SimNode, second.SimNode, 5_000);
        Exception? error = null;
        foreach (var leaver in new[] { first, second }) leaver.End();
        _ = cluster.Simulation.Spawn(async () => error = await Record.ExceptionAsync(() => second.Group!.OrderedSendAsync("one", 1).AsTask()));
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(5));
        foreach (var leaver in new[] { first, second }) _ = cluster.Simulation.Spawn(() => leaver.Group!.LeaveAsync().AsTask());
        Assert.True(cluster.Simulation.RunUntil(() => second.Group!.Protocol.IsWedged, TimeSpan.FromSeconds(1)));
        Assert.Equal((1, 0), (handled[cluster.IndexOf(first)], handled[cluster.IndexOf(second)]));
        Assert.True(cluster.Simulation.RunUntil(() => first.Group!.Completion.IsCompletedSuccessfully && second.Group!.Completion.IsCompletedSuccessfully, TimeSpan.FromSeconds(60)));
        Assert.Equal([1, 1], handled);
        Assert.Null(error);
    }

    /// <summary>A member that keeps the sender's window full holds up no dispose.</summary>
    [Fact]
    public void Dispose_behind_a_full_window_ends_in_its_time()
    {
        var gate = new TaskCompletionSource();
        int joined = 0;
        using var cluster = new GroupCluster(133, 3, more: g =>
        {
            int me = joined++;
            g.HandleAsync<byte[]>("many", async (from, m) =>
            {
                if (me == 0) await gate.Task.ConfigureAwait(false);
            });
        });
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        var leaver = cluster[2];
        for (int i = 0; i < 600; i++) _ = cluster.Simulation.Spawn(async () => await Record.ExceptionAsync(() => leaver.Group!.SendAsync("many", new byte[60_000]).AsTask()));
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        Assert.True(leaver.Group!.Protocol.Backlog.Calls > 0);
        bool disposed = false;
        leaver.End();
        _ = cluster.Simulation.Spawn(async () =>
        {
            await leaver.Group.DisposeAsync();
            disposed = true;
        });
        Assert.True(cluster.Simulation.RunUntil(() => disposed, TimeSpan.FromSeconds(5)), $"{leaver.Group.Protocol}");
        Assert.True(cluster.Simulation.RunUntil(() => cluster[1].Group!.CurrentView.Members.Count == 2, TimeSpan.FromSeconds(5)));
        Assert.Equal((0, 0, 0), (leaver.Group.Protocol.Backlog.Calls, leaver.Group.Protocol.Backlog.Bytes, leaver.Group.Protocol.Backlog.Queries));
        cluster.Simulation.After(TimeSpan.Zero, gate.SetResult);
        Assert.True(cluster.Settle());
    }
}
