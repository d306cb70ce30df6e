using GroupCore.Groups.Buffers;
using GroupCore.Groups.Calls;
using GroupCore.Groups.Multicast;

namespace GroupCore.Tests.Groups;

/// <summary>Calls that wait until all members hold what was sent and delivered before them (multicast.md#a-stability-wait-includes-the-order).</summary>
public sealed class StabilityRoundsTests
{
    private const int Self = 0;
    private readonly SenderLog[] _logs = [new(), new()];
    private readonly StabilityRounds _rounds = new();
    private readonly MessageSlab _slab = MessageSlab.Rent();
    private uint _order;

    [Fact]
    public void A_call_waits_for_all_that_was_sent_here_and_for_what_was_delivered_of_others()
    {
        Receive(Self, 3);
        Receive(1, 5);
        _logs[1].Passed = 2;
        _order = 7;
        Assert.True(Add(new()));
        Assert.Equal(("3 2", 7u), First());
    }

    [Fact]
    public void A_call_for_which_nothing_new_was_sent_shares_the_round_and_asks_nobody()
    {
        Receive(Self, 3);
        StabilityWait one = new(), two = new();
        Assert.True(Add(one));
        Assert.False(Add(two));
        Assert.Equal(1, _rounds.Count);
        Assert.Equal([one, two], _rounds.Dequeue());
    }

    [Fact]
    public void A_call_after_something_new_needs_more_and_does_not_raise_what_those_before_it_need()
    {
        Receive(Self, 3);
        StabilityWait one = new(), two = new(), three = new();
        Add(one);
        Receive(Self, 1);
        Assert.True(Add(two));
        _order++;
        Assert.True(Add(three));
        Assert.Equal(("3 0", 0u), First());
        Assert.Equal([one], _rounds.Dequeue());
        Assert.Equal(("4 0", 0u), First());
        Assert.Equal([two], _rounds.Dequeue());
        Assert.Equal(("4 0", 1u), First());
        Assert.Equal([three], _rounds.Dequeue());
        Assert.False(_rounds.TryPeek(out _, out _));
    }

    [Fact]
    public void Calls_beyond_the_last_round_share_it_and_it_needs_what_they_need()
    {
        for (int i = 0; i < StabilityRounds.Most + 5; i++)
        {
            Receive(Self, 1);
            Assert.True(Add(new()));
        }
        Assert.Equal(StabilityRounds.Most, _rounds.Count);
        for (int i = 1; i < StabilityRounds.Most; i++)
        {
            Assert.Equal(($"{i} 0", 0u), First());
            Assert.Single(_rounds.Dequeue());
        }
        Assert.Equal(($"{StabilityRounds.Most + 5} 0", 0u), First());
        Assert.Equal(6, _rounds.Dequeue().Count);
    }

    [Fact]
    public void Calls_that_are_cancelled_leave_and_a_round_without_calls_ends()
    {
        StabilityWait one = new(), two = new(), three = new();
        Add(one);
        Receive(Self, 1);
        Add(two);
        Add(three);
        one.Cancel(new(canceled: true));
        three.Cancel(new(canceled: true));
        _rounds.RemoveCancelled();
        Assert.Equal(1, _rounds.Count);
        Assert.Equal([two], _rounds.Dequeue());
    }

    private void Receive(int sender, int messages)
    {
        for (int i = 0; i < messages; i++) _logs[sender].Append(_slab, 0, 10, MessageKind.Whole, 0);
    }

    private bool Add(StabilityWait call) => _rounds.Add(call, _logs, Self, _order);

    private (string Need, uint Order) First()
    {
        Assert.True(_rounds.TryPeek(out var need, out uint order));
        return (string.Join(' ', need.ToArray()), order);
    }
}
