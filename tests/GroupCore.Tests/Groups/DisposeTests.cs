using GroupCore.Groups;
using GroupCore.Groups.Calls;
using GroupCore.Groups.Views;

namespace GroupCore.Tests.Groups;

/// <summary>A group is left and disposed of in bounded time, from anywhere, whatever its handlers do.</summary>
public sealed class DisposeTests
{
    private static GroupCluster Settled(ulong seed, int members, Action<GroupBuilder>? more = null)
    {
        var cluster = new GroupCluster(seed, members, more: more);
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        return cluster;
    }

    [Theory]
    [InlineData("multicast")]
    [InlineData("message of another")]
    [InlineData("message to itself")]
    public void R_dispose_behind_a_stuck_handler_ends_the_membership_and_its_calls(string kind)
    {
        var gate = new TaskCompletionSource();
        int joined = 0, after = 0;
        using var cluster = Settled(71, 3, g =>
        {
            int me = joined++;
            g.HandleAsync<byte[]>("hang", async (from, m) =>
            {
                if (me == 0) await gate.Task.ConfigureAwait(false);
            }).Handle<byte[]>("then", (from, m) => after += me == 0 ? 1 : 0);
        });
        var leaver = cluster[0];
        var group = leaver.Group!;
        int rank = group.Rank;
        _ = cluster.Simulation.Spawn(() => kind switch
        {
            "multicast" => cluster[1].Group!.SendAsync("hang", Array.Empty<byte>()).AsTask(),
            "message of another" => cluster[1].Group!.SendToAsync(rank, "hang", Array.Empty<byte>()).AsTask(),
            _ => group.SendToAsync(rank, "hang", Array.Empty<byte>()).AsTask(),
        });
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        Exception? ordered = null;
        bool disposed = false;
        _ = cluster.Simulation.Spawn(async () => ordered = await Record.ExceptionAsync(() => group.OrderedSendAsync("then", Array.Empty<byte>()).AsTask()));
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        leaver.End();
        _ = cluster.Simulation.Spawn(async () =>
        {
            await group.DisposeAsync();
            disposed = true;
        });
        Assert.True(cluster.Simulation.RunUntil(() => disposed, TimeSpan.FromSeconds(5)), $"{group.Protocol}");
        // A view change waits for handlers of messages to one member. So the others have decided the leave only where the stuck handler has a multicast.
        if (kind == "multicast") Assert.True(group.Completion.IsCompletedSuccessfully);
        else Assert.IsType<NotMemberException>(group.Completion.Exception?.InnerException);
        Assert.True(cluster.Simulation.RunUntil(() => ordered is not null, TimeSpan.FromSeconds(1)));
        Assert.IsType<NotMemberException>(ordered);
        Assert.True(cluster.Simulation.RunUntil(() => cluster[1].Group!.CurrentView.Members.Count == 2 && cluster[2].Group!.CurrentView.Members.Count == 2, TimeSpan.FromSeconds(10)));
        Assert.Empty(cluster.Oracle.Suspicions);
        cluster.Simulation.After(TimeSpan.Zero, gate.SetResult);
        cluster.Simulation.Run(TimeSpan.FromSeconds(2));
        Assert.Equal(0, after);
        Assert.Empty(leaver.Host.Groups);
    }

    [Theory]
    [InlineData("leave", "awaited")]
    [InlineData("dispose", "awaited")]
    [InlineData("leave", "synchronous")]
    [InlineData("dispose", "synchronous")]
    [InlineData("leave", "inline")]
    [InlineData("dispose", "inline")]
    [InlineData("leave", "view")]
    public void R_a_group_can_be_left_and_disposed_of_in_its_own_handlers(string call, string handler)
    {
        GroupCluster? all = null;
        int joined = 0, after = 0;
        bool pending = false;
        using var cluster = Settled(72, 3, g =>
        {
            int me = joined++;
            async Task Go()
            {
                if (me != 1) return;
                all![1].End();
                if (call == "leave") await all[1].Group!.LeaveAsync().ConfigureAwait(false);
                else await all[1].Group!.DisposeAsync().ConfigureAwait(false);
                after++;
            }
            if (handler == "inline") g.Inline();
            if (handler == "awaited") g.HandleAsync<byte[]>("go", async (from, m) => await Go().ConfigureAwait(false));
            else g.Handle<byte[]>("go", (from, m) => pending |= !Go().IsCompleted);
            if (handler == "view") g.OnView(view => pending |= all is not null && view.Members.Count == 4 && !Go().IsCompleted);
        });
        all = cluster;
        var group = cluster[1].Group!;
        if (handler == "view") cluster.Add();
        else _ = cluster.Simulation.Spawn(() => cluster[0].Group!.SendAsync("go", Array.Empty<byte>()).AsTask());
        Assert.True(cluster.Simulation.RunUntil(() => group.Completion.IsCompleted, TimeSpan.FromSeconds(5)), $"{group.Protocol}");
        Assert.True(group.Completion.IsCompletedSuccessfully);
        Assert.True(after >= 1);
        Assert.False(pending);
        cluster.Simulation.Run(TimeSpan.FromSeconds(2));
        Assert.DoesNotContain(cluster[0].Group!.CurrentView.Members, m => m.Id == cluster[1].Id);
        Assert.Empty(cluster[1].Host.Groups);
        Assert.Empty(cluster.Oracle.Suspicions);
    }

    [Fact]
    public void R_a_group_whose_leave_waits_for_a_stuck_handler_can_be_disposed_of()
    {
        var gate = new TaskCompletionSource();
        using var cluster = Settled(73, 2, g => g.HandleAsync<byte[]>("hang", async (from, m) => await gate.Task.ConfigureAwait(false)));
        var group = cluster[0].Group!;
        _ = cluster.Simulation.Spawn(() => group.SendAsync("hang", Array.Empty<byte>()).AsTask());
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        // The request that LeaveAsync makes; it would then wait for Completion.
        group.Protocol.Post(new CallCommand(group.Protocol.RequestLeave));
        cluster.Simulation.Run(TimeSpan.FromSeconds(10));
        Assert.False(group.Completion.IsCompleted);
        Assert.Single(cluster[1].Group!.Protocol.View!.Members);
        bool disposed = false;
        _ = cluster.Simulation.Spawn(async () =>
        {
            await group.DisposeAsync();
            disposed = true;
        });
        Assert.True(cluster.Simulation.RunUntil(() => disposed, TimeSpan.FromSeconds(3)));
        Assert.True(group.Completion.IsCompletedSuccessfully);
        gate.SetResult();
    }

    /// <summary>A member that is told that it has left counts on what it delivered as agreed.</summary>
    [Fact]
    public void A_member_that_disposed_of_its_group_out_of_reach_and_is_then_excluded_is_not_told_that_it_has_left()
    {
        using var cluster = Settled(75, 3);
        var leaver = cluster[1];
        leaver.Membership.Deaf = true;
        cluster.Simulation.Network.Partition([leaver.SimNode]);
        _ = cluster.Simulation.Spawn(() => leaver.SendAsync(ordered: false));
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        bool disposed = false;
        _ = cluster.Simulation.Spawn(async () =>
        {
            await leaver.Group!.DisposeAsync();
            disposed = true;
        });
        Assert.True(cluster.Simulation.RunUntil(() => disposed, TimeSpan.FromSeconds(5)), $"{leaver.Group!.Protocol}");
        bool told = leaver.Group!.Completion.IsCompletedSuccessfully;
        if (told) cluster.Checker.Left(leaver.Id);
        leaver.End();
        cluster.Oracle.Fail(leaver.Membership);
        Assert.True(cluster.Settle());
        Assert.Null(cluster.Verdict());
        Assert.False(told);
        Assert.IsType<NotMemberException>(leaver.Group.Completion.Exception?.InnerException);
    }

    /// <summary>After dispose gave up on the others, the handlers have as long again. What is decided about the membership meanwhile counts.</summary>
    [Theory]
    [InlineData("decided", true)]
    [InlineData("decided", false)]
    [InlineData("excluded", true)]
    [InlineData("excluded", false)]
    [InlineData("node stops", false)]
    public void A_member_that_gave_up_is_told_that_it_has_left_if_that_is_decided_before_its_handlers_have_ended(string meanwhile, bool inTime)
    {
        var gate = new TaskCompletionSource();
        int joined = 0;
        using var cluster = Settled(76, 3, g =>
        {
            int me = joined++;
            g.HandleAsync<byte[]>("hang", async (from, m) =>
            {
                if (me == 1) await gate.Task.ConfigureAwait(false);
            });
        });
        var leaver = cluster[1];
        var group = leaver.Group!;
        _ = cluster.Simulation.Spawn(() => cluster[0].Group!.SendAsync("hang", Array.Empty<byte>()).AsTask());
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        leaver.Membership.Deaf = true;
        leaver.End();
        bool disposed = false;
        _ = cluster.Simulation.Spawn(async () =>
        {
            await group.DisposeAsync();
            disposed = true;
        });
        Assert.True(cluster.Simulation.RunUntil(() => group.Protocol.Phase == GroupPhase.Withdrawn, TimeSpan.FromSeconds(3)));
        leaver.Membership.Deaf = false;
        if (meanwhile != "decided") cluster.Oracle.Fail(leaver.Membership);
        Assert.True(cluster.Simulation.RunUntil(() => group.Protocol.IsOver, TimeSpan.FromSeconds(1)), $"{group.Protocol}");
        Assert.False(disposed);
        if (inTime) gate.SetResult();
        if (meanwhile == "node stops") leaver.SimNode.Stop();
        Assert.True(cluster.Simulation.RunUntil(() => disposed, TimeSpan.FromSeconds(2)));
        Assert.Equal(meanwhile == "decided", group.Completion.IsCompletedSuccessfully);
        if (!inTime) gate.SetResult();
    }

    [Theory]
    [InlineData(-1)]
    [InlineData(3_601)]
    public void A_time_for_dispose_out_of_range_is_refused(int seconds) =>
        Assert.Throws<ArgumentException>(() => new GroupCluster(74, 0).Add(host: new() { DisposeTimeout = TimeSpan.FromSeconds(seconds) }));
}
