using GroupCore.Groups;
using GroupCore.Membership;
using Ida.Testing;

namespace GroupCore.Tests.Groups;

/// <summary>A group makes progress and comes to rest without needing another message.</summary>
public sealed class ProgressTests
{
    private static GroupCluster Settled(ulong seed, int members, Action<GroupBuilder>? more = null)
    {
        var cluster = new GroupCluster(seed, members, more: more);
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        return cluster;
    }

    [Fact]
    public void One_message_in_an_idle_group_becomes_stable()
    {
        using var cluster = Settled(21, 3);
        _ = cluster.Simulation.Spawn(() => cluster[1].SendAsync(ordered: false));
        Assert.True(cluster.Simulation.RunUntil(() => cluster[1].Group!.Protocol.Multicast.Unstable > 0, TimeSpan.FromSeconds(1)));
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        Assert.All(cluster.Members, m => Assert.Equal(0, m.Group!.Protocol.Multicast.Unstable));
    }

    [Fact]
    public void Messages_that_waited_for_room_in_the_order_get_their_positions()
    {
        int delivered = 0;
        const int Senders = 10, Each = 3_800;
        using var cluster = Settled(22, Senders, g => g.Handle<byte[]>("many", (from, m) => delivered++));
        var last = cluster.Members.Single(m => m.Group!.Rank == Senders - 1);
        foreach (var member in cluster.Members)
            if (member != last) cluster.Simulation.Network.Slow(last.SimNode, member.SimNode, 1_000);
        foreach (var member in cluster.Members)
        {
            _ = cluster.Simulation.Spawn(async () =>
            {
                for (int i = 0; i < Each; i++)
                {
                    _ = member.Group!.OrderedSendAsync("many", Array.Empty<byte>()).AsTask();
                    if (i % 500 == 499) await cluster.Simulation.Delay(TimeSpan.FromMilliseconds(2));
                }
            });
        }
        Assert.True(cluster.Simulation.RunUntil(() => delivered == Senders * Senders * Each, TimeSpan.FromSeconds(20)), $"{delivered} delivered");
    }

    [Theory]
    [InlineData(1), InlineData(2), InlineData(3), InlineData(4), InlineData(5), InlineData(6), InlineData(7), InlineData(8), InlineData(9), InlineData(10), InlineData(11), InlineData(12)]
    public void Calls_that_wait_for_the_window_go_on_when_one_acknowledgement_opens_all_of_it(ulong seed)
    {
        int delivered = 0;
        const int Each = 9_000;
        // Turns take all there is, so one frame brings a whole window, and one acknowledgement answers it.
        var simulation = new Simulation(new SimulationOptions { Seed = seed, MaxBatch = 1 << 20, ReplayCommand = $"seed {seed}" });
        using var cluster = new GroupCluster(simulation, 2, more: g => g.Handle<byte[]>("many", (from, m) => delivered++));
        Assert.True(cluster.Settle());
        simulation.Run(TimeSpan.FromSeconds(2));
        _ = simulation.Spawn(() =>
        {
            for (int i = 0; i < Each; i++) _ = cluster[1].Group!.SendAsync("many", Array.Empty<byte>()).AsTask();
            return Task.CompletedTask;
        });
        Assert.True(simulation.RunUntil(() => delivered == 2 * Each, TimeSpan.FromMilliseconds(100)), $"{delivered} delivered");
    }

    [Fact]
    public void A_member_that_hears_late_of_a_view_keeps_what_all_windows_hold()
    {
        int delivered = 0;
        const int Senders = 5, Each = 60;
        using var cluster = Settled(24, Senders, g => g.Handle<byte[]>("many", (from, m) => delivered++));
        var late = cluster[3];
        cluster.Oracle.RequestView(cluster.Oracle.Find("g")!.Id);
        Assert.True(cluster.Simulation.RunUntil(() => late.Group!.Protocol.Flush.Acked, TimeSpan.FromSeconds(2)));
        late.Membership.Deaf = true;
        ulong old = late.Group!.CurrentView.Id;
        Assert.True(cluster.Simulation.RunUntil(() => cluster.Usable.TrueForAll(m => m == late || m.Group!.CurrentView.Id > old), TimeSpan.FromSeconds(2)));
        foreach (var member in cluster.Members)
        {
            if (member == late) continue;
            for (int i = 0; i < Each; i++) _ = cluster.Simulation.Spawn(() => member.Group!.SendAsync("many", new byte[65_000]).AsTask());
        }
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        Assert.Equal(old, late.Group.CurrentView.Id);
        late.Membership.Deaf = false;
        Assert.True(cluster.Simulation.RunUntil(() => delivered == Senders * (Senders - 1) * Each, TimeSpan.FromSeconds(10)), $"{delivered} delivered");
        Assert.Null(cluster.Verdict());
    }

    [Fact]
    public void A_member_that_gives_up_stays_in_the_flush_until_it_is_out()
    {
        using var cluster = Settled(25, 4);
        var leaver = cluster[2];
        leaver.Membership.Deaf = true;
        int suspected = cluster.Oracle.Suspicions.Count;
        // Disposing ends for the caller after two seconds, though this member has not heard that it is out.
        _ = cluster.Simulation.Spawn(async () => await leaver.Group!.DisposeAsync());
        Assert.True(cluster.Simulation.RunUntil(() => leaver.Group!.Completion.IsCompleted, TimeSpan.FromSeconds(3)));
        leaver.End();
        Assert.False(leaver.Group!.Protocol.IsOver);
        leaver.Membership.Deaf = false;
        Assert.True(cluster.Simulation.RunUntil(() => leaver.Group.Protocol.IsOver, TimeSpan.FromSeconds(3)));
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        Assert.All(cluster.Usable, m => Assert.Equal(3, m.Group!.CurrentView.Members.Count));
        Assert.All(cluster.Usable, m => Assert.False(m.Group!.Protocol.IsWedged));
        Assert.Null(cluster.Verdict());
    }

    [Fact]
    public void All_suspect_the_silent_member_that_holds_a_flush_up_and_nobody_its_leader()
    {
        using var cluster = Settled(26, 5);
        var rank = cluster.Members.OrderBy(m => m.Group!.Rank).ToList();
        // Rank 3 hears nothing of the view change, and so takes no part in it.
        rank[3].Membership.Deaf = true;
        cluster.Oracle.RequestView(cluster.Oracle.Find("g")!.Id);
        cluster.Simulation.Run(TimeSpan.FromSeconds(8));
        Assert.All(cluster.Oracle.Suspicions, a => Assert.Equal((rank[3].Id, Suspicion.FlushStall), a));
        Assert.True(cluster.Oracle.Suspicions.Count >= 4, $"{cluster.Oracle.Suspicions.Count} suspicions");
        rank[3].Membership.Deaf = false;
        Assert.True(cluster.Settle());
    }

    [Fact]
    public void A_caller_that_waits_for_its_ordered_message_stays_on_the_thread_of_the_simulation()
    {
        using var cluster = Settled(23, 3);
        int thread = Environment.CurrentManagedThreadId, others = 0, sent = 0;
        foreach (var member in cluster.Members)
        {
            _ = cluster.Simulation.Spawn(async () =>
            {
                for (int i = 0; i < 20; i++)
                {
                    await member.Group!.OrderedSendAsync<ulong[]>("ordered", [cluster.NextMessage(), 0]).ConfigureAwait(false);
                    if (Environment.CurrentManagedThreadId != thread) others++;
                    sent++;
                }
            });
        }
        Assert.True(cluster.Simulation.RunUntil(() => sent == 60, TimeSpan.FromSeconds(5)));
        Assert.Equal(0, others);
    }
}
