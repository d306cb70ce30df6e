using GroupCore.Groups;
using GroupCore.Groups.State;
using GroupCore.Groups.Views;

namespace GroupCore.Tests.Groups;

/// <summary>Messages and queries to a member whose state is on its way wait for the view in which it has the state, and none is lost.</summary>
public sealed class StatelessPeerTests
{
    private const int Bytes = 60_000;
    private const int Messages = 250;
    private readonly List<int> _got = [];

    // The giver's save takes this many seconds of virtual time.
    private (GroupCluster Cluster, TestMember Comer) Loading(ulong seed, int seconds, Action<GroupBuilder>? more = null, int members = 1)
    {
        GroupCluster? all = null;
        int takes = 0;
        var cluster = new GroupCluster(seed, members, more: more ?? (g => g.HandleBytes("bytes", (from, bytes) => _got.Add(bytes.Length))),
            tap: node => new DelayingNode(all!.Simulation, node, work => work is StateCut ? TimeSpan.FromSeconds(takes) : TimeSpan.Zero), beforeMembers: c => all = c);
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        takes = seconds;
        var comer = cluster.Add();
        Assert.True(cluster.Simulation.RunUntil(() => comer.Host.Groups is [{ Phase: GroupPhase.Loading }] && cluster[0].Group!.CurrentView.Members.Count == members + 1, TimeSpan.FromSeconds(5)));
        return (cluster, comer);
    }

    private static void Send(GroupCluster cluster, int count, int bytes)
    {
        for (int i = 0; i < count; i++)
        {
            byte[] payload = new byte[bytes + i];
            _ = cluster.Simulation.Spawn(() => cluster[0].Group!.SendToAsync<ReadOnlyMemory<byte>>(1, "bytes", payload).AsTask());
        }
    }

    private static void ChangeView(GroupCluster cluster)
    {
        ulong view = cluster[0].Group!.CurrentView.Id;
        cluster.Oracle.RequestView(cluster.Oracle.Find("g")!.Id);
        Assert.True(cluster.Simulation.RunUntil(() => cluster[0].Group!.CurrentView.Id > view, TimeSpan.FromSeconds(5)));
        Assert.False(cluster[0].Group!.CurrentView.Members[1].Initialised);
    }

    /// <summary>In a view that ends, a member without the state handles nothing. A member that got the state in that view handles what hooks send like all others.</summary>
    [Fact]
    public void R15_what_hooks_send_to_a_member_without_the_state_is_not_handled_in_a_later_view()
    {
        var logs = new List<List<string>>();
        var (cluster, _) = Loading(58, 3, g =>
        {
            var log = new List<string>();
            logs.Add(log);
            g.Handle<byte[]>("hook", (from, m) => log.Add($"hook of {m.Length}"))
                .OnView(view => log.Add($"view {view.Id}"))
                .OnViewProposed((proposal, context) =>
                {
                    foreach (var survivor in context.Survivors)
                    {
                        int rank = context.View.RankOf(survivor);
                        if (!context.View.Members[rank].Initialised) _ = context.SendAsync(rank, "hook", new byte[context.View.Id]).AsTask();
                    }
                    context.Done();
                });
        });
        using var closing = cluster;
        ulong first = cluster[0].Group!.CurrentView.Id;
        ChangeView(cluster);
        Assert.True(cluster.Simulation.RunUntil(() => logs[1].Contains($"view {first + 2}"), TimeSpan.FromSeconds(60)), string.Join("; ", logs[1]));
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        // As it has the state, its own hook is called too, and sends to it as well.
        Assert.Equal([$"view {first + 1}", $"hook of {first + 1}", $"hook of {first + 1}", $"view {first + 2}"], logs[1]);
        Assert.Empty(cluster.Oracle.Suspicions);
        Assert.Null(cluster.Verdict());
    }

    [Theory]
    [InlineData(51, false)]
    [InlineData(52, true)]
    public void R2_what_is_sent_to_a_joiner_comes_in_order_when_it_has_its_state_whatever_views_come_meanwhile(ulong seed, bool views)
    {
        var (cluster, comer) = Loading(seed, 20);
        using var closing = cluster;
        Send(cluster, Messages, Bytes);
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        if (views)
        {
            ChangeView(cluster);
            ChangeView(cluster);
        }
        // Nothing of it is on the way or in the joiner's memory.
        Assert.Equal(0, cluster[0].Group!.Protocol.Peers.Outstanding);
        Assert.Empty(_got);
        Assert.True(cluster.Simulation.RunUntil(() => comer.Group is not null && _got.Count == Messages, TimeSpan.FromSeconds(60)), $"{_got.Count} came");
        Assert.Equal(Enumerable.Range(Bytes, Messages), _got);
        cluster.Simulation.Run(TimeSpan.FromSeconds(3));
        Assert.Equal(0, cluster[0].Group!.Protocol.Peers.Outstanding);
        Assert.Empty(cluster.Oracle.Suspicions);
    }

    [Theory]
    [InlineData(59, 20, GroupLimits.ReceiverCalls)]
    [InlineData(60, 500_000, (int)(GroupLimits.ReceiverBytes / 500_000))]
    public void R_what_waits_for_a_joiner_is_bounded_by_itself_and_calls_to_others_go_on(ulong seed, int bytes, int most)
    {
        var (cluster, comer) = Loading(seed, 30, g => g.HandleBytes("bytes", (from, payload) => _got.Add(payload.Length)), members: 2);
        using var closing = cluster;
        var group = cluster[0].Group!;
        var refused = new List<SendQueueFullException>();
        void SendTo(int rank, Action done) => _ = cluster.Simulation.Spawn(async () =>
        {
            try
            {
                await group.SendToAsync<ReadOnlyMemory<byte>>(rank, "bytes", new byte[bytes]);
                done();
            }
            catch (SendQueueFullException error)
            {
                refused.Add(error);
            }
        });
        int sent = 0, others = 0, asked = 0;
        int to = group.CurrentView.RankOf(comer.Id);
        for (int i = 0; i < most + 50; i++)
        {
            SendTo(to, () => sent++);
            if (i % 500 == 499) cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        }
        _ = cluster.Simulation.Spawn(async () =>
        {
            try
            {
                await group.QueryToAsync<int, int>(to, "ask", 1, Timeout.InfiniteTimeSpan);
            }
            catch (SendQueueFullException error) when (bytes < 1_000)
            {
                refused.Add(error);
            }
        });
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        Assert.Equal((0, most, bytes < 1_000 ? 51 : 50), (sent, group.Protocol.Backlog.Calls - (bytes < 1_000 ? 0 : 1), refused.Count));
        Assert.All(refused, error =>
        {
            Assert.Equal(comer.SimNode.Address, error.Receiver);
            Assert.Contains(comer.SimNode.Address.ToString(), error.Message, StringComparison.Ordinal);
            Assert.InRange(error.RetryAfter, TimeSpan.FromMilliseconds(1), TimeSpan.FromSeconds(1));
        });
        for (int rank = 0; rank < 3; rank++)
            if (rank != to) SendTo(rank, () => others++);
        _ = cluster.Simulation.Spawn(async () =>
        {
            await group.OrderedSendAsync<ReadOnlyMemory<byte>>("bytes", new byte[1]);
            others++;
            asked += await group.QueryToAsync<int, int>(1 - group.Rank, "ask", 40);
        });
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        Assert.Equal((3, 41), (others, asked - (cluster.IndexOf(cluster[1]) - 1)));
        Assert.True(cluster.Simulation.RunUntil(() => comer.Group is not null && sent == most, TimeSpan.FromSeconds(60)), $"{sent} sent");
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        Assert.Equal((0, 0), (group.Protocol.Backlog.Calls, group.Protocol.Backlog.Bytes));
    }

    [Fact]
    public void R2_a_query_to_a_joiner_is_answered_when_it_has_its_state()
    {
        var (cluster, _) = Loading(53, 20);
        using var closing = cluster;
        int answer = 0;
        _ = cluster.Simulation.Spawn(async () => answer = await cluster[0].Group!.QueryToAsync<int, int>(1, "ask", 41, Timeout.InfiniteTimeSpan));
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        ChangeView(cluster);
        Assert.True(cluster.Simulation.RunUntil(() => answer != 0, TimeSpan.FromSeconds(60)));
        Assert.Equal(42, answer);
    }

    [Fact]
    public void R2_a_query_of_a_view_that_ends_before_a_joiner_is_loaded_does_not_wait_for_it()
    {
        var (cluster, comer) = Loading(54, 40);
        using var closing = cluster;
        IReadOnlyList<MemberReply<int>>? answers = null;
        _ = cluster.Simulation.Spawn(async () => answers = await cluster[0].Group!.QueryAsync<int, int>("ask", 41, Replies.All, Timeout.InfiniteTimeSpan));
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        Assert.Null(answers);
        ChangeView(cluster);
        Assert.True(cluster.Simulation.RunUntil(() => answers is not null, TimeSpan.FromSeconds(1)));
        Assert.Equal([41], answers!.Select(static a => a.Value));
        Assert.True(cluster.Simulation.RunUntil(() => comer.Group is not null, TimeSpan.FromSeconds(100)));
    }

    [Fact]
    public void R2_a_query_of_the_view_in_which_a_joiner_is_loaded_gets_its_answer_too()
    {
        var (cluster, _) = Loading(55, 20);
        using var closing = cluster;
        IReadOnlyList<MemberReply<int>>? answers = null;
        _ = cluster.Simulation.Spawn(async () => answers = await cluster[0].Group!.QueryAsync<int, int>("ask", 41, Replies.All, Timeout.InfiniteTimeSpan));
        Assert.True(cluster.Simulation.RunUntil(() => answers is not null, TimeSpan.FromSeconds(60)));
        Assert.Equal([41, 42], answers!.Select(static a => a.Value));
    }

    /// <summary>The majority is of the members that have the state: where one has it and one loads, the one is enough.</summary>
    [Theory]
    [InlineData(61, 1)]
    [InlineData(62, 3)]
    public void R_a_majority_waits_for_no_load(ulong seed, int members)
    {
        var (cluster, comer) = Loading(seed, 40, members: members);
        using var closing = cluster;
        cluster.Add();
        Assert.True(cluster.Simulation.RunUntil(() => cluster[0].Group!.CurrentView.Members.Count == members + 2, TimeSpan.FromSeconds(10)));
        IReadOnlyList<MemberReply<int>>? majority = null, all = null;
        _ = cluster.Simulation.Spawn(async () => majority = await cluster[0].Group!.OrderedQueryAsync<int, int>("ask", 1, Replies.Majority, Timeout.InfiniteTimeSpan));
        _ = cluster.Simulation.Spawn(async () => all = await cluster[0].Group!.QueryAsync<int, int>("ask", 1, Replies.AtLeast(members + 1), Timeout.InfiniteTimeSpan));
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        Assert.NotNull(majority);
        Assert.InRange(majority.Count, (members / 2) + 1, members);
        // The query for all still waits, since that many values can still come.
        Assert.Null(all);
        Assert.True(cluster.Simulation.RunUntil(() => all is not null, TimeSpan.FromSeconds(60)));
        Assert.NotNull(comer.Group);
    }

    /// <summary>Otherwise two majorities of one view might have no member in common.</summary>
    [Fact]
    public void R_a_member_that_loaded_in_the_view_of_a_query_is_not_counted_in_its_majority()
    {
        int joined = 0, asked = 0;
        var (cluster, comer) = Loading(63, 5, g =>
        {
            int me = joined++;
            g.OnQueryAsync<int, int>("some", async (from, question) =>
            {
                asked++;
                if (me is 1 or 2) await new TaskCompletionSource().Task.ConfigureAwait(false);
                return QueryAnswer<int>.Of(me);
            });
        }, members: 3);
        using var closing = cluster;
        TooFewRepliesException? few = null;
        QueryTimeoutException? late = null;
        _ = cluster.Simulation.Spawn(async () =>
        {
            try
            {
                await cluster[0].Group!.QueryAsync<int, int>("some", 1, Replies.Majority, TimeSpan.FromSeconds(20));
            }
            catch (TooFewRepliesException error)
            {
                few = error;
            }
            catch (QueryTimeoutException error)
            {
                late = error;
            }
        });
        Assert.True(cluster.Simulation.RunUntil(() => late is not null || few is not null, TimeSpan.FromSeconds(30)));
        Assert.NotNull(comer.Group);
        Assert.Equal(4, asked);
        Assert.Equal(1, late?.Got);
    }

    [Fact]
    public void D1_a_member_that_is_still_without_the_state_in_the_next_view_is_not_asked_any_more()
    {
        var (cluster, comer) = Loading(56, 20);
        using var closing = cluster;
        int answers = 0;
        _ = cluster.Simulation.Spawn(async () => answers = (await cluster[0].Group!.QueryAsync<int, int>("ask", 1, timeout: Timeout.InfiniteTimeSpan)).Count);
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        // The checkpoint of this view comes after the question.
        cluster.Oracle.RequestView(cluster.Oracle.Find("g")!.Id);
        Assert.True(cluster.Simulation.RunUntil(() => comer.Group is not null, TimeSpan.FromSeconds(60)), $"{comer.JoinError}");
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        Assert.Equal(1, answers);
    }

    [Fact]
    public void D1_a_join_of_a_group_whose_state_is_lost_is_refused()
    {
        var (cluster, comer) = Loading(57, 20);
        using var closing = cluster;
        cluster[0].Crash();
        cluster.Oracle.Fail(cluster[0].Membership);
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        Assert.Contains("lost", Assert.IsType<JoinRefusedException>(comer.JoinError).Message, StringComparison.Ordinal);
    }
}
