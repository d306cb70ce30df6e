using GroupCore.Groups;
using GroupCore.Groups.Views;

namespace GroupCore.Tests.Groups;

/// <summary>A membership that is given up before all that it sent has gone out.</summary>
public sealed class DisposeUnsentTests
{
    /// <summary>
    /// Messages that wait for a view are dropped with it, though their callers were told that they are sent. A member that is told that it has left would count on them.
    /// </summary>
    [Fact]
    public void A_member_that_gave_up_before_its_messages_had_gone_out_is_not_told_that_it_has_left()
    {
        var (hang, hold) = (new TaskCompletionSource(), new TaskCompletionSource());
        int joined = 0, got = 0;
        using var cluster = new GroupCluster(77, 3, more: g =>
        {
            int me = joined++;
            g.HandleAsync<byte[]>("hang", async (from, m) =>
            {
                if (me == 1) await hang.Task.ConfigureAwait(false);
            }).HandleAsync<byte[]>("hold", async (from, m) => await hold.Task.ConfigureAwait(false)).Handle<byte[]>("late", (from, m) => got++);
        });
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        var (leaver, giver) = (cluster[1], cluster[0].Group!);
        var group = leaver.Group!;
        int rank = cluster[2].Group!.Rank;
        _ = cluster.Simulation.Spawn(() => giver.SendAsync("hang", Array.Empty<byte>()).AsTask());
        _ = cluster.Simulation.Spawn(() => giver.SendToAsync(rank, "hold", Array.Empty<byte>()).AsTask());
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        // The view does not end, and nothing is sent, until the message to one member is handled.
        cluster.Oracle.RequestView(cluster.Oracle.Find("g")!.Id);
        Assert.True(cluster.Simulation.RunUntil(() => group.Protocol.IsWedged, TimeSpan.FromSeconds(1)));
        leaver.End();
        bool sent = false, disposed = false;
        _ = cluster.Simulation.Spawn(async () =>
        {
            await group.SendAsync("late", Array.Empty<byte>());
            sent = true;
            await group.DisposeAsync();
            disposed = true;
        });
        Assert.True(cluster.Simulation.RunUntil(() => group.Protocol.Phase == GroupPhase.Withdrawn, TimeSpan.FromSeconds(3)));
        Assert.True(sent);
        cluster.Simulation.After(TimeSpan.Zero, hold.SetResult);
        Assert.True(cluster.Simulation.RunUntil(() => group.Protocol.IsOver, TimeSpan.FromSeconds(1)), $"{group.Protocol}");
        Assert.False(disposed);
        cluster.Simulation.After(TimeSpan.Zero, hang.SetResult);
        Assert.True(cluster.Simulation.RunUntil(() => disposed, TimeSpan.FromSeconds(2)));
        Assert.Equal(0, got);
        Assert.IsType<NotMemberException>(group.Completion.Exception?.InnerException);
    }

    /// <summary>A departing process is taken out of its groups without having asked to leave each one, and its node may stop before its handlers have handled what came.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_member_whose_process_departs_before_its_messages_have_gone_out_is_not_told_that_it_has_left(bool stops)
    {
        var (hold, hang) = (new TaskCompletionSource(), new TaskCompletionSource());
        int got = 0, joined = 0;
        using var cluster = new GroupCluster(78, 3, more: g =>
        {
            int me = joined++;
            g.HandleAsync<byte[]>("hold", async (from, m) => await hold.Task.ConfigureAwait(false)).Handle<byte[]>("late", (from, m) => got++).HandleAsync<byte[]>("hang", async (from, m) =>
            {
                if (me == 1 && stops) await hang.Task.ConfigureAwait(false);
            });
        });
        cluster.Oracle.Loss = 0;
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        var (leaver, giver) = (cluster[1], cluster[0].Group!);
        var group = leaver.Group!;
        int rank = cluster[2].Group!.Rank;
        _ = cluster.Simulation.Spawn(() => giver.SendToAsync(rank, "hold", Array.Empty<byte>()).AsTask());
        _ = cluster.Simulation.Spawn(() => giver.SendAsync("hang", Array.Empty<byte>()).AsTask());
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        cluster.Oracle.Leave(cluster.Oracle.Find("g")!.Id, leaver.Id);
        Assert.True(cluster.Simulation.RunUntil(() => group.Protocol.IsWedged, TimeSpan.FromSeconds(2)));
        leaver.End();
        bool sent = false;
        _ = cluster.Simulation.Spawn(async () =>
        {
            await group.SendAsync("late", Array.Empty<byte>());
            sent = true;
        });
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(10));
        Assert.True(sent);
        cluster.Simulation.After(TimeSpan.Zero, hold.SetResult);
        Assert.True(cluster.Simulation.RunUntil(() => group.Protocol.IsOver, TimeSpan.FromSeconds(5)), $"{group.Protocol}");
        if (stops) leaver.SimNode.Stop();
        Assert.True(cluster.Simulation.RunUntil(() => group.Completion.IsCompleted, TimeSpan.FromSeconds(5)), $"{group.Protocol}");
        Assert.Equal(0, got);
        Assert.IsType<NotMemberException>(group.Completion.Exception?.InnerException);
    }
}
