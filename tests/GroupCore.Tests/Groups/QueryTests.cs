using System.Text;
using GroupCore.Groups;
using GroupCore.Groups.Calls;
using GroupCore.Runtime;
using Ida.Testing;

namespace GroupCore.Tests.Groups;

/// <summary>Queries whose members fail, have no answer or are late (multicast.md#a-query-asks-the-members-of-its-view), raw bytes, and what is counted of messages that nobody
/// took.</summary>
public sealed class QueryTests
{
    private static readonly ValueTask<QueryAnswer<int>> s_null = new(QueryAnswer<int>.Null);

    /// <summary>Members that answer as told, by the order in which they joined.</summary>
    private static GroupCluster Settled(ulong seed, int members, Func<int, ValueTask<QueryAnswer<int>>> answer)
    {
        int joined = 0;
        var cluster = new GroupCluster(seed, members, more: g =>
        {
            int me = joined++;
            g.OnQueryAsync<int, int>("maybe", (from, question) => answer(me));
        });
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        return cluster;
    }

    private static ValueTask<QueryAnswer<int>> Value(int value) => new(QueryAnswer<int>.Of(value));

    private static ValueTask<QueryAnswer<int>> Never() => new(new TaskCompletionSource<QueryAnswer<int>>().Task);

    /// <summary>The result of a query of the first member while <paramref name="meanwhile"/> happens.</summary>
    private static (int[]? Values, Exception? Error) Ask(GroupCluster cluster, Replies replies, Action? meanwhile = null, TimeSpan? timeout = null)
    {
        int[]? values = null;
        Exception? error = null;
        _ = cluster.Simulation.Spawn(async () =>
        {
            try
            {
                values = [.. (await cluster[0].Group!.QueryAsync<int, int>("maybe", 1, replies, timeout)).Select(r => r.Value)];
            }
            catch (Exception thrown)
            {
                error = thrown;
            }
        });
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        meanwhile?.Invoke();
        Assert.True(cluster.Simulation.RunUntil(() => values is not null || error is not null, TimeSpan.FromSeconds(10)));
        return (values, error);
    }

    /// <summary>
    /// The sequencer, which hears of no view change, puts a query before a message that the others have, answers the query and fails. No survivor knows that order, and the
    /// others answer behind the message. The sequencer's answer is of a state in which no other member ever was (seed 249019720 of group-surface).
    /// </summary>
    [Fact]
    public void What_a_failed_member_answered_to_an_ordered_query_from_an_order_that_is_lost_does_not_count()
    {
        var notes = new Dictionary<int, int>();
        int joined = 0;
        using var cluster = new GroupCluster(61, 4, more: g =>
        {
            int me = joined++;
            notes[me] = 0;
            g.Handle<int>("note", (from, _) => notes[me]++).OnQuery<int, int>("notes", (from, _) => notes[me]);
        });
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        var rank = cluster.Members.OrderBy(static member => member.Group!.Rank).ToList();
        var network = cluster.Simulation.Network;
        foreach (int deaf in new[] { 1, 2 }) network.Cut(rank[0].SimNode, rank[deaf].SimNode);
        network.Cut(rank[2].SimNode, rank[0].SimNode);
        network.Slow(rank[0].SimNode, rank[3].SimNode, 1_000);
        rank[0].Membership.Deaf = true;
        IReadOnlyList<MemberReply<int>>? replies = null;
        _ = cluster.Simulation.Spawn(async () => await rank[2].Group!.OrderedSendAsync("note", 1));
        _ = cluster.Simulation.Spawn(async () => replies = await rank[3].Group!.OrderedQueryAsync<int, int>("notes", 1));
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(2));
        cluster.Oracle.RequestView(cluster.Oracle.Find("g")!.Id);
        cluster.Simulation.Run(TimeSpan.FromSeconds(2));
        Assert.Null(replies);
        cluster.Oracle.Fail(rank[0].Membership);
        rank[0].End();
        Assert.True(cluster.Simulation.RunUntil(() => replies is not null, TimeSpan.FromSeconds(20)), $"{rank[3].Group!.Protocol}");
        Assert.Equal(rank[1..].Select(static member => (member.Id, 1)), replies!.Select(static reply => (reply.From.Id, reply.Value)));
    }

    /// <summary>A node that ends with a fault in the turn of the command abandons it, though it may have put the query in line already.</summary>
    [Fact]
    public void A_query_whose_command_is_abandoned_is_not_used_again_as_it_may_stand_in_line()
    {
        var simulation = new Simulation(new SimulationOptions { Seed = 91, ReplayCommand = "seed 91" });
        CallCommand? last = null;
        int asked = 0;
        using var cluster = new GroupCluster(simulation, 3, more: g => g.OnQuery<int, int>("echo", (from, question) =>
        {
            asked += question;
            return QueryAnswer<int>.Of(question);
        }), tap: node => new DelayingNode(simulation, node, static work => default, posts: command => last = command as CallCommand ?? last));
        Assert.True(cluster.Settle());
        simulation.Run(TimeSpan.FromSeconds(1));
        // The query stands in line while the view changes.
        cluster[2].Membership.Deaf = true;
        cluster.Oracle.RequestView(cluster.Oracle.Find("g")!.Id);
        Assert.True(simulation.RunUntil(() => cluster[0].Group!.Protocol.IsWedged, TimeSpan.FromSeconds(1)));
        Exception? thrown = null;
        _ = simulation.Spawn(async () => thrown = await Record.ExceptionAsync(() => cluster[0].Group!.QueryAsync<int, int>("echo", 1).AsTask()));
        simulation.Run(TimeSpan.FromMilliseconds(50));
        cluster[0].SimNode.Post(() => last!.Abandon(new NodeStoppedException("the node stopped")));
        cluster[2].Membership.Deaf = false;
        Assert.True(cluster.Settle());
        simulation.Run(TimeSpan.FromSeconds(1));
        Assert.IsType<NodeStoppedException>(thrown);
        Assert.Equal(3, asked);
    }

    private static void Fail(GroupCluster cluster, params int[] members)
    {
        foreach (int member in members) cluster[member].Crash();
        cluster.Oracle.Fail([.. members.Select(m => cluster[m].Membership)]);
    }

    [Theory]
    [InlineData(false, new byte[] { 0xC4, 2, 7, 7 })]
    [InlineData(true, new byte[] { 0xC4, 2, 7, 7 })]
    [InlineData(false, new byte[] { 1, 2, 3 })]
    public void Bytes_that_are_asked_come_as_they_were_asked(bool awaited, byte[] question)
    {
        GroupCluster? all = null;
        using var cluster = new GroupCluster(11, 3, beforeMembers: c => all = c, more: g =>
        {
            if (!awaited) g.OnQuery<ReadOnlyMemory<byte>, byte[]>("raw", static (from, m) => m.ToArray());
            else g.OnQueryAsync<ReadOnlyMemory<byte>, byte[]>("raw", async (from, m) =>
            {
                await all!.Simulation.Delay(TimeSpan.FromMilliseconds(1)).ConfigureAwait(false);
                return m.ToArray();
            });
        });
        Assert.True(cluster.Settle());
        var answers = new List<byte[]>();
        _ = cluster.Simulation.Spawn(async () =>
        {
            answers.AddRange((await cluster[0].Group!.QueryAsync<ReadOnlyMemory<byte>, byte[]>("raw", question)).Select(static reply => reply.Value));
            answers.Add(await cluster[0].Group!.QueryToAsync<ReadOnlyMemory<byte>, byte[]>(1, "raw", question));
        });
        Assert.True(cluster.Simulation.RunUntil(() => answers.Count == 4, TimeSpan.FromSeconds(5)));
        Assert.All(answers, answer => Assert.Equal(question, answer));
    }

    [Fact]
    public void Answers_that_wait_for_those_of_others_are_bounded_in_all()
    {
        const int queries = 100;
        byte[] answer = new byte[GroupLimits.PeerBytes - 1_000];
        int joined = 0;
        using var cluster = new GroupCluster(12, 3, more: g =>
        {
            int me = joined++;
            g.OnQueryAsync<int, byte[]>("large", (from, question) => me == 2 ? new(new TaskCompletionSource<QueryAnswer<byte[]>>().Task) : new(QueryAnswer<byte[]>.Of(answer)));
        });
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        var errors = new List<Exception?>();
        long most = 0;
        for (int i = 0; i < queries; i++)
        {
            _ = cluster.Simulation.Spawn(async () => errors.Add(await Record.ExceptionAsync(() => cluster[0].Group!.QueryAsync<int, byte[]>("large", 1).AsTask())));
            cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
            most = Math.Max(most, cluster[0].Group!.Protocol.Queries.HeldBytes);
        }
        Assert.InRange(most, GroupLimits.AnswerBytes / 2, GroupLimits.AnswerBytes);
        Assert.All(errors, static error => Assert.IsType<TooFewRepliesException>(error));
        Assert.InRange(errors.Count, 1, queries - 50);
        Assert.True(cluster.Simulation.RunUntil(() => errors.Count == queries, TimeSpan.FromSeconds(40)));
        Assert.Equal(0, cluster[0].Group!.Protocol.Queries.HeldBytes);
    }

    [Fact]
    public void An_answer_that_completes_its_query_waits_for_nobody_and_needs_no_room()
    {
        byte[] answer = new byte[GroupLimits.PeerBytes - 1_000];
        int joined = 0;
        using var cluster = new GroupCluster(13, 3, more: g =>
        {
            int me = joined++;
            g.OnQueryAsync<int, byte[]>("large", (from, question) => me == 2 ? new(new TaskCompletionSource<QueryAnswer<byte[]>>().Task) : new(QueryAnswer<byte[]>.Of(answer)));
        });
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        var group = cluster[0].Group!;
        int refused = 0;
        for (int i = 0; i < 100 && refused == 0; i++)
        {
            _ = cluster.Simulation.Spawn(async () => refused += await Record.ExceptionAsync(() => group.QueryAsync<int, byte[]>("large", 1, timeout: Timeout.InfiniteTimeSpan).AsTask()) is null ? 0 : 1);
            cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        }
        Assert.Equal(1, refused);
        byte[]? one = null;
        IReadOnlyList<MemberReply<byte[]>>? most = null;
        _ = cluster.Simulation.Spawn(async () => one = await group.QueryToAsync<int, byte[]>(cluster[1].Group!.Rank, "large", 1));
        Assert.True(cluster.Simulation.RunUntil(() => one is not null, TimeSpan.FromSeconds(5)));
        Assert.Equal(answer.Length, one!.Length);
        _ = cluster.Simulation.Spawn(async () => most = await group.QueryAsync<int, byte[]>("large", 1, Replies.AtLeast(1)));
        Assert.True(cluster.Simulation.RunUntil(() => most is not null, TimeSpan.FromSeconds(5)));
        Assert.Single(most!);
    }

    [Theory]
    [InlineData(new byte[] { 0xC4, 2, 7, 7 })]
    [InlineData(new byte[] { 0xC0 })]
    [InlineData("hello")]
    [InlineData(null)]
    public void Bytes_that_may_be_missing_come_as_they_were_sent(object? sent)
    {
        ReadOnlyMemory<byte>? message = sent switch { byte[] bytes => bytes, string text => Encoding.UTF8.GetBytes(text), _ => (ReadOnlyMemory<byte>?)null };
        static string Text(ReadOnlyMemory<byte>? m) => m is { } bytes ? Convert.ToHexString(bytes.Span) : "none";
        var got = new List<string>();
        using var cluster = new GroupCluster(14, 2, more: g => g
            .Handle<ReadOnlyMemory<byte>?>("raw", (from, m) => got.Add(Text(m)))
            .OnQuery<ReadOnlyMemory<byte>?, string>("asked", static (from, m) => Text(m)));
        Assert.True(cluster.Settle());
        _ = cluster.Simulation.Spawn(async () =>
        {
            await cluster[0].Group!.SendAsync("raw", message);
            got.Add(await cluster[0].Group!.QueryToAsync<ReadOnlyMemory<byte>?, string>(1, "asked", message));
        });
        Assert.True(cluster.Simulation.RunUntil(() => got.Count == 3, TimeSpan.FromSeconds(5)));
        Assert.All(got, text => Assert.Equal(Text(message), text));
    }

    [Fact]
    public void A_majority_is_of_the_view_of_the_query_whoever_dies_meanwhile()
    {
        using var enough = Settled(1, 5, me => me < 3 ? Value(me) : Never());
        Assert.Equal([0, 1, 2], Ask(enough, Replies.Majority).Values!.Order());
        using var few = Settled(2, 5, me => me < 2 ? Value(me) : Never());
        var error = Assert.IsType<TooFewRepliesException>(Ask(few, Replies.Majority, () => Fail(few, 2, 3, 4)).Error);
        Assert.Equal((3, 2), (error.Wanted, error.Got));
    }

    [Fact]
    public void At_least_so_many_values_and_no_answer_without_one_counts()
    {
        using var cluster = Settled(3, 4, me => me == 1 ? s_null : Value(me));
        Assert.Equal([0, 2, 3], Ask(cluster, Replies.AtLeast(3)).Values!.Order());
        // It fails as soon as four can no longer come, however many have come by then.
        var error = Assert.IsType<TooFewRepliesException>(Ask(cluster, Replies.AtLeast(4)).Error);
        Assert.Equal(4, error.Wanted);
        Assert.InRange(error.Got, 0, 3);
        Assert.IsType<TooFewRepliesException>(Ask(cluster, Replies.AtLeast(9)).Error);
        Assert.Throws<ArgumentOutOfRangeException>(() => Replies.AtLeast(0));
    }

    [Fact]
    public void All_is_all_that_have_a_value_and_do_not_fail()
    {
        using var cluster = Settled(4, 4, me => me == 1 ? s_null : me == 2 ? Never() : Value(me));
        Assert.Equal([0, 3], Ask(cluster, Replies.All, () => Fail(cluster, 2)).Values!.Order());
        using var aborting = Settled(5, 3, me => me == 1 ? new(QueryAnswer<int>.Abort("not today")) : Value(me));
        Assert.Contains("not today", Assert.IsType<QueryAbortedException>(Ask(aborting, Replies.All).Error).Message, StringComparison.Ordinal);
        Assert.Equal([0, 2], Ask(aborting, Replies.AtLeast(2)).Values!.Order());
    }

    [Fact]
    public void A_member_that_is_silent_is_named_when_the_time_is_over()
    {
        using var cluster = Settled(6, 3, me => me == 2 ? Never() : Value(me));
        var error = Assert.IsType<QueryTimeoutException>(Ask(cluster, Replies.All, timeout: TimeSpan.FromSeconds(2)).Error);
        Assert.Equal(2, error.Got);
        Assert.Contains(cluster[2].SimNode.Address.ToString(), error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Bytes_arrive_as_they_were_sent_by_any_way()
    {
        var got = new List<string>();
        using var cluster = new GroupCluster(7, 3, more: g => g.HandleBytes("raw", (from, bytes) => got.Add($"{from.Rank} {Encoding.UTF8.GetString(bytes.Span)}")));
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        var group = cluster[1].Group!;
        int me = group.Rank;
        ReadOnlyMemory<byte> Bytes(string text) => Encoding.UTF8.GetBytes(text);
        cluster.Simulation.RunAsync(async () =>
        {
            await group.SendAsync("raw", Bytes("fifo"));
            await group.OrderedSendAsync("raw", Bytes("ordered"));
            await group.SendToAsync((me + 1) % 3, "raw", Bytes("peer"));
            await group.SendAsync("raw", Bytes(""));
        }, TimeSpan.FromSeconds(2));
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        string[] expected = [.. Enumerable.Repeat($"{me} fifo", 3), .. Enumerable.Repeat($"{me} ordered", 3), $"{me} peer", .. Enumerable.Repeat($"{me} ", 3)];
        Assert.Equal(expected.Order(StringComparer.Ordinal), got.Order(StringComparer.Ordinal));
        Assert.Throws<WrongHandlerTypeException>(() => { _ = group.SendAsync("raw", "text").AsTask(); });
    }

    [Fact]
    public void What_nobody_handles_and_what_a_handler_throws_is_counted_where_it_happens()
    {
        int joined = 0;
        using var cluster = new GroupCluster(8, 3, more: g =>
        {
            bool second = joined++ == 1;
            if (!second) g.HandleBytes("rare", (from, bytes) => { });
            g.HandleBytes("bad", (from, bytes) =>
            {
                if (second) throw new FormatException("not mine");
            });
        });
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        cluster.Simulation.RunAsync(async () =>
        {
            for (int i = 0; i < 3; i++) await cluster[0].Group!.SendAsync("rare", ReadOnlyMemory<byte>.Empty);
            for (int i = 0; i < 2; i++) await cluster[0].Group!.OrderedSendAsync("bad", ReadOnlyMemory<byte>.Empty);
        }, TimeSpan.FromSeconds(2));
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        Assert.Equal([0, 3, 0], cluster.Members.Select(m => m.Group!.UnhandledCount));
        Assert.Equal([0, 2, 0], cluster.Members.Select(m => m.Group!.FailedCount));
        Assert.Null(cluster.Verdict());
    }

    [Fact]
    public void A_query_whose_time_is_over_gives_its_place_in_the_queue_back()
    {
        using var cluster = Settled(9, 3, Value);
        // Calls of a blocked member wait.
        cluster[0].Membership.Block(true);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(10));
        var errors = new List<Exception?>();
        for (int i = 0; i < 20; i++)
            _ = cluster.Simulation.Spawn(async () => errors.Add(await Record.ExceptionAsync(() => cluster[0].Group!.QueryAsync<int, int>("maybe", 1, Replies.All, TimeSpan.FromSeconds(1)).AsTask())));
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        Assert.Equal(20, cluster[0].Group!.Protocol.Backlog.Calls);
        cluster.Simulation.Run(TimeSpan.FromSeconds(2));
        Assert.Equal(20, errors.Count);
        Assert.All(errors, static error => Assert.IsType<QueryTimeoutException>(error));
        Assert.Equal((0, 0, 0, 0), cluster[0].Group!.Protocol.Backlog);
        cluster[0].Membership.Block(false);
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        Assert.Null(cluster.Verdict());
    }

    /// <summary>
    /// Once the view change without that member has begun, nothing is sent to it. A question that was sent before may have been executed, so its caller is told something else.
    /// </summary>
    [Fact]
    public void A_question_to_one_that_goes_is_told_whether_it_was_sent()
    {
        using var cluster = Settled(133, 3, static _ => Never());
        var (asker, gone) = (cluster[0], cluster[2]);
        int rank = gone.Group!.Rank;
        var ends = new List<Exception>();
        Ask();
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        gone.Crash();
        cluster.Oracle.Fail(gone.Membership);
        Assert.True(cluster.Simulation.RunUntil(() => asker.Group!.Protocol.IsWedged, TimeSpan.FromSeconds(1)));
        Ask();
        Assert.True(cluster.Settle());
        Assert.True(cluster.Simulation.RunUntil(() => ends.Count == 2, TimeSpan.FromSeconds(5)));
        Assert.Single(ends.OfType<TooFewRepliesException>());
        Assert.Single(ends.OfType<MemberGoneException>());

        void Ask() => _ = cluster.Simulation.Spawn(async () =>
        {
            try
            {
                await asker.Group!.QueryToAsync<int, int>(rank, "maybe", 1).ConfigureAwait(false);
            }
            catch (Exception error) when (error is MemberGoneException or TooFewRepliesException)
            {
                ends.Add(error);
            }
        });
    }
}
