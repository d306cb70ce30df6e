using GroupCore.Groups;
using GroupCore.Membership;
using Ida.Testing;

namespace GroupCore.Tests.Groups;

/// <summary>Handlers, query handlers and hooks that are slow, stuck or broken hold their own group up, visibly, and cost no member its place.</summary>
public sealed class SlowUserCodeTests
{
    private static readonly GroupOptions s_evicts = new() { SlowMember = SlowMember.Evict, SlowMemberTimeout = TimeSpan.FromSeconds(4) };

    private static GroupCluster Settled(ulong seed, int members, Action<GroupBuilder>? more = null, GroupOptions? options = null, Action<GroupCluster>? beforeMembers = null)
    {
        var cluster = new GroupCluster(new Simulation(new SimulationOptions { Seed = seed, ReplayCommand = $"seed {seed}" }), members, more: more, options: options, beforeMembers: beforeMembers);
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        return cluster;
    }

    private static void RequestView(GroupCluster cluster) => cluster.Oracle.RequestView(cluster.Oracle.Find("g")!.Id);

    /// <summary>Requests a view while one member handles a message of another. Returns the members by rank.</summary>
    private static List<TestMember> RequestView(GroupCluster cluster, int from, int to, string handler)
    {
        var rank = cluster.Members.OrderBy(m => m.Group!.Rank).ToList();
        _ = cluster.Simulation.Spawn(() => rank[from].Group!.SendToAsync(to, handler, Array.Empty<byte>()).AsTask());
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        RequestView(cluster);
        return rank;
    }

    [Theory]
    [InlineData(1), InlineData(2), InlineData(3), InlineData(4)]
    public void F3_a_query_handler_that_takes_long_while_another_joins_costs_nobody_his_place(ulong seed)
    {
        var gate = new TaskCompletionSource();
        using var cluster = Settled(seed, 2, g => g.OnQueryAsync<int, int>("slow", async (from, q) =>
        {
            await gate.Task.ConfigureAwait(false);
            return QueryAnswer<int>.Of(q);
        }));
        int answer = 0;
        _ = cluster.Simulation.Spawn(async () => answer = await cluster[1].Group!.QueryToAsync<int, int>(cluster[0].Group!.Rank, "slow", 7));
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(50));
        cluster.Add();
        cluster.Simulation.Run(TimeSpan.FromSeconds(12));
        Assert.Empty(cluster.Oracle.Suspicions);
        var status = cluster[1].Group!.Status;
        Assert.True(status.ChangingView);
        Assert.Contains(status.WaitsFor, text => text.Contains($"handlers of {cluster[0].SimNode.Address}", StringComparison.Ordinal));
        Assert.Equal("slow", cluster[0].Group!.Status.Handler);
        Assert.Equal(1, status.SlowMembers);
        cluster.Simulation.After(TimeSpan.Zero, gate.SetResult);
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        Assert.Equal(7, answer);
        Assert.All(cluster.Usable, m => Assert.Equal(3, m.Group!.CurrentView.Members.Count));
        Assert.Empty(cluster[1].Group!.Status.WaitsFor);
        Assert.Null(cluster.Verdict());
    }

    [Fact]
    public void F3_a_chain_of_handlers_names_the_one_that_is_at_work()
    {
        var gate = new TaskCompletionSource();
        GroupCluster? all = null;
        using var cluster = Settled(5, 5, g => g
            .HandleAsync<byte[]>("hang", async (from, m) => await gate.Task.ConfigureAwait(false))
            .HandleAsync<byte[]>("pass", async (from, m) => await all!.Members.Single(x => x.Group!.Rank == 4).Group!.SendToAsync(3, "hang", m).ConfigureAwait(false)));
        all = cluster;
        var rank = RequestView(cluster, from: 2, to: 4, "pass");
        cluster.Simulation.Run(TimeSpan.FromSeconds(8));
        Assert.Empty(cluster.Oracle.Suspicions);
        Assert.Contains($"handlers of {rank[3].SimNode.Address}", rank[4].Group!.Status.WaitsFor);
        cluster.Simulation.After(TimeSpan.Zero, gate.SetResult);
        Assert.True(cluster.Settle());
        Assert.Null(cluster.Verdict());
    }

    [Fact]
    public void F3_a_group_that_evicts_suspects_the_member_that_holds_a_view_change_up_and_no_other()
    {
        var gate = new TaskCompletionSource();
        using var cluster = Settled(6, 5, g => g.HandleAsync<byte[]>("hang", async (from, m) => await gate.Task.ConfigureAwait(false)), s_evicts);
        // Rank 2 waits for the handler of rank 3, and so the leader waits for rank 2.
        var rank = RequestView(cluster, from: 2, to: 3, "hang");
        cluster.Simulation.Run(TimeSpan.FromSeconds(3));
        Assert.Empty(cluster.Oracle.Suspicions);
        cluster.Simulation.Run(TimeSpan.FromSeconds(5));
        Assert.All(cluster.Oracle.Suspicions, a => Assert.Equal((rank[3].Id, Suspicion.Slow), a));
        Assert.True(cluster.Oracle.Suspicions.Count >= 4, $"{cluster.Oracle.Suspicions.Count} suspicions");
        cluster.Simulation.After(TimeSpan.Zero, gate.SetResult);
        Assert.True(cluster.Settle());
    }

    /// <summary>A handler that hangs may send to another member late. The handler there has then been at work for a moment only, however long the view change lasts.</summary>
    [Fact]
    public void F3_a_group_that_evicts_does_not_suspect_a_member_that_handles_a_message_for_a_moment_in_a_long_view_change()
    {
        TaskCompletionSource hangs = new(), sends = new(), ends = new();
        GroupCluster? all = null;
        using var cluster = Settled(9, 5, g => g
            .HandleAsync<byte[]>("hang", async (from, m) =>
            {
                await sends.Task.ConfigureAwait(false);
                await all!.Members.Single(x => x.Group!.Rank == 3).Group!.SendToAsync(4, "short", m).ConfigureAwait(false);
                await hangs.Task.ConfigureAwait(false);
            })
            .HandleAsync<byte[]>("short", async (from, m) => await ends.Task.ConfigureAwait(false)), s_evicts);
        all = cluster;
        var rank = RequestView(cluster, from: 2, to: 3, "hang");
        cluster.Simulation.Run(TimeSpan.FromSeconds(2.5));
        cluster.Simulation.After(TimeSpan.Zero, sends.SetResult);
        cluster.Simulation.Run(TimeSpan.FromSeconds(3.5));
        cluster.Simulation.After(TimeSpan.Zero, ends.SetResult);
        cluster.Simulation.Run(TimeSpan.FromSeconds(3));
        Assert.All(cluster.Oracle.Suspicions, a => Assert.Equal((rank[3].Id, Suspicion.Slow), a));
        Assert.True(cluster.Oracle.Suspicions.Count >= 4, $"{cluster.Oracle.Suspicions.Count} suspicions");
        cluster.Simulation.After(TimeSpan.Zero, hangs.SetResult);
        Assert.True(cluster.Settle());
    }

    /// <summary>Processes that join and fail in turn: each proposal brings one of them, and the next comes when it has failed.</summary>
    [Fact]
    public void F3_a_group_that_evicts_suspects_a_member_that_hangs_however_often_the_view_change_begins_anew()
    {
        var gate = new TaskCompletionSource();
        using var cluster = Settled(10, 5, g => g.HandleAsync<byte[]>("hang", async (from, m) => await gate.Task.ConfigureAwait(false)),
            new() { SlowMember = SlowMember.Evict, SlowMemberTimeout = TimeSpan.FromSeconds(4) });
        var rank = cluster.Members.OrderBy(m => m.Group!.Rank).ToList();
        _ = cluster.Simulation.Spawn(() => rank[2].Group!.SendToAsync(3, "hang", Array.Empty<byte>()).AsTask());
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        var proposals = new HashSet<ulong>();
        var comer = cluster.Add();
        for (int i = 0; i < 4; i++)
        {
            cluster.Simulation.Run(TimeSpan.FromSeconds(1.5));
            proposals.Add(cluster.Oracle.Find("g")!.Pending!.Number);
            var next = cluster.Add();
            cluster.Simulation.Run(TimeSpan.FromSeconds(1.5));
            comer.Crash();
            cluster.Oracle.Fail(comer.Membership);
            comer = next;
        }
        Assert.Equal(4, proposals.Count);
        // A suspicion stands from one proposal to the next, since the Oracle wants to hear it for two seconds.
        Assert.Equal(4, cluster.Oracle.Suspicions.Count);
        Assert.All(cluster.Oracle.Suspicions, a => Assert.Equal((rank[3].Id, Suspicion.Slow), a));
        Assert.Empty(cluster.Oracle.Withdrawals);
        cluster.Simulation.After(TimeSpan.Zero, gate.SetResult);
        Assert.True(cluster.Settle());
    }

    /// <summary>
    /// A member whose handler took too long has returned, and the view change goes on to wait for another member's handler. The suspicions of the first member are withdrawn,
    /// also when it returns later.
    /// </summary>
    [Theory]
    [InlineData(0.0)]
    [InlineData(0.5)]
    [InlineData(2.3)]
    public void F3_suspicions_of_a_member_whose_slow_handler_has_ended_are_withdrawn_though_the_view_change_goes_on(double later)
    {
        var gates = new[] { new TaskCompletionSource(), new TaskCompletionSource() };
        using var cluster = Settled(11, 5, g => g.HandleAsync<byte[]>("hang", async (from, m) => await gates[m[0]].Task.ConfigureAwait(false)), s_evicts);
        var rank = cluster.Members.OrderBy(m => m.Group!.Rank).ToList();
        for (byte i = 0; i < 2; i++)
        {
            byte[] which = [i];
            int to = 3 + i;
            _ = cluster.Simulation.Spawn(() => rank[2].Group!.SendToAsync(to, "hang", which).AsTask());
        }
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        RequestView(cluster);
        cluster.Simulation.Run(TimeSpan.FromSeconds(8));
        Assert.Equal(4, cluster.Oracle.Suspicions.Count(a => a == (rank[3].Id, Suspicion.Slow)));
        Assert.Empty(cluster.Oracle.Withdrawals);
        cluster.Simulation.Run(TimeSpan.FromSeconds(later));
        cluster.Simulation.After(TimeSpan.Zero, gates[0].SetResult);
        // A member looks once a second whether its handlers have ended.
        cluster.Simulation.Run(TimeSpan.FromSeconds(1.2));
        Assert.Equal(Enumerable.Repeat(rank[3].Id, 4), cluster.Oracle.Withdrawals);
        // The suspicions of the other member stand.
        cluster.Simulation.Run(TimeSpan.FromSeconds(5));
        Assert.Equal(4, cluster.Oracle.Withdrawals.Count);
        Assert.Equal(8, cluster.Oracle.Suspicions.Count);
        cluster.Simulation.After(TimeSpan.Zero, gates[1].SetResult);
        Assert.True(cluster.Settle());
    }

    /// <summary>Each proposal runs its hooks anew, each in its time: together they must not count as a handler that hangs.</summary>
    [Fact]
    public void R_hooks_that_keep_their_time_cost_nobody_his_place_however_often_the_view_change_begins_anew()
    {
        GroupCluster? all = null;
        int hooks = 0;
        using var cluster = Settled(10, 5, g => g.OnViewProposed((proposal, context) =>
        {
            hooks++;
            all!.Simulation.After(TimeSpan.FromSeconds(1.5), context.Done);
        }), s_evicts, c => all = c);
        var comer = cluster.Add();
        for (int i = 0; i < 8; i++)
        {
            cluster.Simulation.Run(TimeSpan.FromSeconds(0.6));
            var next = cluster.Add();
            cluster.Simulation.Run(TimeSpan.FromSeconds(0.6));
            comer.Crash();
            cluster.Oracle.Fail(comer.Membership);
            comer = next;
        }
        Assert.InRange(hooks, 5 * 7, int.MaxValue);
        Assert.Empty(cluster.Oracle.Suspicions);
        Assert.True(cluster.Settle());
    }

    /// <summary>
    /// A member that was silent and has spoken since holds nothing up. The suspicions of it are withdrawn, although the view change goes on to wait for another member's handler.
    /// </summary>
    [Fact]
    public void R_suspicions_of_a_member_that_was_silent_and_has_spoken_are_withdrawn_though_the_view_change_goes_on()
    {
        var gate = new TaskCompletionSource();
        using var cluster = Settled(12, 3, g => g.HandleAsync<byte[]>("hang", async (from, m) => await gate.Task.ConfigureAwait(false)));
        var rank = cluster.Members.OrderBy(m => m.Group!.Rank).ToList();
        _ = cluster.Simulation.Spawn(() => rank[0].Group!.SendToAsync(2, "hang", Array.Empty<byte>()).AsTask());
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        foreach (var other in new[] { rank[0], rank[2] }) cluster.Simulation.Network.Cut(rank[1].SimNode, other.SimNode, CutMode.Drop);
        RequestView(cluster);
        cluster.Simulation.Run(TimeSpan.FromSeconds(3.5));
        int suspected = cluster.Oracle.Suspicions.Count(a => a == (rank[1].Id, Suspicion.FlushStall));
        Assert.Equal(2, suspected);
        // The suspicions stand as long as the member is silent.
        Assert.Empty(cluster.Oracle.Withdrawals);
        cluster.Simulation.Network.Heal();
        cluster.Simulation.Run(TimeSpan.FromSeconds(5));
        Assert.NotNull(cluster.Oracle.Find("g")!.Pending);
        Assert.Equal(suspected, cluster.Oracle.Suspicions.Count(a => a.Subject == rank[1].Id));
        Assert.Equal(suspected, cluster.Oracle.Withdrawals.Count(id => id == rank[1].Id));
        cluster.Simulation.After(TimeSpan.Zero, gate.SetResult);
        Assert.True(cluster.Settle());
    }

    /// <summary>Only the member itself waits for the handler, as it sent itself the message: as a caller, or in its handler of another member's message.</summary>
    [Theory]
    [InlineData(3, false)]
    [InlineData(0, false)]
    [InlineData(3, true)]
    public void F3_a_group_that_evicts_suspects_a_member_that_holds_a_view_change_up_with_a_message_to_itself(int to, bool chain)
    {
        var gate = new TaskCompletionSource();
        GroupCluster? all = null;
        using var cluster = Settled(8, 5, g => g
            .HandleAsync<byte[]>("hang", async (from, m) => await gate.Task.ConfigureAwait(false))
            .HandleAsync<byte[]>("pass", async (from, m) => await all!.Members.Single(x => x.Group!.Rank == to).Group!.SendToAsync(to, "hang", m).ConfigureAwait(false)), s_evicts);
        all = cluster;
        var rank = RequestView(cluster, from: chain ? 2 : to, to: to, chain ? "pass" : "hang");
        cluster.Simulation.Run(TimeSpan.FromSeconds(3));
        Assert.Empty(cluster.Oracle.Suspicions);
        cluster.Simulation.Run(TimeSpan.FromSeconds(3));
        Assert.All(cluster.Oracle.Suspicions, a => Assert.Equal((rank[to].Id, Suspicion.Slow), a));
        Assert.True(cluster.Oracle.Suspicions.Count >= 4, $"{cluster.Oracle.Suspicions.Count} suspicions");
        cluster.Simulation.After(TimeSpan.Zero, gate.SetResult);
        Assert.True(cluster.Settle());
    }

    [Theory]
    [InlineData(SlowMember.Block)]
    [InlineData(SlowMember.Evict)]
    public void F3_a_member_that_holds_the_windows_back_is_told_of_and_suspected_only_where_the_group_says_so(SlowMember policy)
    {
        var gate = new TaskCompletionSource();
        int joined = 0, told = 0;
        using var cluster = Settled(7, 3, g =>
        {
            int me = joined++;
            g.HandleAsync<byte[]>("many", async (from, m) =>
            {
                if (me == 2) await gate.Task.ConfigureAwait(false);
            }).OnError(error => told += error.Exception is SlowMemberException ? 1 : 0);
        }, new() { SlowMember = policy, SlowMemberTimeout = TimeSpan.FromSeconds(15) });
        for (int i = 0; i < 30_000; i++) _ = cluster.Simulation.Spawn(() => cluster[0].Group!.SendAsync("many", new byte[1_000]).AsTask());
        cluster.Simulation.Run(TimeSpan.FromSeconds(10));
        Assert.Equal(2, told);
        Assert.Empty(cluster.Oracle.Suspicions);
        cluster.Simulation.Run(TimeSpan.FromSeconds(10));
        if (policy == SlowMember.Block) Assert.Empty(cluster.Oracle.Suspicions);
        else Assert.Equal([(cluster[2].Id, Suspicion.Slow), (cluster[2].Id, Suspicion.Slow)], cluster.Oracle.Suspicions);
        cluster.Simulation.After(TimeSpan.Zero, gate.SetResult);
        cluster.Simulation.Run(TimeSpan.FromSeconds(5));
        Assert.Equal(0, cluster[2].Group!.Status.EventsWaiting);
        Assert.Equal(2, told);
    }

    [Theory]
    [InlineData(SlowMember.Block)]
    [InlineData(SlowMember.Evict)]
    public void A_member_that_does_not_acknowledge_in_a_long_view_change_is_not_slow(SlowMember policy)
    {
        int got = 0, told = 0;
        using var cluster = Settled(21, 4, g => g.Handle<byte[]>("many", (from, m) => got++).OnError(error => told += error.Exception is SlowMemberException ? 1 : 0),
            new() { SlowMember = policy, SlowMemberTimeout = TimeSpan.FromSeconds(2) });
        // The last member hears of the view change very late, and the sender later than the others. These refuse what it sends meanwhile, and get it with the cut.
        var (sender, late) = (cluster[1], cluster[3]);
        sender.Membership.Deaf = late.Membership.Deaf = true;
        RequestView(cluster);
        Assert.True(cluster.Simulation.RunUntil(() => cluster[0].Group!.Protocol.IsWedged && cluster[2].Group!.Protocol.IsWedged, TimeSpan.FromSeconds(2)));
        for (int i = 0; i < 3_000; i++) _ = cluster.Simulation.Spawn(() => sender.Group!.SendAsync("many", new byte[1_000]).AsTask());
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(50));
        sender.Membership.Deaf = false;
        cluster.Simulation.Run(TimeSpan.FromSeconds(10));
        Assert.True(sender.Group!.Protocol.IsWedged);
        Assert.DoesNotContain(cluster.Oracle.Suspicions, static a => a.Evidence == Suspicion.Slow);
        Assert.Equal(0, told);
        late.Membership.Deaf = false;
        Assert.True(cluster.Settle());
        Assert.True(cluster.Simulation.RunUntil(() => got == 4 * 3_000, TimeSpan.FromSeconds(5)), $"{got} came");
        Assert.DoesNotContain(cluster.Oracle.Suspicions, static a => a.Evidence == Suspicion.Slow);
        Assert.Null(cluster.Verdict());
    }

    [Fact]
    public void What_views_bring_a_member_whose_handler_is_stuck_is_bounded_and_costs_it_its_place_at_the_end()
    {
        const long most = 16 << 20;
        var gate = new TaskCompletionSource();
        int joined = 0, who = -1;
        using var cluster = WithBacklog(41, most, g =>
        {
            int me = joined++;
            g.HandleAsync<byte[]>("many", async (from, m) =>
            {
                if (me == who) await gate.Task.ConfigureAwait(false);
            }).OnError(static error => { });
        });
        // The stuck member is not one of the first two, which stay.
        who = cluster.Members.FindIndex(static m => m.Group!.Rank == 2);
        var stuck = cluster[who].Group!;
        long held = 0;
        Flood(cluster, cluster.Members.Where(m => m.Group != stuck));
        for (int view = 0; view < 30 && !stuck.Completion.IsCompleted; view++)
        {
            cluster.Simulation.Run(TimeSpan.FromSeconds(5));
            RequestView(cluster);
            held = Math.Max(held, stuck.Protocol.Dispatcher.Backlog);
        }
        cluster[who].End();
        Assert.IsType<GroupOverloadedException>(stuck.Completion.Exception?.InnerException);
        // For each view a window of both senders, until the handlers have stood still for long.
        Assert.InRange(held, most / 2, most + (8 * GroupLimits.Window));
        Assert.True(cluster.Simulation.RunUntil(() => cluster.Members.TrueForAll(m => m.Group == stuck || m.Group!.CurrentView.Members.Count == 2), TimeSpan.FromSeconds(5)));
        Assert.Empty(cluster.Oracle.Suspicions);
        // Its handler is still stuck, but nothing is held for it any more.
        Assert.InRange(stuck.Protocol.Dispatcher.Backlog, 0, 1 << 20);
        cluster.Simulation.After(TimeSpan.Zero, gate.SetResult);
        cluster.Simulation.Run(TimeSpan.FromSeconds(5));
    }

    [Fact]
    public void A_group_whose_members_are_all_stuck_keeps_its_state()
    {
        const long most = 4 << 20;
        var gates = new List<TaskCompletionSource>();
        using var cluster = WithBacklog(42, most, g =>
        {
            var gate = new TaskCompletionSource();
            gates.Add(gate);
            g.HandleAsync<byte[]>("many", async (from, m) => await gate.Task.ConfigureAwait(false)).OnError(static error => { });
        });
        Flood(cluster, cluster.Members);
        for (int view = 0; view < 30; view++)
        {
            cluster.Simulation.Run(TimeSpan.FromSeconds(1));
            RequestView(cluster);
        }
        var gone = cluster.Members.Single(static m => m.Group!.Completion.IsCompleted);
        Assert.IsType<GroupOverloadedException>(gone.Group!.Completion.Exception?.InnerException);
        gone.End();
        foreach (var gate in gates) cluster.Simulation.After(TimeSpan.Zero, gate.SetResult);
        cluster.Simulation.Run(TimeSpan.FromSeconds(5));
        Assert.Equal(2, cluster.Oracle.Find("g")!.Members.Count);
        // The members have the state, and give it.
        var comer = cluster.Add(static g => g.Handle<byte[]>("many", static (from, m) => { }));
        Assert.True(cluster.Simulation.RunUntil(() => comer.Group is not null, TimeSpan.FromSeconds(10)));
        Assert.Equal(3, comer.Group!.CurrentView.Members.Count);
    }

    [Fact]
    public void Views_in_quick_succession_do_not_make_slow_handlers_stuck()
    {
        GroupCluster? all = null;
        using var cluster = WithBacklog(45, 1 << 20, g => g.HandleAsync<byte[]>("many", async (from, m) => await all!.Simulation.Delay(TimeSpan.FromSeconds(9))));
        all = cluster;
        Flood(cluster, cluster.Members);
        for (int view = 0; view < 12; view++)
        {
            cluster.Simulation.Run(TimeSpan.FromMilliseconds(view % 3 == 0 ? 3_000 : 20));
            RequestView(cluster);
        }
        Assert.All(cluster.Members, static m => Assert.InRange(m.Group!.Protocol.Dispatcher.Backlog, 1 << 20, long.MaxValue));
        Assert.All(cluster.Members, static m => Assert.False(m.Group!.Completion.IsCompleted));
    }

    [Fact]
    public void Members_whose_handlers_lag_but_make_progress_stay()
    {
        const long most = 4 << 20;
        GroupCluster? all = null;
        using var cluster = WithBacklog(43, most, g => g.HandleAsync<byte[]>("many", async (from, m) => await all!.Simulation.Delay(TimeSpan.FromMilliseconds(300))));
        all = cluster;
        Flood(cluster, cluster.Members);
        long held = 0;
        for (int view = 0; view < 8; view++)
        {
            cluster.Simulation.Run(TimeSpan.FromSeconds(1));
            RequestView(cluster);
            held = Math.Max(held, cluster[1].Group!.Protocol.Dispatcher.Backlog);
        }
        Assert.InRange(held, 2 * most, long.MaxValue);
        Assert.All(cluster.Members, static m => Assert.False(m.Group!.Completion.IsCompleted));
        Assert.Equal(3, cluster[0].Group!.CurrentView.Members.Count);
    }

    [Fact]
    public void What_a_view_change_delivers_at_once_costs_nobody_his_place()
    {
        int got = 0;
        using var cluster = WithBacklog(44, 1 << 20, g => g.Handle<int>("many", (from, m) => got++));
        var sequencer = cluster.Members.Single(static m => m.Group!.Rank == 0);
        var others = cluster.Members.Where(m => m != sequencer).ToList();
        sequencer.SimNode.Pause(TimeSpan.FromHours(1));
        foreach (var sender in others)
            for (int i = 0; i < 3_000; i++) _ = cluster.Simulation.Spawn(async () => await Record.ExceptionAsync(() => sender.Group!.OrderedSendAsync("many", i).AsTask()));
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        Assert.Equal(0, got);
        sequencer.Crash();
        cluster.Oracle.Fail(sequencer.Membership);
        Assert.True(cluster.Simulation.RunUntil(() => got == 12_000, TimeSpan.FromSeconds(5)), $"{got} came");
        Assert.All(others, static m => Assert.False(m.Group!.Completion.IsCompleted));
    }

    /// <summary>Its first event takes three seconds, in a process that has run for longer than handlers may stand still.</summary>
    [Fact]
    public void A_joiner_is_not_stuck_in_its_first_event_before_it_has_had_the_time_for_it()
    {
        int nodes = 0;
        var simulation = new Simulation(new SimulationOptions { Seed = 46, ReplayCommand = "seed 46" });
        using var cluster = new GroupCluster(simulation, 2, beforeMembers: c => c.HostOptions = new() { HandlerBacklogBytes = 1 << 20, MaxJoinBacklogBytes = 4 << 20 },
            more: g => g.Handle<byte[]>("many", static (from, m) => { }).OnError(static error => { }), tap: node =>
            {
                bool comes = ++nodes == 3;
                return new DelayingNode(simulation, node, work => TimeSpan.FromSeconds(comes && work is GroupCore.Groups.Dispatch.Dispatcher ? 3 : 0));
            });
        Assert.True(cluster.Settle());
        simulation.Run(TimeSpan.FromSeconds(20));
        var members = cluster.Members.ToList();
        var comer = cluster.Add();
        Assert.True(simulation.RunUntil(() => comer.Host.Groups is [{ Phase: GroupCore.Groups.Views.GroupPhase.Member }], TimeSpan.FromSeconds(2)));
        var joined = comer.Host.Groups[0];
        Flood(cluster, members);
        for (int view = 0; view < 5; view++)
        {
            simulation.Run(TimeSpan.FromMilliseconds(300));
            RequestView(cluster);
        }
        simulation.Run(TimeSpan.FromMilliseconds(300));
        Assert.Equal(0, joined.Dispatcher.Position);
        Assert.InRange(joined.Dispatcher.Backlog, 6 << 20, long.MaxValue);
        Assert.Null(joined.Over);
        simulation.Run(TimeSpan.FromSeconds(5));
        Assert.NotNull(comer.Group);
        Assert.Null(joined.Over);
    }

    private static GroupCluster WithBacklog(ulong seed, long most, Action<GroupBuilder> more)
    {
        var cluster = new GroupCluster(seed, 3, beforeMembers: c => c.HostOptions = new() { HandlerBacklogBytes = most }, more: more);
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        return cluster;
    }

    private static void Flood(GroupCluster cluster, IEnumerable<TestMember> senders)
    {
        foreach (var sender in senders)
            for (int i = 0; i < 2_000; i++) _ = cluster.Simulation.Spawn(async () => await Record.ExceptionAsync(() => sender.Group!.SendAsync("many", new byte[50_000]).AsTask()));
    }

    [Fact]
    public void R_what_hooks_send_beyond_what_a_receiver_holds_waits_and_is_not_dropped()
    {
        const int messages = 80;
        int joined = 0, got = 0, to = 0;
        var sent = new List<Task>();
        bool send = false;
        using var cluster = Settled(9, 2, g =>
        {
            bool sends = joined++ == 0;
            g.Handle<byte[]>("big", (from, m) => got++);
            g.OnViewProposed((proposal, context) =>
            {
                for (int i = 0; sends && send && i < messages; i++) sent.Add(context.SendAsync(to, "big", new byte[1_000_000]).AsTask());
                context.Done();
            });
        });
        (send, to) = (true, cluster[1].Group!.Rank);
        // The receiver is wedged a second late.
        cluster[1].Membership.Deaf = true;
        RequestView(cluster);
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        cluster[1].Membership.Deaf = false;
        Assert.True(cluster.Simulation.RunUntil(() => got == messages, TimeSpan.FromSeconds(5)), $"{got} came");
        send = false;
        Assert.True(cluster.Settle());
        Assert.Empty(cluster.Oracle.Suspicions);
        Assert.Equal(0, cluster[1].SimNode.Node.Counters.Refused(GroupCore.Runtime.RefusalReason.Unexpected));
        Assert.Null(cluster.Verdict());
    }

    [Theory]
    [InlineData("silent")]
    [InlineData("throws")]
    [InlineData("waits behind a handler")]
    public void F4_a_hook_that_never_says_done_keeps_its_place_and_the_view_change_goes_on(string kind)
    {
        var gate = new TaskCompletionSource();
        int joined = 0;
        var errors = new List<GroupError>();
        var called = new List<ulong>();
        using var cluster = Settled(8, 3, g =>
        {
            bool broken = joined++ == 1;
            g.HandleAsync<byte[]>("hang", async (from, m) =>
            {
                if (broken) await gate.Task.ConfigureAwait(false);
            });
            g.OnError(error => errors.Add(error));
            g.OnViewProposed((proposal, context) =>
            {
                if (!broken) context.Done();
                else if (kind == "throws") throw new FormatException("broken hook");
                else called.Add(proposal.Number);
            });
        });
        errors.Clear();
        called.Clear();
        // A multicast, since its handler alone holds no view change up.
        if (kind.StartsWith("waits", StringComparison.Ordinal)) _ = cluster.Simulation.Spawn(() => cluster[1].Group!.SendAsync("hang", Array.Empty<byte>()).AsTask());
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        ulong before = cluster.Oracle.Find("g")!.View;
        RequestView(cluster);
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        Assert.Equal(kind == "throws", cluster.Oracle.Find("g")!.View > before);
        cluster.Simulation.Run(TimeSpan.FromSeconds(5));
        Assert.Empty(cluster.Oracle.Suspicions);
        Assert.True(cluster.Oracle.Find("g")!.View > before);
        Assert.Contains(errors, e => e.Handler == "view proposed" && (kind == "throws" ? e.Exception is FormatException : e.Exception is TimeoutException));
        cluster.Simulation.After(TimeSpan.Zero, gate.SetResult);
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        if (kind.StartsWith("waits", StringComparison.Ordinal)) Assert.Empty(called);
        Assert.Null(cluster.Verdict());
        Assert.Equal(3, cluster[1].Group!.CurrentView.Members.Count);
    }

    [Fact]
    public void F4_what_a_hook_sends_when_its_time_is_over_is_not_sent_and_told_of()
    {
        int joined = 0, got = 0;
        var errors = new List<GroupError>();
        TerminationContext? late = null;
        using var cluster = Settled(9, 3, g =>
        {
            bool broken = joined++ == 1;
            g.Handle<byte[]>("late", (from, m) => got++);
            g.OnError(error => errors.Add(error));
            g.OnViewProposed((proposal, context) =>
            {
                if (broken) late = context;
                else context.Done();
            });
        });
        RequestView(cluster);
        cluster.Simulation.Run(TimeSpan.FromSeconds(5));
        errors.Clear();
        _ = cluster.Simulation.Spawn(() => late!.SendAsync(0, "late", Array.Empty<byte>()).AsTask());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        Assert.Equal(0, got);
        Assert.IsType<InvalidOperationException>(Assert.Single(errors).Exception);
        Assert.Null(cluster.Verdict());
    }

    [Fact]
    public void D1_an_ordered_send_behind_a_handler_that_never_ends_is_told_of_the_exclusion()
    {
        var gate = new TaskCompletionSource();
        int joined = 0;
        using var cluster = Settled(31, 3, g =>
        {
            bool hangs = joined++ == 1;
            g.HandleAsync<int>("hang", async (from, m) =>
            {
                if (hangs) await gate.Task.ConfigureAwait(false);
            }).Handle<int>("count", static (_, _) => { });
        });
        var sends = new List<Task>();
        _ = cluster.Simulation.Spawn(() => Kept(cluster[1].Group!.OrderedSendAsync("hang", 1).AsTask()));
        _ = cluster.Simulation.Spawn(() => Kept(cluster[1].Group!.OrderedSendAsync("count", 2).AsTask()));
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        cluster.Oracle.Fail(cluster[1].Membership);
        cluster.Simulation.Run(TimeSpan.FromSeconds(2));
        Assert.All(sends, send => Assert.IsType<ExcludedException>(send.Exception?.InnerException));
        cluster.Simulation.After(TimeSpan.Zero, gate.SetResult);
        Assert.True(cluster.Settle());

        async Task Kept(Task send)
        {
            sends.Add(send);
            await send.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }
    }

    [Fact]
    public void D1_calls_that_wait_for_the_others_end_when_a_group_is_disposed_of_without_them()
    {
        using var cluster = Settled(33, 2, g => g.Handle<int>("count", static (_, _) => { }));
        var (first, second) = cluster[0].Group!.Rank == 0 ? (cluster[0], cluster[1]) : (cluster[1], cluster[0]);
        first.SimNode.Pause(TimeSpan.FromMinutes(5));
        Task? send = null, flush = null, dispose = null;
        cluster.Simulation.After(TimeSpan.Zero, () => send = second.Group!.OrderedSendAsync("count", 1).AsTask());
        cluster.Simulation.After(TimeSpan.FromMilliseconds(1), () => flush = second.Group!.FlushAsync().AsTask());
        cluster.Simulation.After(TimeSpan.FromMilliseconds(100), () => dispose = second.Group!.DisposeAsync().AsTask());
        cluster.Simulation.Run(TimeSpan.FromSeconds(6));
        Assert.True(dispose!.IsCompletedSuccessfully);
        Assert.IsType<NotMemberException>(send!.Exception?.InnerException);
        Assert.IsType<NotMemberException>(flush!.Exception?.InnerException);
    }
}
