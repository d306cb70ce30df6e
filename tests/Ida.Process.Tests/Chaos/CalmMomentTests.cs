using Ida.Chaos.Driving;
using Ida.Chaos.Judging;
using Ida.Chaos.Members;

namespace Ida.Process.Tests.Chaos;

/// <summary>How chaos judges a blink: a member that changed its view or was excluded is found.</summary>
public sealed class CalmMomentTests
{
    private static readonly MemberStatus s_calm = new() { Active = true, View = 7, Members = 3, Slot = 0, Initialised = true };

    [Fact]
    public void What_clients_do_and_what_voters_are_there_is_no_change()
    {
        var before = new CalmMoment(Three(s_calm));
        Assert.Null(before.Change(Three(s_calm with { Succeeded = 99, Voters = ["a"], Heap = 5 })));
    }

    [Theory]
    [InlineData(true, 8, 2, "m1.2 is in view 8 of 2, and was in view 7 of 3")]
    [InlineData(true, 9, 3, "m1.2 is in view 9 of 3, and was in view 7 of 3")]
    [InlineData(true, 0, 0, "m1.2 is in view 0 of 0, and was in view 7 of 3")]
    [InlineData(false, 7, 3, "m1.2 is not active any more, and was in view 7 of 3")]
    public void A_member_in_another_view_or_in_none_is_told(bool active, ulong view, int members, string told)
    {
        var before = new CalmMoment(Three(s_calm));
        Assert.Equal(told, before.Change(Three(s_calm with { Active = active, View = view, Members = members })));
    }

    [Fact]
    public void A_member_that_is_gone_and_one_that_came_are_told()
    {
        var before = new CalmMoment(Three(s_calm));
        Assert.Equal("m1.2 is gone", before.Change(Three(s_calm).Where(static one => one.Name != "m1.2")));
        Assert.Equal("m3.4 is new", before.Change(Three(s_calm).Append(("m3.4", s_calm))));
    }

    [Theory]
    [InlineData(3, 2, true, false)]
    [InlineData(2, 2, true, true)]
    [InlineData(2, 2, false, false)]
    [InlineData(3, 3, false, true)]
    [InlineData(0, 0, true, true)]
    [InlineData(0, 0, false, false)]
    [InlineData(0, 2, false, false)]
    [InlineData(0, 3, false, true)]
    public void Blinks_show_nothing_unless_more_were_judged_than_not(int judged, int unjudged, bool asked, bool nothing) =>
        Assert.Equal(nothing, Blinks.AreNothing(judged, unjudged, asked));

    [Theory]
    [InlineData(0, 1, true, 0, true)]
    [InlineData(0, 1, true, 5, true)]
    [InlineData(0, 1, true, 6, false)]
    [InlineData(1, 1, true, 1, true)]
    [InlineData(2, 1, true, 2, false)]
    [InlineData(1, 0, true, 0, false)]
    [InlineData(0, 0, true, 0, true)]
    [InlineData(0, 3, false, 0, false)]
    public void A_run_for_which_blinks_were_asked_goes_on_until_they_show_something(int judged, int unjudged, bool asked, int more, bool wanted) =>
        Assert.Equal(wanted, Blinks.IsMoreWanted(judged, unjudged, asked, more));

    [Fact]
    public void A_member_that_was_held_up_is_told_and_one_that_was_stopped_may_have_been()
    {
        var before = new CalmMoment(Three(s_calm with { HeldUpMs = 5_000 }));
        var allowed = TimeSpan.FromMilliseconds(200);
        var now = Three(s_calm with { HeldUpMs = 5_201 }).ToList();
        Assert.Null(before.HeldUp(Three(s_calm with { HeldUpMs = 5_200 }), allowed));
        Assert.Equal("m1.2 was held up for 201 ms", before.HeldUp(now, allowed));
        Assert.Equal("m1.2 was held up for 201 ms", before.HeldUp(now, allowed, "m0.1", TimeSpan.FromSeconds(1)));
        Assert.Null(before.HeldUp(now, allowed, "m1.2", TimeSpan.FromSeconds(1)));
    }

    /// <summary>A member that is late with a report may have had no processor time, and chaos knows of its DHT from its reports alone.</summary>
    [Fact]
    public void A_member_that_is_not_heard_for_a_second_hinders_the_look_and_one_whose_dht_keeps_silent_is_found()
    {
        var look = new BlinkLook();
        look.Note("m0.1", isHeard: true, s_calm with { UnansweredMs = 999 });
        Assert.Equal((null, null), (look.Hindered, look.Silent));
        look.Note("m1.2", isHeard: false, s_calm with { UnansweredMs = 1_000 });
        Assert.Equal(("m1.2 said nothing for a second", null), (look.Hindered, look.Silent));
        look.Hinder("the driver was held up");
        look.Note("m2.3", isHeard: true, s_calm with { UnansweredMs = 1_000 });
        Assert.Equal(("m1.2 said nothing for a second", "m2.3's DHT has not answered it for a second"), (look.Hindered, look.Silent));
    }

    private static IEnumerable<(string Name, MemberStatus Status)> Three(MemberStatus second) => [("m0.1", s_calm), ("m1.2", second), ("m2.3", s_calm)];
}
