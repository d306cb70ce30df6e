using GroupCore.Groups;
using GroupCore.Groups.Queries;
using GroupCore.Membership;
using Ida.Testing;

namespace GroupCore.Tests.Groups;

/// <summary>Which answers to a query count, and what counting them costs.</summary>
public sealed class QueryCollectorTests
{
    private const int All = 0, Majority = -1;

    private static ProcessId Id(int member) => new((ulong)member + 100, (ulong)member + 1);

    /// <summary>A view whose first members have the state.</summary>
    private static View ViewOf(int members, int initialised)
    {
        var list = new ViewMember[members];
        for (int i = 0; i < members; i++) list[i] = new(Id(i), default, i < initialised, "");
        return new(new(1, 1), "g", 7, 6, new(), list, [], [], [], []);
    }

    private static bool Answer(QueryCollector query, int member, ReplyStatus status = ReplyStatus.Value) => query.OnReply(Id(member), status, [(byte)member]);

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_majority_is_of_those_that_had_the_state_whenever_others_answer(bool before)
    {
        var result = new Result();
        var query = new QueryCollector(1, "q", Majority, TimeSpan.FromSeconds(5), result);
        var view = ViewOf(5, initialised: 3);
        if (!before) query.OnDelivered(view);
        foreach (int outside in (int[])[3, 4]) Assert.Equal(before, Answer(query, outside));
        Assert.True(Answer(query, 0));
        if (before) query.OnDelivered(view);
        Assert.Null(result.Values);
        Assert.True(Answer(query, 2));
        Assert.Equal([0, 2], result.Values!);
    }

    [Fact]
    public void A_member_without_the_state_does_not_make_up_for_a_member_that_fails()
    {
        var result = new Result();
        var query = new QueryCollector(1, "q", Majority, TimeSpan.FromSeconds(5), result);
        Answer(query, 3);
        Answer(query, 0);
        query.OnDelivered(ViewOf(4, initialised: 3));
        for (int gone = 1; gone <= 2; gone++) query.OnLinkLost(Id(gone), 7);
        Assert.Equal((2, 1), result.Error is TooFewRepliesException few ? (few.Wanted, few.Got) : default);
    }

    [Theory]
    [InlineData(All, false)]
    [InlineData(All, true)]
    [InlineData(Majority, false)]
    [InlineData(Majority, true)]
    [InlineData(2_000, true)]
    public void Each_answer_costs_the_same_however_many_there_are(int code, bool before)
    {
        const int members = 2_000;
        var result = new Result();
        var compared = new Comparisons();
        var query = new QueryCollector(1, "q", code, TimeSpan.FromSeconds(5), result, compared);
        var view = ViewOf(members, members);
        if (!before) query.OnDelivered(view);
        for (int member = 0; member < members; member++)
        {
            Assert.Equal(result.Values is null, Answer(query, member));
            Assert.False(Answer(query, member));
        }
        if (before) query.OnDelivered(view);
        Assert.Equal(code == Majority && !before ? (members / 2) + 1 : members, result.Values!.Count);
        Assert.InRange(compared.Count, 0, 12 * members);
    }

    /// <summary>Other members may have delivered the query already, and answered it.</summary>
    [Theory]
    [InlineData(0, "got 0 replies in 5 s; no answer from any member: this process has not delivered the query yet.")]
    [InlineData(2, "got 2 replies in 5 s; no answer from other members: this process has not delivered the query yet.")]
    public void A_query_that_is_not_delivered_in_time_says_so_and_no_more(int answers, string text)
    {
        using var simulation = new Simulation(new SimulationOptions { Seed = 1, ReplayCommand = "the test" });
        var result = new Result();
        var query = new QueryCollector(1, "q", All, TimeSpan.FromSeconds(5), result);
        new QueryTable(simulation.AddNode().Node, static () => { }).Add(query);
        for (int member = 0; member < answers; member++) Answer(query, member);
        simulation.Run(TimeSpan.FromSeconds(6));
        Assert.EndsWith(text, Assert.IsType<QueryTimeoutException>(result.Error).Message, StringComparison.Ordinal);
    }

    /// <summary>An answer finds no room, since another query holds some. The error says how many answers were asked for.</summary>
    [Theory]
    [InlineData(All, 5)]
    [InlineData(Majority, 3)]
    [InlineData(2, 2)]
    public void Answers_without_room_end_a_query_with_the_number_that_it_wanted(int code, int wanted)
    {
        using var simulation = new Simulation(new SimulationOptions { Seed = 1, ReplayCommand = "the test" });
        var table = new QueryTable(simulation.AddNode().Node, static () => { });
        var result = new Result();
        QueryCollector other = new(1, "q", All, TimeSpan.FromSeconds(5), new Result()), query = new(2, "q", code, TimeSpan.FromSeconds(5), result);
        foreach (var one in (QueryCollector[])[other, query])
        {
            table.Add(one);
            one.OnDelivered(ViewOf(5, initialised: 5));
        }
        Answer(other, 0);
        query.OnReply(Id(0), ReplyStatus.Value, new byte[GroupLimits.AnswerBytes]);
        Assert.Equal((wanted, 1), result.Error is TooFewRepliesException few ? (few.Wanted, few.Got) : default);
    }

    private sealed class Result : IQueryResult
    {
        public List<int>? Values { get; private set; }

        public Exception? Error { get; private set; }

        public void Succeed(List<(MemberRef From, byte[] Bytes)> values) => Values = [.. values.Select(static v => v.From.Rank)];

        public void Fail(Exception error) => Error = error;
    }

    private sealed class Comparisons : IEqualityComparer<ProcessId>
    {
        public long Count { get; private set; }

        public bool Equals(ProcessId x, ProcessId y)
        {
            Count++;
            return x == y;
        }

        public int GetHashCode(ProcessId obj) => obj.GetHashCode();
    }
}
