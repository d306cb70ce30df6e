using GroupCore.Groups;
using GroupCore.Membership;

namespace GroupCore.Tests.Groups;

/// <summary>Behaviours of groups (views-and-flush.md#when-things-fail, multicast.md#when-things-fail) that need no random schedule.</summary>
public sealed class DirectedTests
{
    private static GroupCluster Settled(ulong seed, int members, string? without = null, Composition composition = Composition.HotSwap)
    {
        var cluster = new GroupCluster(seed, members, without, composition);
        Assert.True(cluster.Settle());
        // Joined members ask for a view that says that they hold the state.
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        return cluster;
    }

    private static void At(GroupCluster cluster, double milliseconds, Action action) => cluster.Simulation.After(TimeSpan.FromMilliseconds(milliseconds), action);

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void B3_what_was_sent_before_a_returned_flush_survives_the_exclusion_of_its_caller(ulong seed)
    {
        using var cluster = Settled(seed, 4);
        var caller = cluster[2];
        bool flushed = cluster.Simulation.RunAsync(async () =>
        {
            for (int i = 0; i < 20; i++) _ = caller.SendAsync(ordered: i % 2 == 0);
            bool done = await caller.FlushAsync();
            caller.Crash();
            cluster.Oracle.Fail(caller.Membership);
            return done;
        }, TimeSpan.FromSeconds(5));
        Assert.True(flushed);
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        Assert.Null(cluster.Verdict());
        Assert.True(cluster.Checker.Deliveries >= 3 * 20);
    }

    /// <summary>Nine seeds, with twelve instants each.</summary>
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    [InlineData(4)]
    [InlineData(5)]
    [InlineData(6)]
    [InlineData(7)]
    [InlineData(8)]
    [InlineData(9)]
    public void B7_leaders_crash_one_after_the_other_in_the_flush_and_the_next_view_installs(ulong seed)
    {
        // The steps of a flush lie within some tens of milliseconds of virtual time: crash the leader at many instants, and its successor too.
        for (int step = 0; step < 12; step++)
        {
            using var cluster = Settled((seed * 100) + (ulong)step, 6);
            int rounds = cluster.Oracle.Installs;
            foreach (var member in cluster.Members)
                for (int i = 0; i < 5; i++) _ = cluster.Simulation.Spawn(() => member.SendAsync(ordered: true));
            var byRank = cluster.Members.OrderBy(m => m.Group!.Rank).ToList();
            At(cluster, 1, () => cluster.Oracle.RequestView(cluster.Oracle.Find("g")!.Id));
            Kill(cluster, byRank[0], 1 + (step * 6), seed);
            Kill(cluster, byRank[1], 30 + (step * 6), seed);
            cluster.Simulation.Run(TimeSpan.FromMilliseconds(200));
            Assert.True(cluster.Settle(), string.Join("; ", cluster.Usable.Select(m => m.Group!.Protocol)));
            cluster.Simulation.Run(TimeSpan.FromSeconds(1));
            Assert.Null(cluster.Verdict());
            Assert.InRange(cluster.Oracle.Installs - rounds, 1, 4);
        }
    }

    private static void Kill(GroupCluster cluster, TestMember member, double at, ulong seed) => At(cluster, at, () =>
    {
        member.Crash(seed % 2 == 0);
        At(cluster, 10, () => cluster.Oracle.Fail(member.Membership));
    });

    [Fact]
    public void B8_a_joiner_that_dies_leaves_nobody_wedged()
    {
        for (ulong seed = 1; seed <= 100; seed++)
        {
            using var cluster = Settled(seed, 3);
            var joiner = cluster.Add();
            Assert.True(cluster.Simulation.RunUntil(() => cluster.Oracle.Find("g")!.Pending is not null, TimeSpan.FromSeconds(2)));
            joiner.Crash();
            cluster.Oracle.Fail(joiner.Membership);
            Assert.True(cluster.Settle());
            Assert.Equal(3, cluster[0].Group!.CurrentView.Members.Count);
            Assert.All(cluster.Usable, m => Assert.False(m.Group!.Protocol.IsWedged));
            Assert.Null(cluster.Verdict());
        }
    }

    [Fact]
    public void B9_joins_failures_and_leaves_within_20_ms_take_at_most_two_views()
    {
        for (ulong seed = 1; seed <= 100; seed++)
        {
            using var cluster = Settled(seed, 6);
            cluster.Oracle.Gather = TimeSpan.FromMilliseconds(20);
            int before = cluster.Oracle.Installs;
            for (int i = 0; i < 8; i++) cluster.Add();
            At(cluster, 5, () => cluster.Oracle.Fail(cluster[1].Membership, cluster[2].Membership, cluster[3].Membership));
            foreach (int leaver in new[] { 4, 5 }) At(cluster, 6, () => _ = cluster.Simulation.Spawn(cluster[leaver].LeaveAsync));
            cluster.Simulation.Run(TimeSpan.FromMilliseconds(40));
            Assert.True(cluster.Settle());
            Assert.Null(cluster.Verdict());
            // A joiner that has loaded asks for one more view, in which no member comes or goes.
            var changes = cluster.Oracle.Find("g")!.Installed.Skip(before).Where(static view => view.Joined.Count + view.Left.Count + view.Failed.Count > 0).ToList();
            Assert.InRange(changes.Count, 1, 2);
            Assert.Equal((8, 2, 3), (changes.Sum(view => view.Joined.Count), changes.Sum(view => view.Left.Count), changes.Sum(view => view.Failed.Count)));
        }
    }

    [Fact]
    public void B11_hot_swap_reaches_the_members_views()
    {
        for (ulong seed = 1; seed <= 100; seed++)
        {
            using var cluster = Settled(seed, 6);
            var byRank = cluster.Members.OrderBy(m => m.Group!.Rank).ToList();
            byRank[2].Crash();
            cluster.Oracle.Fail(byRank[2].Membership);
            Assert.True(cluster.Settle());
            var view = byRank[0].Group!.CurrentView;
            Assert.Equal(2, view.RankOf(byRank[5].Id));
            Assert.Equal(new Move(byRank[5].Id, 5, 2), Assert.Single(view.Moved));
            Assert.Null(cluster.Verdict());
        }
    }

    [Fact]
    public void R15_a_joiner_wedged_before_its_state_came_starts_with_the_next_view()
    {
        using var cluster = Settled(8, 3);
        cluster.StateBytes = 8_000_000;
        var joiner = cluster.Add();
        Assert.True(cluster.Simulation.RunUntil(() => cluster.Oracle.Find("g")!.Members.Exists(m => m.Id == joiner.Id), TimeSpan.FromSeconds(2)));
        ulong first = cluster.Oracle.Find("g")!.View;
        cluster.Simulation.Network.Slow(cluster.Members.OrderBy(m => m.Group?.Rank ?? 99).First().SimNode, joiner.SimNode, 100);
        cluster.Oracle.RequestView(cluster.Oracle.Find("g")!.Id);
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        cluster.Simulation.Network.Slow(cluster[0].SimNode, joiner.SimNode, 1);
        Assert.True(cluster.Settle(30));
        Assert.Equal("load", joiner.Events[0]);
        Assert.DoesNotContain($"view {first}", joiner.Events);
        Assert.Null(cluster.Verdict());
    }

    [Fact]
    public void The_giver_dies_during_the_transfer_and_another_gives()
    {
        using var cluster = Settled(9, 3);
        cluster.StateBytes = 6_000_000;
        var joiner = cluster.Add();
        Assert.True(cluster.Simulation.RunUntil(() => cluster.Oracle.Find("g")!.Members.Exists(m => m.Id == joiner.Id), TimeSpan.FromSeconds(2)));
        var giver = cluster.Members.Single(m => m.Group?.Rank == 0);
        giver.Crash();
        cluster.Oracle.Fail(giver.Membership);
        Assert.True(cluster.Settle(20));
        Assert.Equal(joiner.Digest, cluster.Usable[0].Digest);
        Assert.Null(cluster.Verdict());
    }

    [Fact]
    public void A_slow_handler_slows_its_senders_and_loses_nothing()
    {
        var gates = new List<TaskCompletionSource>();
        int handled = 0, accepted = 0;
        using var cluster = new GroupCluster(10, 2, more: g => g.HandleAsync<byte[]>("slow", async (from, m) =>
        {
            if (gates.Count < 2)
            {
                // One gate per member, since not all continuations of a single one would run in place.
                var gate = new TaskCompletionSource();
                gates.Add(gate);
                await gate.Task.ConfigureAwait(false);
            }
            handled++;
        }));
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        var sender = cluster.Members.Single(m => m.Group!.Rank == 0);
        _ = cluster.Simulation.Spawn(async () =>
        {
            for (; accepted < 40_000; accepted++) await sender.Group!.SendAsync("slow", new byte[1_000]);
        });
        cluster.Simulation.Run(TimeSpan.FromSeconds(20));
        Assert.InRange(accepted, 4_000, 30_000);
        Assert.Equal(0, handled);
        foreach (var gate in gates) cluster.Simulation.After(TimeSpan.Zero, gate.SetResult);
        Assert.True(cluster.Simulation.RunUntil(() => handled == 80_000, TimeSpan.FromSeconds(60)), $"{handled} handled, {accepted} accepted");
    }

    [Fact]
    public void A_query_collects_one_answer_of_every_member()
    {
        using var cluster = Settled(11, 4);
        var replies = cluster.Simulation.RunAsync(() => cluster[1].Group!.OrderedQueryAsync<int, int>("ask", 100).AsTask(), TimeSpan.FromSeconds(5));
        Assert.Equal([100, 101, 102, 103], replies.Select(r => r.Value).Order());
        Assert.Equal([0, 1, 2, 3], replies.Select(r => r.From.Rank));
        int one = cluster.Simulation.RunAsync(() => cluster[1].Group!.QueryToAsync<int, int>(cluster[3].Group!.Rank, "ask", 5).AsTask(), TimeSpan.FromSeconds(5));
        Assert.Equal(8, one);
    }

    [Fact]
    public void Bad_calls_get_a_typed_error()
    {
        using var cluster = Settled(12, 2);
        var group = cluster[0].Group!;
        Assert.Throws<HandlerNotRegisteredException>(() => { _ = group.SendAsync("no such handler", 1).AsTask(); });
        Assert.Throws<WrongHandlerTypeException>(() => { _ = group.SendAsync("fifo", "text").AsTask(); });
        Assert.Throws<ArgumentOutOfRangeException>(() => { _ = group.SendToAsync<ulong[]>(2, "peer", [1]).AsTask(); });
        Assert.Throws<MessageTooLargeException>(() => { _ = group.SendAsync("fifo", Enumerable.Repeat(ulong.MaxValue, 8 << 20).ToArray()).AsTask(); });
        cluster.Simulation.RunAsync(() => cluster[0].LeaveAsync(), TimeSpan.FromSeconds(5));
        Assert.Throws<NotMemberException>(() => { _ = group.SendAsync<ulong[]>("fifo", [1]).AsTask(); });
        Assert.True(group.Completion.IsCompletedSuccessfully);
    }
}
