using Ida.Testing.Checking;

namespace Ida.Testing.Tests.Checking;

/// <summary>
/// Messages that bind the others whatever becomes of their sender, where callers do not know in which view a message goes out: the last messages of a leaver, messages that
/// had gone out, and flushed messages.
/// </summary>
public sealed class VirtualSynchronySenderTests
{
    private static GroupTape Three => new GroupTape(new() { StateTransfer = false }).Install("abc", 1, "abc");

    [Fact]
    public void G6_what_a_leaver_sent_last_is_delivered()
    {
        Fails(Three.Send('c', 1, 0).Leave('c').Install("ab", 2, "ab", left: "c"), GroupGuarantee.NoLoss);
        Fails(Three.Send('c', 1, 0).Leave('c').Install("ab", 2, "ab", left: "c").Again('c').Install("abc", 3, "abc"), GroupGuarantee.NoLoss);
        // If any member has it, all that stay must have it.
        Fails(Three.Send('c', 1, 0).Deliver("c", 1).Leave('c').Install("ab", 2, "ab", left: "c"), GroupGuarantee.NoLoss, GroupGuarantee.VirtualSynchrony);
        Passes(Three.Send('c', 1, 0).Leave('c').Deliver("ab", 1).Install("ab", 2, "ab", left: "c"));
        Passes(Three.Send('c', 1, 0).Crash('c').Install("ab", 2, "ab"));
        // The others are gone too.
        Passes(Three.Send('c', 1, 0).Leave('c').Crash('a').Crash('b'));
        var refused = Three.Send('c', 1, 0).Leave('c');
        refused.Checker.Abandoned(1);
        Passes(refused.Install("ab", 2, "ab", left: "c"));
    }

    [Fact]
    public void G6_an_ordered_message_whose_call_has_returned_is_delivered_by_its_sender()
    {
        FailsAtOnce(Three.Send('a', 1, 0, MulticastKind.Ordered).Return(1), GroupGuarantee.NoLoss);
        // Nobody has it, and the view ends.
        FailsAtOnce(Three.Send('a', 1, 0, MulticastKind.Ordered).Install("abc", 2, "abc").Return(1).Crash('a'), GroupGuarantee.NoLoss);
        FailsAtOnce(Three.Send('a', 1, 0, MulticastKind.Ordered).Deliver("b", 1).Return(1), GroupGuarantee.NoLoss);
        Passes(Three.Send('a', 1, 0, MulticastKind.Ordered).Deliver("abc", 1).Return(1));
        // The caller continues later than its member.
        Passes(Three.Send('a', 1, 0, MulticastKind.Ordered).Deliver("abc", 1).Install("abc", 2, "abc").Return(1));
        Passes(Three.Send('a', 1, 0).Return(1).Deliver("abc", 1));
    }

    [Fact]
    public void G14_what_a_leaver_sent_to_one_that_stays_is_received()
    {
        Fails(Three.Tell('c', 'a', 1, 0).Leave('c').Install("ab", 2, "ab", left: "c"), GroupGuarantee.PeerMessages);
        Fails(Three.Tell('c', 'a', 1, 0).Leave('c').Install("ab", 2, "ab", left: "c").Again('c').Install("abc", 3, "abc"), GroupGuarantee.PeerMessages);
        Passes(Three.Tell('c', 'a', 1, 0).Leave('c').Hear('a', 1).Install("ab", 2, "ab", left: "c"));
        Passes(Three.Tell('c', 'a', 1, 0).Leave('c').Crash('a').Install("b", 2, "b", left: "c"));
        Passes(Three.Tell('c', 'a', 1, 0).Leave('c').Install("ab", 2, "ab", left: "c").Leave('a').Install("b", 3, "b", left: "a").Again('a').Install("ba", 4, "ba"));
    }

    [Fact]
    public void G6_what_had_gone_out_is_delivered_by_its_sender_before_a_later_view()
    {
        FailsAtOnce(Three.Send('a', 1, 0).Gone('a', 1).Install("a", 2, "abc"), GroupGuarantee.NoLoss);
        // The view may be that of the sender's protocol, which is ahead of its handlers.
        Assert.True(Three.Send('a', 1, 0).Gone('a', 2).Install("abc", 2, "abc").Checker.Passed);
        FailsAtOnce(Three.Send('a', 1, 0).Gone('a', 2).Install("abc", 2, "abc").Install("abc", 3, "abc"), GroupGuarantee.NoLoss);
        Passes(Three.Send('a', 1, 0).Gone('a', 1).Deliver("a", 1).Crash('a').Install("bc", 2, "bc"));
        Passes(Three.Send('a', 1, 0).Crash('a').Gone('a', 1).Install("bc", 2, "bc"));
        var refused = Three.Send('a', 1, 0);
        refused.Checker.Abandoned(1);
        Passes(refused.Gone('a', 1).Install("abc", 2, "abc"));
    }

    [Fact]
    public void G14_what_had_gone_out_to_one_is_received_before_a_later_view_of_both()
    {
        FailsAtOnce(Three.Tell('a', 'b', 1, 0).Gone('a', 1).Install("abc", 2, "abc"), GroupGuarantee.PeerMessages);
        FailsAtOnce(Three.Tell('a', 'b', 1, 0).Gone('a', 1).Install("ab", 2, "abc").Crash('a'), GroupGuarantee.PeerMessages);
        Passes(Three.Tell('a', 'b', 1, 0).Gone('a', 1).Install("a", 2, "abc").Hear('b', 1).Install("bc", 2, "abc"));
        Passes(Three.Tell('a', 'b', 1, 0).Gone('a', 1).Crash('b').Install("ac", 2, "ac"));
        // Abandoned messages do not hide later ones.
        var abandoned = Three.Tell('a', 'b', 1, 0);
        abandoned.Checker.Abandoned(1);
        FailsAtOnce(abandoned.Tell('a', 'b', 2, 0).Gone('a', 1).Install("abc", 2, "abc"), GroupGuarantee.PeerMessages);
    }

    /// <summary>Calls wait while a view changes, and a flush waits behind them. Both then belong to the next view.</summary>
    [Fact]
    public void G12_what_waited_for_a_view_is_flushed_in_that_view()
    {
        static GroupTape Flushed() => Three.Send('a', 1, 0).CallFlush('a', 1).Install("abc", 2, "abc").Deliver("a", 1).ReturnFlush(1).Crash('a');
        FailsAtOnce(Flushed().Install("bc", 3, "bc"), GroupGuarantee.Flush);
        Fails(Flushed(), GroupGuarantee.Flush);
        Passes(Flushed().Deliver("bc", 1).Install("bc", 3, "bc"));
        FailsAtOnce(Three.Send('a', 1, 0).Deliver("a", 1).Send('a', 2, 0).CallFlush('a', 1).ReturnFlush(1).Crash('a').Install("bc", 2, "bc"), GroupGuarantee.Flush);
        // The flush returns when the others have already moved on, or when one of them gets the message before the caller.
        FailsAtOnce(Three.Send('a', 1, 0).Deliver("a", 1).CallFlush('a', 1).Install("bc", 2, "bc").ReturnFlush(1), GroupGuarantee.Flush);
        FailsAtOnce(Three.Install("abc", 2, "abc").Send('a', 1, 0).CallFlush('a', 1).ReturnFlush(1).Crash('a').Deliver("b", 1).Install("cb", 3, "bc"), GroupGuarantee.Flush, GroupGuarantee.VirtualSynchrony);
        // A flush does not cover what was sent after its call.
        Passes(Three.CallFlush('a', 1).Send('a', 1, 0).Install("abc", 2, "abc").Deliver("a", 1).ReturnFlush(1).Crash('a').Install("bc", 3, "bc"));
    }

    private static void Passes(GroupTape tape)
    {
        tape.Checker.CheckFinal(atRest: true);
        Assert.True(tape.Checker.Passed, tape.Checker.ToString());
    }

    private static void FailsAtOnce(GroupTape tape, params GroupGuarantee[] guarantees) => Assert.Equal(guarantees, tape.Checker.Violations.Select(v => v.Guarantee).Distinct());

    private static void Fails(GroupTape tape, params GroupGuarantee[] guarantees)
    {
        tape.Checker.CheckFinal(atRest: true);
        FailsAtOnce(tape, guarantees);
    }
}
