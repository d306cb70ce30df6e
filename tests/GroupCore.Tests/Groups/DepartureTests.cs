using GroupCore.Groups;
using GroupCore.Groups.State;

namespace GroupCore.Tests.Groups;

/// <summary>A process that leaves the system is taken out of its groups without having asked to leave each: it has left them, and none is begun any more.</summary>
public sealed class DepartureTests
{
    /// <summary>Nobody who stays holds the state, so that there is no next view, but the end of the group.</summary>
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public void R_the_last_holders_of_the_state_have_left_when_their_group_ends_with_their_departure(int holders)
    {
        GroupCluster? all = null;
        bool loads = false;
        int handled = 0;
        using var cluster = new GroupCluster(1, holders, beforeMembers: c => all = c, more: g => g.Handle<int>("note", (_, _) => handled++),
            tap: node => new DelayingNode(all!.Simulation, node, work => loads && work is StateCut ? TimeSpan.FromHours(1) : TimeSpan.Zero));
        (cluster.Oracle.Loss, cluster.Oracle.Gather) = (0, TimeSpan.FromMilliseconds(10));
        Assert.True(cluster.Settle());
        loads = true;
        var comer = cluster.Add();
        var leavers = cluster.Members.GetRange(0, holders);
        Assert.True(cluster.Simulation.RunUntil(() => leavers.TrueForAll(m => m.Group!.CurrentView.Members.Count == holders + 1), TimeSpan.FromSeconds(5)));
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        var group = cluster.Oracle.Find("g")!;
        foreach (var leaver in leavers) cluster.Oracle.Leave(group.Id, leaver.Id);
        Assert.True(cluster.Simulation.RunUntil(() => leavers.Exists(static m => m.Group!.Protocol.IsWedged), TimeSpan.FromSeconds(5)));
        // What the other one has not delivered when it stops to.
        bool sent = false;
        if (leavers.Find(static m => !m.Group!.Protocol.IsWedged) is { } sender)
        {
            _ = cluster.Simulation.Spawn(async () =>
            {
                await sender.Group!.OrderedSendAsync("note", 1);
                sent = true;
            });
        }
        Assert.True(cluster.Simulation.RunUntil(() => leavers.TrueForAll(static m => m.Group!.Completion.IsCompleted), TimeSpan.FromSeconds(20)));
        Assert.True(group.Lost);
        Assert.All(leavers, static m => Assert.True(m.Group!.Completion.IsCompletedSuccessfully, $"{m.Group.Completion.Exception?.InnerException}"));
        Assert.Equal((holders == 2, holders == 2 ? 2 : 0), (sent, handled));
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        Assert.IsType<JoinRefusedException>(comer.JoinError);
    }

    [Fact]
    public async Task R_a_flush_that_waits_at_a_process_that_departs_hears_that_it_has_left()
    {
        using var cluster = new GroupCluster(2, 2);
        cluster.Oracle.Loss = 0;
        Assert.True(cluster.Settle());
        var (stays, leaver) = (cluster[0].Group!.Protocol, cluster[1].Group!);
        cluster.Oracle.Leave(cluster.Oracle.Find("g")!.Id, cluster[1].Id);
        Assert.True(cluster.Simulation.RunUntil(() => stays.IsWedged || leaver.Protocol.IsWedged, TimeSpan.FromSeconds(5)));
        // The other one acknowledges nothing more.
        Assert.False(leaver.Protocol.IsWedged);
        Task? flush = null;
        _ = cluster.Simulation.Spawn(() => cluster[1].SendAsync(ordered: false));
        _ = cluster.Simulation.Spawn(async () => await Record.ExceptionAsync(() => flush = leaver.FlushAsync().AsTask()));
        Assert.True(cluster.Simulation.RunUntil(() => leaver.Completion.IsCompleted && flush!.IsCompleted, TimeSpan.FromSeconds(20)));
        Assert.Contains("it has left", (await Assert.ThrowsAsync<NotMemberException>(() => flush!)).Message, StringComparison.Ordinal);
        Assert.True(leaver.Completion.IsCompletedSuccessfully);
    }
}
