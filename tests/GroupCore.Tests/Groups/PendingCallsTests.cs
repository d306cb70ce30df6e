using GroupCore.Groups;
using GroupCore.Groups.Calls;
using GroupCore.Groups.Queries;
using GroupCore.Runtime;
using Ida.Testing;

namespace GroupCore.Tests.Groups;

/// <summary>How the calls of a group end, and the window that their callers take.</summary>
public sealed class PendingCallsTests : IDisposable
{
    private readonly Simulation _simulation = new(5);
    private readonly SimNode _node;
    private readonly PendingCalls _calls;

    public PendingCallsTests()
    {
        _node = _simulation.AddNode();
        _calls = new(_node.Node, "g", new QueryTable(_node.Node, static () => { }));
    }

    public void Dispose() => _simulation.Dispose();

    private T InTurn<T>(Func<T> work)
    {
        T result = default!;
        _node.Post(() => result = work());
        _simulation.Run(TimeSpan.FromMilliseconds(10));
        return result;
    }

    private SendOperation Call()
    {
        _calls.Budget.Take(0, null, canWait: true);
        return SendOperation.Rent(new Taker(_node.Node), MessageKind.None, 1);
    }

    [Fact]
    public void Callers_take_no_more_than_the_window_and_what_is_sent_without_them_counts()
    {
        Assert.True(_calls.TryTakeCredit(GroupLimits.Window - 1));
        Assert.False(_calls.TryTakeCredit(2));
        Assert.True(_calls.TryTakeCredit(1));
        _calls.TakeCredit(10);
        _calls.ReturnCredit(10);
        Assert.False(_calls.TryTakeCredit(1));
        _calls.ReturnCredit(1);
        Assert.True(_calls.TryTakeCredit(1));
        Assert.Equal(0, _calls.Credit);
    }

    [Theory]
    [InlineData(false, 0, true)]
    [InlineData(false, 1, false)]
    [InlineData(true, 0, false)]
    public void A_token_ends_a_call_of_which_nothing_is_sent_and_whose_caller_waits(bool detached, int sent, bool ends)
    {
        using var token = new CancellationTokenSource();
        var call = Call();
        (call.Detached, call.Sent) = (detached, sent);
        var task = call.Task;
        call.CancelBy(token.Token);
        token.Cancel();
        Assert.Equal(ends, InTurn(() => _calls.TryCancel(call)));
        Assert.Equal((ends, ends ? 0 : 1), (task.IsCanceled || task.IsFaulted, _calls.Budget.Calls));
    }

    [Fact]
    public void A_query_that_nobody_waits_for_asks_nobody()
    {
        var call = Call();
        (call.Query, call.Detached) = (7, true);
        Assert.True(InTurn(() => _calls.TryCancel(call)));
        Assert.Equal(0, _calls.Budget.Calls);
    }

    /// <summary>A caller that still waits is told of the end itself, and the asker of a query is told elsewhere: neither counts as a loss.</summary>
    [Theory]
    [InlineData(true, 0, true)]
    [InlineData(true, 7, false)]
    [InlineData(false, 0, false)]
    public void A_message_is_lost_if_its_caller_was_told_that_it_is_sent(bool detached, ulong query, bool lost)
    {
        var call = Call();
        (call.Detached, call.Query) = (detached, query);
        var task = call.Task;
        InTurn(() =>
        {
            _calls.Fail(call, new NotMemberException("g", "the test says so"));
            return true;
        });
        Assert.Equal((lost, !detached), (_calls.HasLost, !detached && task.IsFaulted));
    }

    private sealed class Taker(INode node) : ICallTaker
    {
        public INode Node => node;

        public void Take(SendOperation call)
        {
        }

        public void PostCancelled()
        {
        }
    }
}
