using Ida.Testing.Checking;

namespace Ida.Testing.Tests.Checking;

/// <summary>For each guarantee of groups, a run that breaks it and must fail with that verdict, and a similar one that must pass.</summary>
public sealed class VirtualSynchronyTests
{
    private static GroupTape Three => new GroupTape().Install("abc", 1, "abc");

    private static void Passes(GroupTape tape, bool atRest = true)
    {
        tape.Checker.CheckFinal(atRest);
        Assert.True(tape.Checker.Passed, tape.Checker.ToString());
        tape.Checker.ThrowIfFailed();
    }

    private static void FailsAtOnce(GroupTape tape, GroupGuarantee guarantee)
    {
        Assert.False(tape.Checker.Passed);
        Assert.All(tape.Checker.Violations, v => Assert.Equal(guarantee, v.Guarantee));
        Assert.Throws<ConsistencyViolationException>(tape.Checker.ThrowIfFailed);
    }

    private static void FailsAtTheEnd(GroupTape tape, GroupGuarantee guarantee, bool atRest = true)
    {
        Assert.True(tape.Checker.Passed, tape.Checker.ToString());
        tape.Checker.CheckFinal(atRest);
        FailsAtOnce(tape, guarantee);
    }

    [Fact]
    public void G1_one_list_per_view()
    {
        FailsAtOnce(new GroupTape().Install("a", 1, "ab").Install("b", 1, "ba"), GroupGuarantee.ViewAgreement);
        Passes(new GroupTape().Install("a", 1, "ab").Install("b", 1, "ab"));
    }

    [Fact]
    public void G1_views_in_a_run_without_gaps()
    {
        FailsAtOnce(Three.Install("ab", 2, "abc").Install("a", 3, "abc").Install("c", 3, "abc"), GroupGuarantee.ViewAgreement);
        FailsAtOnce(Three.Install("ab", 2, "abc").Install("a", 1, "abc"), GroupGuarantee.ViewAgreement);
        FailsAtOnce(Three.Install("abc", 2, "abcd").Install("abcd", 3, "abcd"), GroupGuarantee.ViewAgreement);
        Passes(Three.Install("abc", 2, "abcd").Install("abc", 3, "abcd", digest: 7).Load('d', 3, 7).Install("d", 3, "abcd"));
    }

    [Fact]
    public void G2_only_views_that_contain_the_process()
    {
        FailsAtOnce(Three.Install("abc", 2, "ab"), GroupGuarantee.SelfInclusion);
        Passes(Three.Crash('c').Install("ab", 2, "ab"));
    }

    [Fact]
    public void G3_survivors_deliver_the_same_set()
    {
        FailsAtOnce(Three.Send('a', 1, 1).Deliver("ab", 1).Crash('a').Install("bc", 2, "bc"), GroupGuarantee.VirtualSynchrony);
        FailsAtOnce(Three.Send('a', 1, 1).Deliver("ac", 1).Crash('a').Install("bc", 2, "bc"), GroupGuarantee.VirtualSynchrony);
        FailsAtTheEnd(Three.Send('a', 1, 1).Deliver("ac", 1), GroupGuarantee.VirtualSynchrony);
        Passes(Three.Send('a', 1, 1).Deliver("a", 1).Crash('a').Install("bc", 2, "bc"));
        Passes(Three.Send('a', 1, 1).Deliver("abc", 1).Crash('a').Install("bc", 2, "bc"));
        Passes(Three.Send('a', 1, 1).Deliver("ac", 1), atRest: false);
    }

    [Fact]
    public void G3_G9_survivors_deliver_ordered_messages_in_one_order()
    {
        FailsAtOnce(Three.Order('a', 1, 1).Order('b', 2, 1).Deliver("ab", 1, 2).Deliver("c", 2, 1).Install("abc", 2, "abc"), GroupGuarantee.TotalOrder);
        FailsAtTheEnd(Three.Order('a', 1, 1).Order('b', 2, 1).Deliver("ab", 1, 2).Deliver("c", 2, 1), GroupGuarantee.TotalOrder);
        FailsAtTheEnd(Three.Order('a', 1, 1).Order('b', 2, 1).Deliver("ab", 1).Deliver("c", 2), GroupGuarantee.TotalOrder, atRest: false);
        // An order that only the removed member had seen dies with it.
        Passes(Three.Order('a', 1, 1).Order('b', 2, 1).Deliver("a", 1, 2).Crash('a').Deliver("bc", 2, 1).Install("bc", 2, "bc"));
        // FIFO messages of different senders have no common order.
        Passes(Three.Send('a', 1, 1).Send('b', 2, 1).Deliver("ab", 1, 2).Deliver("c", 2, 1).Install("abc", 2, "abc"));
    }

    [Fact]
    public void G4_delivery_in_the_view_of_sending()
    {
        FailsAtOnce(Three.Send('a', 1, 1).Install("abc", 2, "abc").Deliver("a", 1), GroupGuarantee.NoLoss, GroupGuarantee.SendingView);
        FailsAtOnce(Three.Install("abc", 2, "abc").Send('a', 1, 1), GroupGuarantee.SendingView, GroupGuarantee.NoLoss);
        FailsAtOnce(Three.Install("ab", 2, "abc").Send('a', 1, 0).Deliver("ab", 1).Deliver("c", 1), GroupGuarantee.SendingView);
        FailsAtOnce(Three.Send('a', 1, 0).Install("bc", 2, "abc").Deliver("b", 1), GroupGuarantee.SendingView);
        Passes(Three.Send('a', 1, 0).Install("abc", 2, "abc").Deliver("abc", 1));
    }

    [Fact]
    public void G5_nothing_of_a_removed_member_after_the_view_that_removes_it()
    {
        FailsAtOnce(Three.Send('c', 1, 2).Crash('c').Install("ab", 2, "ab").Deliver("ab", 1), GroupGuarantee.Finalisation);
        Passes(Three.Send('c', 1, 1).Crash('c').Deliver("ab", 1).Install("ab", 2, "ab"));
    }

    [Fact]
    public void G6_nothing_of_a_survivor_or_a_leaver_is_lost()
    {
        FailsAtOnce(Three.Send('a', 1, 1).Install("abc", 2, "abc"), GroupGuarantee.NoLoss);
        FailsAtOnce(Three.Send('c', 1, 1).Install("ab", 2, "ab", left: "c"), GroupGuarantee.NoLoss);
        FailsAtTheEnd(Three.Send('a', 1, 1), GroupGuarantee.NoLoss);
        FailsAtTheEnd(Three.Send('a', 1, 0), GroupGuarantee.NoLoss);
        Passes(Three.Send('c', 1, 1).Crash('c').Install("ab", 2, "ab"));
        Passes(Three.Send('c', 1, 1).Deliver("abc", 1).Install("ab", 2, "ab", left: "c").Leave('c'));
        var abandoned = Three.Send('a', 1, 1);
        abandoned.Checker.Abandoned(1);
        Passes(abandoned.Install("abc", 2, "abc"));
    }

    [Fact]
    public void What_a_leaver_delivered_survivors_deliver()
    {
        FailsAtOnce(Three.Send('a', 1, 1).Deliver("c", 1).Leave('c').Crash('a').Install("b", 2, "b", left: "c"), GroupGuarantee.VirtualSynchrony);
        FailsAtOnce(Three.Order('a', 1, 1).Order('b', 2, 1).Deliver("c", 1, 2).Deliver("ab", 2, 1).Install("ab", 2, "ab", left: "c").Leave('c'), GroupGuarantee.TotalOrder);
        Passes(Three.Send('a', 1, 1).Deliver("abc", 1).Leave('c').Install("ab", 2, "ab", left: "c"));
    }

    [Fact]
    public void G7_order_of_one_sender()
    {
        FailsAtOnce(Three.Send('a', 1, 1).Send('a', 2, 1).Deliver("b", 2, 1), GroupGuarantee.SenderOrder);
        FailsAtOnce(Three.Send('a', 1, 1).Send('a', 2, 1).Deliver("b", 2), GroupGuarantee.SenderOrder);
        FailsAtOnce(Three.Order('a', 1, 1).Order('a', 2, 1).Deliver("b", 2), GroupGuarantee.SenderOrder);
        Passes(Three.Send('a', 1, 1).Send('a', 2, 1).Deliver("abc", 1, 2).Install("abc", 2, "abc").Send('a', 3, 2).Deliver("abc", 3));
        Passes(Three.Send('c', 1, 1).Send('b', 2, 1).Crash('c').Deliver("ab", 2).Install("ab", 2, "ab"));
    }

    [Fact]
    public void G7_no_ordered_message_before_an_earlier_one_of_its_sender()
    {
        FailsAtOnce(Three.Send('a', 1, 1).Order('a', 2, 1).Deliver("b", 2, 1), GroupGuarantee.SenderOrder);
        Passes(Three.Send('a', 1, 1).Order('a', 2, 1).Deliver("abc", 1, 2));
        // The converse is not promised.
        Passes(Three.Order('a', 1, 1).Send('a', 2, 1).Deliver("abc", 2, 1));
    }

    [Fact]
    public void G12_what_was_flushed_survives_its_caller()
    {
        GroupTape Flushed(GroupTape tape) => tape.CallFlush('a', 1).ReturnFlush(1).Crash('a');
        FailsAtOnce(Flushed(Three.Send('a', 1, 1).Deliver("a", 1)).Install("bc", 2, "bc"), GroupGuarantee.Flush);
        FailsAtOnce(Flushed(Three.Send('a', 1, 1)).Install("bc", 2, "bc"), GroupGuarantee.Flush);
        FailsAtOnce(Three.Send('c', 1, 1).Deliver("a", 1).CallFlush('a', 1).Crash('c').Install("ba", 2, "ab").ReturnFlush(1), GroupGuarantee.VirtualSynchrony, GroupGuarantee.Flush);
        FailsAtTheEnd(Flushed(Three.Send('a', 1, 0)).Install("bc", 2, "bc"), GroupGuarantee.Flush);
        Passes(Flushed(Three.Send('a', 1, 1).Deliver("a", 1)).Deliver("bc", 1).Install("bc", 2, "bc"));
        // A flush that did not return binds nobody. A returned flush does not cover what was sent after its call.
        Passes(Three.Send('a', 1, 1).Deliver("a", 1).CallFlush('a', 1).Crash('a').Install("bc", 2, "bc"));
        Passes(Three.CallFlush('a', 1).Send('a', 1, 1).Deliver("a", 1).ReturnFlush(1).Crash('a').Install("bc", 2, "bc"));
    }

    [Fact]
    public void G12_the_order_that_was_flushed_survives_too()
    {
        FailsAtOnce(Three.Order('b', 1, 1).Order('c', 2, 1).Deliver("a", 1, 2).CallFlush('a', 1).ReturnFlush(1).Crash('a').Deliver("bc", 2, 1).Install("bc", 2, "bc"), GroupGuarantee.Flush);
        Passes(Three.Order('b', 1, 1).Order('c', 2, 1).Deliver("a", 1, 2).CallFlush('a', 1).ReturnFlush(1).Crash('a').Deliver("bc", 1, 2).Install("bc", 2, "bc"));
    }

    [Fact]
    public void G13_a_joiner_starts_from_a_members_state()
    {
        FailsAtTheEnd(Three.Install("abc", 2, "abcd", digest: 5).Load('d', 2, 6).Install("d", 2, "abcd", digest: 6), GroupGuarantee.StateTransfer);
        FailsAtOnce(Three.Install("abc", 2, "abcd", digest: 5).Install("d", 2, "abcd").Send('a', 1, 2).Deliver("d", 1), GroupGuarantee.StateTransfer);
        FailsAtOnce(Three.Install("abc", 2, "abcd", digest: 5).Load('d', 3, 5), GroupGuarantee.StateTransfer);
        FailsAtOnce(Three.Install("abc", 2, "abcd", digest: 5).Load('a', 2, 5), GroupGuarantee.StateTransfer);
        Passes(Three.Install("ab", 2, "abcd", digest: 4).Install("c", 2, "abcd", digest: 5).Load('d', 2, 5).Install("d", 2, "abcd", digest: 5));
        FailsAtOnce(new GroupTape(new() { StatesAgree = true }).Install("abc", 1, "abc").Install("ab", 2, "abcd", digest: 4).Install("c", 2, "abcd", digest: 5), GroupGuarantee.VirtualSynchrony);
    }

    [Fact]
    public void G13_a_joiner_delivers_every_multicast_of_its_view()
    {
        var joined = () => Three.Install("abc", 2, "abcd", digest: 5).Send('a', 1, 2).Deliver("abc", 1);
        FailsAtOnce(joined().Load('d', 2, 5).Install("d", 2, "abcd").Install("abcd", 3, "abcd"), GroupGuarantee.VirtualSynchrony);
        Passes(joined().Load('d', 2, 5).Install("d", 2, "abcd").Deliver("d", 1).Install("abcd", 3, "abcd"));
        // A joiner without the state is bound by nothing.
        Passes(joined().Install("d", 2, "abcd").Install("abcd", 3, "abcd"), atRest: false);
        FailsAtTheEnd(joined().Install("d", 2, "abcd").Install("abcd", 3, "abcd"), GroupGuarantee.Progress);
    }

    [Fact]
    public void G14_messages_to_one_member()
    {
        FailsAtOnce(Three.Tell('a', 'b', 1, 1).Hear('b', 1, 1), GroupGuarantee.PeerMessages);
        FailsAtOnce(Three.Tell('a', 'b', 1, 1).Tell('a', 'b', 2, 1).Hear('b', 2, 1), GroupGuarantee.PeerMessages);
        FailsAtOnce(Three.Tell('a', 'b', 1, 1).Install("abc", 2, "abc"), GroupGuarantee.PeerMessages);
        FailsAtOnce(Three.Tell('a', 'b', 1, 1).Install("b", 2, "abc").Hear('b', 1), GroupGuarantee.SendingView);
        FailsAtOnce(Three.Tell('a', 'b', 1, 1).Hear('c', 1), GroupGuarantee.Integrity);
        FailsAtTheEnd(Three.Tell('a', 'b', 1, 0), GroupGuarantee.PeerMessages);
        Passes(Three.Tell('a', 'b', 1, 1).Tell('a', 'b', 2, 1).Tell('b', 'a', 3, 1).Hear('b', 1, 2).Hear('a', 3).Install("abc", 2, "abc"));
        Passes(Three.Tell('a', 'b', 1, 1).Crash('a').Install("bc", 2, "bc"));
    }

    /// <summary>Callers do not know the view of a message. It counts as the view of reception, which must be one in which the message can have been sent.</summary>
    [Fact]
    public void G4_G5_messages_to_one_member_are_received_in_a_view_in_which_they_can_have_been_sent()
    {
        FailsAtOnce(Three.Tell('a', 'b', 1, 0).Crash('a').Install("bc", 2, "bc").Hear('b', 1), GroupGuarantee.SendingView, GroupGuarantee.Finalisation);
        FailsAtOnce(Three.Tell('a', 'b', 1, 2).Crash('a').Install("bc", 2, "bc").Hear('b', 1), GroupGuarantee.Finalisation);
        FailsAtOnce(Three.Install("a", 2, "abc").Tell('a', 'b', 1, 0).Hear('b', 1), GroupGuarantee.SendingView);
        FailsAtOnce(Three.Tell('a', 'b', 1, 0).Install("b", 2, "abc").Hear('b', 1), GroupGuarantee.SendingView);
        Passes(Three.Tell('a', 'b', 1, 0).Install("abc", 2, "abc").Hear('b', 1));
        Passes(Three.Install("a", 2, "abc").Tell('a', 'b', 1, 0).Install("bc", 2, "abc").Hear('b', 1));
        Passes(Three.Tell('a', 'b', 1, 0).Crash('a').Hear('b', 1).Install("bc", 2, "bc"));
        // Handlers that block may be several views behind their process.
        Passes(new GroupTape(new() { HandlersLag = true }).Install("abc", 1, "abc").Tell('a', 'b', 1, 0).Install("bc", 2, "abc").Hear('b', 1).Install("a", 2, "abc"));
        FailsAtOnce(new GroupTape(new() { HandlersLag = true }).Install("abc", 1, "abc").Tell('a', 'b', 1, 0).Crash('a').Install("bc", 2, "bc").Hear('b', 1), GroupGuarantee.Finalisation);
    }

    [Fact]
    public void G13_messages_to_one_member_are_received_with_the_state()
    {
        FailsAtOnce(Three.Install("abcd", 2, "abcd").Tell('a', 'd', 1, 0).Hear('d', 1), GroupGuarantee.StateTransfer);
        Passes(Three.Install("abc", 2, "abcd", digest: 5).Tell('a', 'd', 1, 0).Load('d', 2, 5).Install("d", 2, "abcd").Hear('d', 1));
    }

    [Fact]
    public void G14_no_message_to_one_member_is_received_before_an_earlier_one()
    {
        FailsAtOnce(Three.Tell('a', 'b', 1, 0).Tell('a', 'b', 2, 0).Hear('b', 2), GroupGuarantee.PeerMessages);
        FailsAtOnce(Three.Tell('a', 'b', 1, 0).Tell('a', 'b', 2, 0).Hear('b', 2).Install("abc", 2, "abc").Crash('a').Install("bc", 3, "bc"), GroupGuarantee.PeerMessages);
        Passes(Three.Tell('a', 'b', 1, 0).Tell('a', 'c', 2, 0).Tell('b', 'c', 3, 0).Hear('c', 2).Hear('b', 1).Hear('c', 3));
        var abandoned = Three.Tell('a', 'b', 1, 0).Tell('a', 'b', 2, 0);
        abandoned.Checker.Abandoned(1);
        Passes(abandoned.Hear('b', 2));
    }

    [Fact]
    public void No_duplicates_and_nothing_from_nowhere()
    {
        FailsAtOnce(Three.Send('a', 1, 1).Deliver("b", 1, 1), GroupGuarantee.Integrity);
        FailsAtOnce(Three.Deliver("b", 1), GroupGuarantee.Integrity);
        FailsAtOnce(Three.Send('a', 1, 1).Crash('b').Deliver("b", 1), GroupGuarantee.Integrity);
        Assert.Throws<ArgumentException>(() => Three.Send('a', 1, 1).Send('b', 1, 1));
    }

    [Fact]
    public void At_rest_every_member_is_in_the_last_view()
    {
        FailsAtTheEnd(Three.Install("ab", 2, "abc"), GroupGuarantee.Progress);
        Passes(Three.Install("ab", 2, "abc"), atRest: false);
        Passes(Three.Install("ab", 2, "abc").Crash('c'));
    }

    private static void FailsAtOnce(GroupTape tape, GroupGuarantee first, GroupGuarantee second)
    {
        Assert.Equal([first, second], tape.Checker.Violations.Select(v => v.Guarantee).Distinct().Take(2));
        Assert.Throws<ConsistencyViolationException>(tape.Checker.ThrowIfFailed);
    }

    [Fact]
    public void R_what_a_membership_sent_to_one_member_may_be_lost_with_it_when_its_process_joins_again()
    {
        Passes(Two.Tell('a', 'b', 1, 0).Crash('a').Install("b", 2, "b").Again('a').Install("ba", 3, "ba"));
        // Messages on their way to the old membership are lost with it too.
        Passes(Two.Tell('b', 'a', 1, 0).Leave('a').Install("b", 2, "b", left: "a").Again('a').Install("ba", 3, "ba"));
    }

    private static GroupTape Two => new GroupTape(new() { StateTransfer = false }).Install("ab", 1, "ab");
}
