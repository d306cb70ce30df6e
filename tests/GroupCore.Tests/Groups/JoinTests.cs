using GroupCore.Groups;
using GroupCore.Groups.State;
using GroupCore.Groups.Views;
using GroupCore.Membership;
using GroupCore.Runtime;

namespace GroupCore.Tests.Groups;

/// <summary>Joins that are cancelled, slow or stuck: they are undone, and none lasts for ever.</summary>
public sealed class JoinTests
{
    [Theory]
    [InlineData((Composition)7, SlowMember.Block)]
    [InlineData(Composition.Shift, (SlowMember)2)]
    public async Task Options_with_a_number_that_names_nothing_are_refused(Composition composition, SlowMember slow)
    {
        using var cluster = new GroupCluster(90, 1);
        Assert.True(cluster.Settle());
        var options = new GroupOptions { Composition = composition, SlowMember = slow };
        var error = await Assert.ThrowsAsync<ArgumentException>(() => cluster[0].Host.JoinAsync("other", static g => { }, options).AsTask().WaitAsync(TimeSpan.FromSeconds(5)));
        Assert.Contains(composition == Composition.Shift ? "SlowMember" : "Composition", error.Message, StringComparison.Ordinal);
    }

    private static GroupCluster Settled(ulong seed, int members, Action<GroupBuilder>? more = null)
    {
        var cluster = new GroupCluster(seed, members, more: more);
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        return cluster;
    }

    private static TestMember Newcomer(GroupCluster cluster, Action<GroupBuilder>? more = null, GroupHostOptions? options = null, CancellationToken token = default) =>
        cluster.Add(more, options, token);

    /// <summary>The join is cancelled at sixty instants. To join an existing group takes some 100 ms, to found one some 30 ms.</summary>
    [Theory]
    [InlineData(0)]
    [InlineData(2)]
    public void F6_a_cancelled_join_is_undone_and_the_name_can_be_joined_again(int members)
    {
        int cancelled = 0;
        for (int step = 0; step < 60; step++)
        {
            using var cluster = members == 0 ? new GroupCluster((ulong)step + 100, 0) : Settled((ulong)step + 100, members);
            using var cancel = new CancellationTokenSource();
            var comer = Newcomer(cluster, token: cancel.Token);
            double at = step * (members == 0 ? 0.5 : 2);
            cluster.Simulation.After(TimeSpan.FromMilliseconds(at), cancel.Cancel);
            cluster.Simulation.Run(TimeSpan.FromMilliseconds(at + 1));
            if (comer.JoinError is not OperationCanceledException) continue;
            cancelled++;
            bool again = step % 2 == 0;
            if (again) comer.JoinAgain();
            Assert.True(cluster.Simulation.RunUntil(() => again ? comer.Group is not null : comer.Host.Groups.Count == 0, TimeSpan.FromSeconds(20)),
                $"step {step}: {string.Join("; ", comer.Host.Groups)} {comer.JoinError}");
            cluster.Simulation.Run(TimeSpan.FromSeconds(2));
            Assert.Equal(members + (again ? 1 : 0), cluster.Oracle.Find("g")?.Members.Count ?? 0);
            Assert.All(comer.Host.Groups, g => Assert.Equal(GroupPhase.Member, g.Phase));
            Assert.Empty(cluster.Oracle.Suspicions);
        }
        Assert.True(cancelled > 20, $"{cancelled} cancelled");
    }

    [Fact]
    public void F6_a_second_join_of_a_name_is_refused_as_long_as_the_first_goes_on()
    {
        using var cluster = Settled(1, 2);
        Exception? error = null;
        _ = cluster.Simulation.Spawn(async () =>
        {
            try
            {
                await cluster[0].Host.JoinAsync("g", static g => { });
            }
            catch (InvalidOperationException refused)
            {
                error = refused;
            }
        });
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        Assert.Contains("already", error!.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void F3_a_join_that_a_stuck_handler_holds_up_ends_and_says_why_and_the_group_goes_on_when_it_returns()
    {
        var gate = new TaskCompletionSource();
        using var cluster = Settled(2, 2, g => g.HandleAsync<byte[]>("hang", async (from, m) => await gate.Task.ConfigureAwait(false)));
        _ = cluster.Simulation.Spawn(() => cluster[1].Group!.SendToAsync(cluster[0].Group!.Rank, "hang", Array.Empty<byte>()).AsTask());
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        var comer = Newcomer(cluster, options: new() { JoinTimeout = TimeSpan.FromSeconds(8) });
        cluster.Simulation.Run(TimeSpan.FromSeconds(10));
        Assert.Contains("view", Assert.IsType<JoinTimeoutException>(comer.JoinError).WaitedFor, StringComparison.Ordinal);
        // The joiner may ask again, and gets in as soon as the handler returns.
        comer.JoinAgain();
        cluster.Simulation.Run(TimeSpan.FromSeconds(4));
        Assert.Null(comer.Group);
        cluster.Simulation.After(TimeSpan.Zero, gate.SetResult);
        Assert.True(cluster.Simulation.RunUntil(() => comer.Group is not null, TimeSpan.FromSeconds(10)));
        Assert.True(cluster.Settle());
        Assert.Empty(cluster.Oracle.Suspicions);
        Assert.Equal(3, cluster[0].Group!.CurrentView.Members.Count);
    }

    [Fact]
    public void F3_a_joiner_whose_giver_is_stuck_in_a_handler_ends_and_says_where()
    {
        var gate = new TaskCompletionSource();
        int joined = 0;
        using var cluster = Settled(3, 2, g =>
        {
            int me = joined++;
            g.HandleAsync<byte[]>("hang", async (from, m) =>
            {
                if (me == 0) await gate.Task.ConfigureAwait(false);
            });
        });
        _ = cluster.Simulation.Spawn(() => cluster[1].Group!.SendAsync("hang", Array.Empty<byte>()).AsTask());
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        var comer = Newcomer(cluster, options: new() { JoinTimeout = TimeSpan.FromSeconds(8) });
        cluster.Simulation.Run(TimeSpan.FromSeconds(12));
        Assert.Contains($"a handler at {cluster[0].SimNode.Address}", Assert.IsType<JoinTimeoutException>(comer.JoinError).WaitedFor, StringComparison.Ordinal);
        cluster.Simulation.Run(TimeSpan.FromSeconds(2));
        Assert.Equal(2, cluster[1].Group!.CurrentView.Members.Count);
        cluster.Simulation.After(TimeSpan.Zero, gate.SetResult);
        Assert.True(cluster.Simulation.RunUntil(() => cluster[0].Group!.CurrentView.Id == cluster.Oracle.Find("g")!.View, TimeSpan.FromSeconds(5)));
    }

    [Theory]
    [InlineData(9)]
    [InlineData(100)]
    public void F7_a_state_that_takes_long_to_save_can_be_joined(int seconds)
    {
        GroupCluster? all = null;
        // The save runs on a worker and takes this much virtual time.
        using var cluster = new GroupCluster(4, 1, tap: node => new DelayingNode(all!.Simulation, node, work => work is StateCut ? TimeSpan.FromSeconds(seconds) : TimeSpan.Zero), beforeMembers: c =>
        {
            all = c;
            c.HostOptions = new() { SaveTimeout = TimeSpan.FromMinutes(5) };
        });
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        var comer = Newcomer(cluster);
        Assert.True(cluster.Simulation.RunUntil(() => comer.Group is not null, TimeSpan.FromSeconds(seconds + 10)), $"{comer.JoinError}");
        Assert.True(cluster.Simulation.Now.TotalSeconds > seconds);
        Assert.Equal(0, comer.SimNode.Node.Counters.Forbidden);
    }

    [Fact]
    public void F7_a_state_that_cannot_be_saved_ends_the_join_and_says_so()
    {
        using var cluster = Settled(5, 1, g => g.CheckpointSnapshot(static () => throw new FormatException("no way"), static state => { }));
        var comer = Newcomer(cluster);
        cluster.Simulation.Run(TimeSpan.FromSeconds(3));
        Assert.Contains("no way", Assert.IsType<JoinRefusedException>(comer.JoinError).Message, StringComparison.Ordinal);
        cluster.Simulation.Run(TimeSpan.FromSeconds(2));
        Assert.Single(cluster[0].Group!.CurrentView.Members);
    }

    [Fact]
    public void R7_an_inline_join_that_was_cancelled_and_taken_over_keeps_no_turns()
    {
        using var cluster = Settled(8, 2);
        using var cancel = new CancellationTokenSource();
        var comer = Newcomer(cluster, g => g.Inline(), token: cancel.Token);
        var node = Assert.IsType<Node>(comer.SimNode.Node);
        Assert.True(cluster.Simulation.RunUntil(() => !node.LendsTurns, TimeSpan.FromSeconds(1)));
        cancel.Cancel();
        Assert.True(cluster.Simulation.RunUntil(() => comer.Host.Groups is [{ Phase: GroupPhase.Abandoned }], TimeSpan.FromSeconds(1)));
        GroupProtocol abandoned = comer.Host.Groups[0];
        comer.JoinAgain();
        Assert.True(cluster.Simulation.RunUntil(() => comer.Group is not null, TimeSpan.FromSeconds(10)));
        Assert.True(abandoned.IsOver && abandoned.View is null);
        _ = cluster.Simulation.Spawn(comer.LeaveAsync);
        cluster.Simulation.Run(TimeSpan.FromSeconds(3));
        Assert.Empty(comer.Host.Groups);
        Assert.True(node.LendsTurns);
    }

    [Fact]
    public void R_what_comes_while_a_join_is_given_up_reaches_the_join_that_takes_its_place()
    {
        int got = 0;
        using var cluster = Settled(9, 2, g => g.Handle<byte[]>("one", (from, m) => got++).Handle<byte[]>("all", (from, m) => got++));
        using var cancel = new CancellationTokenSource();
        var comer = Newcomer(cluster, token: cancel.Token);
        Assert.True(cluster.Simulation.RunUntil(() => comer.Host.Groups is [{ Id: not null }], TimeSpan.FromSeconds(2)));
        // The joiner gives up before it hears of its view, which comes late.
        comer.Membership.Deaf = true;
        cancel.Cancel();
        Assert.True(cluster.Simulation.RunUntil(() => comer.Host.Groups is [{ Phase: GroupPhase.Abandoned }] && cluster[0].Group!.CurrentView.Members.Count == 3, TimeSpan.FromSeconds(5)));
        int rank = cluster[0].Group!.CurrentView.RankOf(comer.Id);
        _ = cluster.Simulation.Spawn(() => cluster[0].Group!.SendToAsync(rank, "one", Array.Empty<byte>()).AsTask());
        _ = cluster.Simulation.Spawn(() => cluster[0].Group!.SendAsync("all", Array.Empty<byte>()).AsTask());
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(200));
        comer.JoinAgain();
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(200));
        comer.Membership.Deaf = false;
        // Without what came meanwhile, which includes a checkpoint, it would ask for another view after 5 s.
        Assert.True(cluster.Simulation.RunUntil(() => comer.Group is not null, TimeSpan.FromSeconds(3)), $"{comer.JoinError}");
        Assert.True(cluster.Settle());
        // Only the message to the joiner alone waits for the view that says that the joiner has the state.
        Assert.True(cluster.Simulation.RunUntil(() => got == 1 + 3, TimeSpan.FromSeconds(3)), $"{got} came");
        Assert.Empty(cluster.Oracle.Suspicions);
        Assert.Null(cluster.Verdict());
    }

    [Fact]
    public void F16_nothing_of_a_group_that_is_over_is_kept_for_its_peers()
    {
        using var cluster = Settled(7, 3);
        Assert.True(cluster[0].Host.Bindings.Count > 0);
        _ = cluster.Simulation.Spawn(cluster[0].LeaveAsync);
        cluster.Simulation.Run(TimeSpan.FromSeconds(3));
        Assert.Empty(cluster[0].Host.Groups);
        Assert.Equal(0, cluster[0].Host.Bindings.Count);
    }

    [Fact]
    public void D4_a_forbidden_step_throws_in_tests_and_is_counted_and_not_taken_otherwise()
    {
        var counters = new NodeCounters();
        var life = new GroupLife(counters, "g");
        life.Become(GroupPhase.Member);
        life.Become(GroupPhase.Loading);
        Assert.Equal((GroupPhase.Member, 1), (life.Phase, counters.Forbidden));
        counters.ThrowsForbidden = true;
        Assert.Throws<InvalidOperationException>(() => life.Become(GroupPhase.Abandoned));
        life.Become(GroupPhase.Over);
        foreach (var phase in Enum.GetValues<GroupPhase>()) Assert.False(GroupLife.MayFollow(GroupPhase.Over, phase));
    }

    [Fact]
    public void D1_a_join_whose_token_is_cancelled_already_is_not_begun()
    {
        using var cluster = Settled(61, 1);
        int installs = cluster.Oracle.Installs;
        var comer = Newcomer(cluster, token: new CancellationToken(canceled: true));
        cluster.Simulation.Run(TimeSpan.FromSeconds(2));
        Assert.IsAssignableFrom<OperationCanceledException>(comer.JoinError);
        Assert.Equal(installs, cluster.Oracle.Installs);
    }

    [Fact]
    public void Options_that_are_null_are_named_before_a_join_needs_them()
    {
        Assert.Contains("Tag", Assert.Throws<ArgumentException>(static () => GroupHostOptions.Validate(new() { Tag = null! })).Message, StringComparison.Ordinal);
        Assert.Contains("Serializer", Assert.Throws<ArgumentException>(static () => GroupHostOptions.Validate(new() { Serializer = null! })).Message, StringComparison.Ordinal);
        GroupHostOptions.Validate(new());
    }
}
