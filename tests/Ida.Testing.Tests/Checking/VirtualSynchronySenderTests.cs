using Ida.Testing.Checking;

namespace Ida.Testing.Tests.Checking;

/// <summary>What binds others whatever becomes of its sender, where callers do not know in which view it goes out: what was flushed.</summary>
public sealed class VirtualSynchronySenderTests
{
    private static GroupTape Three => new GroupTape(new() { StateTransfer = false }).Install("abc", 1, "abc");

    /// <summary>Calls wait while a view changes, and a flush behind them: both are of the next view then.</summary>
    [Fact]
    public void G12_what_waited_for_a_view_is_flushed_in_that_view()
    {
        static GroupTape Flushed() => Three.Send('a', 1, 0).CallFlush('a', 1).Install("abc", 2, "abc").Deliver("a", 1).ReturnFlush(1).Crash('a');
        FailsAtOnce(Flushed().Install("bc", 3, "bc"), GroupGuarantee.Flush);
        Fails(Flushed(), GroupGuarantee.Flush);
        Passes(Flushed().Deliver("bc", 1).Install("bc", 3, "bc"));
        FailsAtOnce(Three.Send('a', 1, 0).Deliver("a", 1).Send('a', 2, 0).CallFlush('a', 1).ReturnFlush(1).Crash('a').Install("bc", 2, "bc"), GroupGuarantee.Flush);
        // It returns when the others have gone on already, and when one of them has it before the caller.
        FailsAtOnce(Three.Send('a', 1, 0).Deliver("a", 1).CallFlush('a', 1).Install("bc", 2, "bc").ReturnFlush(1), GroupGuarantee.Flush);
        FailsAtOnce(Three.Install("abc", 2, "abc").Send('a', 1, 0).CallFlush('a', 1).ReturnFlush(1).Crash('a').Deliver("b", 1).Install("cb", 3, "bc"), GroupGuarantee.Flush, GroupGuarantee.VirtualSynchrony);
        // Not what came after its call.
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
