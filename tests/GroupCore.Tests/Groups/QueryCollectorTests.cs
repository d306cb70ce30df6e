using GroupCore.Groups;
using GroupCore.Groups.Dispatch;
using GroupCore.Groups.PointToPoint;
using GroupCore.Membership;

namespace GroupCore.Tests.Groups;

/// <summary>Who counts among those that answer a query, and what counting costs.</summary>
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
    public void Who_is_not_of_the_majority_does_not_make_up_for_who_fails()
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
