using GroupCore.Groups;

namespace GroupCore.Tests.Groups;

/// <summary>Termination hooks of users: a view change waits for each hook, which may send until its part is over and not later.</summary>
public sealed class HookTests
{
    private static void RequestView(GroupCluster cluster) => cluster.Oracle.RequestView(cluster.Oracle.Find("g")!.Id);

    private static void SendToAll(TerminationContext context)
    {
        for (int rank = 0; rank < context.View.Members.Count; rank++) _ = context.SendAsync(rank, "hook", 1).AsTask();
    }

    private static GroupCluster Settled(ulong seed, int members, Action<GroupBuilder> more)
    {
        var cluster = new GroupCluster(seed, members, more: more);
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        return cluster;
    }

    [Fact]
    public void A_view_change_waits_for_each_of_several_hooks()
    {
        GroupCluster? all = null;
        int hooked = 0, sent = 0;
        bool on = false;
        using var cluster = Settled(121, 3, g => g
            .Handle<int>("hook", (from, m) => hooked++)
            .OnViewProposed(static (proposal, context) => context.Done())
            .OnViewProposed((proposal, context) =>
            {
                if (!on)
                {
                    context.Done();
                    return;
                }
                all!.Simulation.After(TimeSpan.FromMilliseconds(500), () =>
                {
                    sent++;
                    SendToAll(context);
                    context.Done();
                });
            }));
        (all, on) = (cluster, true);
        ulong view = cluster[0].Group!.CurrentView.Id;
        RequestView(cluster);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(450));
        Assert.All(cluster.Members, m => Assert.Equal(view, m.Group!.CurrentView.Id));
        on = false;
        Assert.True(cluster.Simulation.RunUntil(() => cluster[0].Group!.CurrentView.Id > view, TimeSpan.FromSeconds(5)));
        Assert.True(cluster.Settle());
        Assert.Equal((3, 9), (sent, hooked));
        Assert.Equal(0, cluster[0].Group!.Protocol.Status.HooksGivenUp);
        Assert.Null(cluster.Verdict());
    }

    /// <summary>The third member hears of the view change later than it gets what hooks of the others sent.</summary>
    [Fact]
    public void What_a_hook_sends_is_handled_when_its_receiver_knows_of_the_view_change()
    {
        GroupCluster? all = null;
        int joined = 0;
        bool on = false;
        var got = new List<(int Who, bool Wedged)>();
        using var cluster = Settled(129, 3, g =>
        {
            int me = joined++;
            g.Handle<int>("hook", (from, m) => got.Add((me, all![me].Group!.Protocol.IsWedged))).OnViewProposed((proposal, context) =>
            {
                if (on) SendToAll(context);
                context.Done();
            });
        });
        (all, on) = (cluster, true);
        cluster[2].Membership.Deaf = true;
        RequestView(cluster);
        Assert.True(cluster.Simulation.RunUntil(() => cluster[0].Group!.Protocol.IsWedged && cluster[1].Group!.Protocol.IsWedged, TimeSpan.FromSeconds(2)));
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(200));
        Assert.Equal([(0, true), (0, true), (1, true), (1, true)], got.Order());
        cluster[2].Membership.Deaf = on = false;
        Assert.True(cluster.Settle());
        Assert.Equal([(2, true), (2, true)], got.Skip(4));
        Assert.Null(cluster.Verdict());
    }

    [Theory]
    [InlineData("next view")]
    [InlineData("after done")]
    [InlineData("given up")]
    public void What_a_hook_sends_after_its_part_is_over_is_not_sent(string when)
    {
        int hooked = 0, joined = 0;
        var contexts = new List<TerminationContext>();
        bool on = false;
        using var cluster = Settled(122, 3, g =>
        {
            int me = joined++;
            g.Handle<int>("hook", (from, m) => hooked++).OnViewProposed((proposal, context) =>
            {
                if (!on)
                {
                    context.Done();
                    return;
                }
                // The first member's hook is judged; the second's keeps the view change open meanwhile.
                if (me == 0) contexts.Add(context);
                if (me == 0 && when == "after done") context.Done();
            });
        });
        on = true;
        ulong view = cluster[0].Group!.CurrentView.Id;
        RequestView(cluster);
        if (when == "next view")
        {
            // The hook is given up after two seconds, and then another view change follows.
            Assert.True(cluster.Simulation.RunUntil(() => cluster.Members.TrueForAll(m => m.Group!.CurrentView.Id > view), TimeSpan.FromSeconds(6)));
            RequestView(cluster);
            Assert.True(cluster.Simulation.RunUntil(() => contexts.Count == 2 && cluster.Members.TrueForAll(static m => m.Group!.Protocol.IsWedged), TimeSpan.FromSeconds(2)));
        }
        else if (when == "given up")
        {
            // The third member hears of the view change so late that its hook is still open.
            cluster[2].Membership.Deaf = true;
            Assert.True(cluster.Simulation.RunUntil(() => cluster[0].Group!.Status.HooksGivenUp == 1, TimeSpan.FromSeconds(4)));
        }
        else
        {
            Assert.True(cluster.Simulation.RunUntil(() => cluster.Members.TrueForAll(static m => m.Group!.Protocol.IsWedged), TimeSpan.FromSeconds(2)));
            cluster.Simulation.Run(TimeSpan.FromMilliseconds(50));
        }
        Assert.True(cluster[0].Group!.Protocol.IsWedged);
        cluster.Simulation.After(TimeSpan.Zero, () => SendToAll(contexts[0]));
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(500));
        cluster[2].Membership.Deaf = on = false;
        Assert.True(cluster.Settle());
        Assert.Equal(0, hooked);
        Assert.Equal((0, 0, 0, 0), cluster[0].Group!.Protocol.Backlog);
        Assert.Null(cluster.Verdict());
    }

    /// <summary>
    /// What the hook sends is handled before the next view, and the view change waits for the hook's end. An error is reported whether it is thrown before the first await or
    /// after it.
    /// </summary>
    [Theory]
    [InlineData("ends")]
    [InlineData("throws")]
    [InlineData("throws at once")]
    [InlineData("never ends")]
    public void A_hook_that_is_awaited_is_done_when_it_ends(string how)
    {
        var (errors, hooked) = (new List<GroupError>(), new List<ulong>());
        GroupCluster? all = null;
        bool on = false;
        using var cluster = Settled(124, 3, g => g.Handle<ulong>("hook", (from, view) => hooked.Add(view)).OnError(errors.Add).OnViewProposedAsync(async (proposal, context) =>
        {
            if (!on) return;
            if (how == "throws at once") throw new FormatException(how);
            foreach (var survivor in context.Survivors) await context.SendAsync(context.View.RankOf(survivor), "hook", context.View.Id).ConfigureAwait(false);
            await all!.Simulation.Delay(how == "never ends" ? TimeSpan.FromHours(1) : TimeSpan.FromMilliseconds(500)).ConfigureAwait(false);
            if (how == "throws") throw new FormatException(how);
        }));
        (all, on) = (cluster, true);
        ulong view = cluster[0].Group!.CurrentView.Id;
        RequestView(cluster);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(400));
        Assert.Equal(how == "throws at once", cluster[0].Group!.CurrentView.Id > view);
        Assert.True(cluster.Simulation.RunUntil(() => cluster.Members.TrueForAll(m => m.Group!.CurrentView.Id > view), how == "never ends" ? TimeSpan.FromSeconds(6) : TimeSpan.FromSeconds(1)));
        on = false;
        Assert.Equal(how == "throws at once" ? 0 : 9, hooked.Count);
        Assert.All(hooked, sent => Assert.Equal(view, sent));
        Assert.Equal(how == "never ends" ? 3 : 0, cluster.Members.Sum(static m => m.Group!.Status.HooksGivenUp));
        if (how.StartsWith("throws", StringComparison.Ordinal)) Assert.Equal([how, how, how], errors.Select(static error => error.Exception?.Message));
        else Assert.Equal(how == "never ends" ? 3 : 0, errors.Count);
        Assert.Null(cluster.Verdict());
    }

    [Fact]
    public void What_the_hook_of_a_leaver_sends_reaches_those_that_stay()
    {
        int joined = 0;
        bool on = false;
        var got = new List<int>();
        var errors = new List<GroupError>();
        using var cluster = Settled(124, 3, g =>
        {
            int me = joined++;
            g.Handle<int>("hook", (from, m) => got.Add(me)).OnError(errors.Add).OnViewProposed((proposal, context) =>
            {
                if (on && me == 1) SendToAll(context);
                context.Done();
            });
        });
        on = true;
        _ = cluster.Simulation.Spawn(cluster[1].LeaveAsync);
        Assert.True(cluster.Simulation.RunUntil(() => cluster[1].Ended, TimeSpan.FromSeconds(5)));
        Assert.True(cluster.Settle());
        Assert.Empty(errors);
        // The leaver is a member of the view that ends, so its own handlers get the message like all others.
        Assert.Equal([0, 1, 2], got.Order());
        Assert.Empty(cluster.Oracle.Suspicions);
        Assert.Null(cluster.Verdict());
    }

    [Fact]
    public void Handlers_at_a_leaver_answer_what_hooks_send_them()
    {
        int joined = 0;
        GroupCluster? all = null;
        bool on = false;
        var answers = new List<int>();
        var errors = new List<GroupError>();
        TerminationContext? waits = null;
        using var cluster = Settled(125, 3, g =>
        {
            int me = joined++;
            g.Handle<int>("asked", (from, hops) => _ = all![me].Group!.SendToAsync(from.Rank, hops > 0 ? "on" : "answer", me).AsTask())
                .Handle<int>("on", (from, m) => _ = all![me].Group!.SendToAsync(from.Rank, "asked", 0).AsTask())
                .Handle<int>("answer", (from, who) =>
                {
                    answers.Add(who);
                    if (answers.Count == 2) waits!.Done();
                })
                .OnError(errors.Add).OnViewProposed((proposal, context) =>
                {
                    if (!on || me != 0) context.Done();
                    else
                    {
                        waits = context;
                        int leaver = all![1].Group!.Rank;
                        _ = context.SendAsync(leaver, "asked", 0).AsTask();
                        _ = context.SendAsync(leaver, "asked", 1).AsTask();
                    }
                });
        });
        (all, on) = (cluster, true);
        _ = cluster.Simulation.Spawn(cluster[1].LeaveAsync);
        Assert.True(cluster.Simulation.RunUntil(() => cluster[1].Ended, TimeSpan.FromSeconds(5)));
        Assert.True(cluster.Settle());
        Assert.Empty(errors);
        Assert.Equal([1, 1], answers);
        Assert.Empty(cluster.Oracle.Suspicions);
        Assert.Null(cluster.Verdict());
    }

    [Fact]
    public void What_is_sent_for_a_leaver_whose_handlers_are_given_up_reaches_those_that_stay()
    {
        GroupCluster? all = null;
        int joined = 0, got = 0;
        bool on = false;
        TaskCompletionSource asked = new(), stuck = new();
        using var cluster = Settled(127, 4, g =>
        {
            int me = joined++;
            Task Send(int to, string handler) => all![me].Group!.SendToAsync(all[to].Group!.Rank, handler, 0).AsTask();
            g.Handle<int>("hook", (from, m) => _ = Send(2, "asked"))
                .HandleAsync<int>("long", async (from, m) => await stuck.Task)
                .HandleAsync<int>("asked", async (from, m) =>
                {
                    await asked.Task;
                    _ = Send(3, "last");
                })
                .Handle<int>("last", (from, m) => got++)
                .OnViewProposed((proposal, context) =>
                {
                    if (!on || me != 0) context.Done();
                    // By then the leaver has acknowledged.
                    else all!.Simulation.After(TimeSpan.FromMilliseconds(500), () =>
                    {
                        int leaver = all[1].Group!.Rank;
                        _ = context.SendAsync(leaver, "hook", 0).AsTask();
                        _ = context.SendAsync(leaver, "long", 0).AsTask();
                        context.Done();
                    });
                });
        });
        (all, on) = (cluster, true);
        bool disposed = false;
        cluster[1].End();
        _ = cluster.Simulation.Spawn(async () =>
        {
            await cluster[1].Group!.DisposeAsync();
            disposed = true;
        });
        Assert.True(cluster.Simulation.RunUntil(() => cluster.Members.TrueForAll(static m => m.Group!.Protocol.IsWedged), TimeSpan.FromSeconds(2)));
        on = false;
        // The third member hears of the next view after the others.
        cluster[2].Membership.Deaf = true;
        Assert.True(cluster.Simulation.RunUntil(() => disposed, TimeSpan.FromSeconds(6)));
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(500));
        cluster.Simulation.After(TimeSpan.Zero, asked.SetResult);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(500));
        cluster[2].Membership.Deaf = false;
        Assert.True(cluster.Simulation.RunUntil(() => cluster[2].Group!.CurrentView.Members.Count == 3, TimeSpan.FromSeconds(5)));
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        Assert.Equal(1, got);
        cluster.Simulation.After(TimeSpan.Zero, stuck.SetResult);
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        Assert.Empty(cluster[1].Host.Groups);
    }

    [Fact]
    public void What_handlers_at_a_leaver_send_while_nobody_waits_for_them_is_told_of_when_it_is_not_sent()
    {
        const int messages = 5;
        GroupCluster? all = null;
        int joined = 0, got = 0;
        bool on = false;
        var gate = new TaskCompletionSource();
        var errors = new List<GroupError>();
        using var cluster = Settled(128, 3, g =>
        {
            int me = joined++;
            g.HandleAsync<int>("work", async (from, m) =>
                {
                    await gate.Task;
                    var group = all![me].Group!;
                    _ = group.SendToAsync(group.CurrentView.RankOf(all[0].Id), "result", m).AsTask();
                })
                .Handle<int>("result", (from, m) => got++)
                .OnError(errors.Add)
                .OnViewProposed((proposal, context) =>
                {
                    if (on && me == 0) all!.Simulation.After(TimeSpan.FromSeconds(1), context.Done);
                    else context.Done();
                });
        });
        all = cluster;
        var leaver = cluster[1].Group!;
        for (int i = 0; i < messages; i++) _ = cluster.Simulation.Spawn(() => cluster[2].Group!.SendToAsync(leaver.Rank, "work", 0).AsTask());
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        cluster[2].Crash();
        cluster.Oracle.Fail(cluster[2].Membership);
        Assert.True(cluster.Simulation.RunUntil(() => leaver.Protocol.View!.Members.Count == 2, TimeSpan.FromSeconds(5)));
        on = true;
        cluster[1].End();
        _ = cluster.Simulation.Spawn(() => leaver.LeaveAsync().AsTask());
        Assert.True(cluster.Simulation.RunUntil(() => leaver.Protocol.IsWedged, TimeSpan.FromSeconds(2)));
        cluster.Simulation.After(TimeSpan.Zero, gate.SetResult);
        Assert.True(cluster.Simulation.RunUntil(() => leaver.Completion.IsCompleted, TimeSpan.FromSeconds(5)));
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        Assert.Equal((0, messages), (got, errors.Count(static error => error.Exception is NotMemberException)));
    }

    [Fact]
    public void Handlers_answer_the_hook_of_a_member_that_has_loaded_its_state_in_the_view_that_ends()
    {
        int joined = 0;
        GroupCluster? all = null;
        var answered = new List<(ulong Asked, ulong Answered)>();
        using var cluster = Settled(126, 2, g =>
        {
            int me = joined++;
            g.Handle<ulong>("asked", (from, view) => _ = all![me].Group!.SendToAsync(from.Rank, "answer", view).AsTask())
                .Handle<ulong>("answer", (from, view) => answered.Add((view, all![me].Group!.CurrentView.Id)))
                .OnViewProposed((proposal, context) =>
                {
                    if (me == 2) _ = context.SendAsync(0, "asked", context.View.Id).AsTask();
                    context.Done();
                });
        });
        all = cluster;
        var comer = cluster.Add();
        Assert.True(cluster.Simulation.RunUntil(() => comer.Group is not null, TimeSpan.FromSeconds(5)));
        ulong first = comer.Group!.CurrentView.Id;
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        Assert.Equal([(first, first)], answered);
        Assert.Null(cluster.Verdict());
    }

    [Fact]
    public void A_hook_that_has_not_begun_when_its_proposal_is_superseded_is_not_called_for_it()
    {
        int joined = 0;
        bool on = false;
        var gate = new TaskCompletionSource();
        var called = new List<(ulong Proposal, ulong Wedge)>();
        GroupCluster? all = null;
        using var cluster = Settled(123, 3, g =>
        {
            int me = joined++;
            g.Handle<int>("hook", (from, m) => { }).HandleAsync<int>("long", async (from, m) =>
            {
                if (me == 0) await gate.Task;
            }).OnViewProposed((proposal, context) =>
            {
                if (on && me == 0) called.Add((proposal.Number, all![0].Group!.Protocol.Flush.Wedge));
                context.Done();
            });
        });
        (all, on) = (cluster, true);
        var group = cluster[0].Group!;
        _ = cluster.Simulation.Spawn(() => cluster[1].Group!.SendAsync("long", 1).AsTask());
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        RequestView(cluster);
        Assert.True(cluster.Simulation.RunUntil(() => group.Protocol.IsWedged, TimeSpan.FromSeconds(2)));
        ulong first = group.Protocol.Flush.Wedge;
        cluster[2].Crash();
        cluster.Oracle.Fail(cluster[2].Membership);
        Assert.True(cluster.Simulation.RunUntil(() => group.Protocol.Flush.Wedge > first, TimeSpan.FromSeconds(2)));
        ulong second = group.Protocol.Flush.Wedge;
        cluster.Simulation.After(TimeSpan.Zero, gate.SetResult);
        Assert.True(cluster.Settle());
        Assert.Equal([(second, second)], called);
        Assert.Null(cluster.Verdict());
    }
}
