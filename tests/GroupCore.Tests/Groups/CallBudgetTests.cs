using GroupCore.Groups;
using GroupCore.Groups.Calls;
using GroupCore.Membership;

namespace GroupCore.Tests.Groups;

/// <summary>How much the callers of one group may have waiting, in all and for one receiver.</summary>
public sealed class CallBudgetTests
{
    private readonly CallBudget _budget = new("g", null);

    private static View View(ulong id, params ulong[] members) =>
        new(new(1, 1), "g", id, id, new(), [.. members.Select(static m => new ViewMember(new(m, m), new($"10.0.0.{m}:1"), true, ""))], [], [], [], []);

    private bool Takes(int bytes, PeerShare? receiver, bool canWait = true)
    {
        try
        {
            _budget.Take(bytes, receiver, canWait);
            return true;
        }
        catch (SendQueueFullException)
        {
            return false;
        }
    }

    [Theory]
    [InlineData(0, true)]
    [InlineData(1 << 20, true)]
    [InlineData(0, false)]
    [InlineData(1 << 20, false)]
    public void However_many_receivers_take_nothing_there_is_room_for_another_and_for_all(int bytes, bool canWait)
    {
        var shares = new PeerShares();
        var view = View(1, [.. Enumerable.Range(1, 12).Select(static i => (ulong)i)]);
        for (int stuck = 0; stuck < (canWait ? 10 : 5); stuck++)
            while (Takes(bytes, shares.Of(view, stuck), canWait))
            {
            }
        Assert.True(Takes(bytes == 0 ? 0 : 1_000, shares.Of(view, 11)));
        Assert.True(Takes(bytes == 0 ? 0 : 1_000, null));
    }

    [Fact]
    public void What_is_refused_is_not_counted_and_what_ends_is_counted_no_more()
    {
        var share = new PeerShares().Of(View(1, 1, 2), 1);
        int calls = 0;
        while (Takes(100, share)) calls++;
        Assert.Equal((GroupLimits.ReceiverCalls, calls * 100L), (_budget.Calls, _budget.Bytes));
        for (int i = 0; i < calls; i += 2)
        {
            _budget.Return(100, share, i);
            _budget.TakeBack(100, share);
        }
        Assert.Equal((0, 0L, false), (_budget.Calls, _budget.Bytes, share.IsUsed));
        Assert.True(Takes(100, share));
    }

    [Fact]
    public void A_caller_that_can_wait_is_told_of_the_calls_that_wait_however_much_handlers_sent()
    {
        var share = new PeerShares().Of(View(1, 1, 2), 1);
        while (Takes(100, share))
        {
        }
        for (int i = 0; i <= GroupLimits.ReceiverCalls; i++) share.Sent(1);
        var full = Assert.Throws<SendQueueFullException>(() => _budget.Take(100, share, canWait: true));
        Assert.Equal(GroupLimits.ReceiverCalls, full.Calls);
        Assert.Contains("calls with", full.Message, StringComparison.Ordinal);
        while (Takes(100, share, canWait: false))
        {
        }
        full = Assert.Throws<SendQueueFullException>(() => _budget.Take(100, share, canWait: false));
        Assert.True(full.Calls > GroupLimits.HandlersCalls / 2, $"{full.Calls}");
    }

    [Fact]
    public void A_share_stays_its_receivers_from_view_to_view()
    {
        var shares = new PeerShares();
        var (old, next) = (View(1, 1, 2, 3), View(2, 1, 3, 4));
        var share = shares.Of(old, 2);
        share.TryTake(10, true, 100, 100);
        Assert.Same(share, shares.Of(next, 1));
        Assert.NotSame(share, shares.Of(next, 2));
        // A caller that is still in the old view.
        Assert.Same(share, shares.Of(old, 2));
        Assert.Same(shares.Of(next, 0), shares.Of(old, 0));
        Assert.NotNull(shares.Of(old, 1));
        shares.Trim();
        Assert.Same(share, shares.Of(next, 1));
        share.TakeBack(10);
        shares.Trim();
        Assert.NotSame(share, shares.Of(next, 1));
    }
}
