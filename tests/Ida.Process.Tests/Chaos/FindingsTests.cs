using Ida.Chaos.Judging;
using Ida.Chaos.Members;
using Ida.Testing.Calls;

namespace Ida.Process.Tests.Chaos;

/// <summary>What members reported of their calls is kept, whatever becomes of the members.</summary>
public sealed class FindingsTests
{
    private readonly Findings _findings = new();

    [Fact]
    public void What_a_member_found_is_kept_when_it_says_it_no_more()
    {
        _findings.Note("m0.1", new() { Wrong = "a call is late" });
        _findings.Note("m0.1", new());
        _findings.Note("m1.2", new());
        Assert.Equal("calls of m0.1: a call is late", Assert.Single(_findings.Wrong));
    }

    [Fact]
    public void Tables_of_all_members_are_added_and_a_line_that_was_overtaken_takes_nothing_away()
    {
        _findings.Note("m0.1", Met(7));
        _findings.Note("m0.1", Met(5));
        _findings.Note("m0.1", new());
        _findings.Note("m1.2", Met(3));
        Assert.Equal(10, _findings.Calls()[CallKind.Send, "fault: kill"]);
    }

    [Fact]
    public void A_fault_that_no_call_met_is_told()
    {
        _findings.Note("m0.1", Met(1));
        Assert.Equal(["stop"], _findings.Unmet(["kill", "stop"]));
    }

    private static MemberStatus Met(long times) => new() { Calls = [new(CallKind.Send, CallTable.OfFault("kill"), times)] };
}
