using GroupCore.Membership;
using Oracle.Client;
using Oracle.Frames;
using Oracle.Raft;

namespace Oracle.Tests;

/// <summary>A process's side of its lease (failure-detection.md#a-jump-of-the-clock-proves-nothing). Leases last a second, and time begins at one.</summary>
public sealed class LeaseHolderTests
{
    private const long Millisecond = Durations.Millisecond;
    private static readonly ProcessId Self = new(1, 1);
    private readonly LogBus _bus = new();
    private readonly LogBus.Part _node;
    private readonly LeaseHolder _lease;

    public LeaseHolderTests()
    {
        _node = _bus.Add(1);
        _lease = new(_node, new());
        _lease.Begin();
    }

    /// <summary>The remaining two hundredths allow for clock drift.</summary>
    [Fact]
    public void A_lease_lasts_98_hundredths_of_its_length_from_when_it_was_asked_for()
    {
        var ask = _lease.AskNow(Self);
        _bus.Pass(300 * Millisecond);
        Assert.True(_lease.Take(Grant(ask)));
        Assert.Equal((ask.Sent + (980 * Millisecond), ask.Sent), (_lease.Until, _lease.Contact));
    }

    [Fact]
    public void A_question_goes_every_quarter_of_a_lease_and_twice_as_often_while_no_answer_comes()
    {
        var ask = _lease.Ask(Self, out bool unanswered)!;
        Assert.False(unanswered);
        _bus.Pass((125 * Millisecond) - 1);
        Assert.Null(_lease.Ask(Self, out unanswered));
        Assert.True(unanswered);
        _bus.Pass(1);
        ask = _lease.Ask(Self, out _)!;
        _lease.Take(Grant(ask));
        _bus.Pass((250 * Millisecond) - 1);
        Assert.Null(_lease.Ask(Self, out unanswered));
        Assert.False(unanswered);
        _bus.Pass(1);
        Assert.Equal(new LeaseAsk(Self, _node.Now, 0), _lease.Ask(Self, out _));
    }

    [Fact]
    public void Leases_that_last_long_are_asked_for_twice_a_second_all_the_same()
    {
        var lease = new LeaseHolder(_node, new() { LeaseDuration = TimeSpan.FromSeconds(60) });
        lease.Take(Grant(lease.AskNow(Self)));
        _bus.Pass(500 * Millisecond);
        Assert.NotNull(lease.Ask(Self, out _));
    }

    [Fact]
    public void An_answer_that_comes_late_takes_nothing_back()
    {
        var first = _lease.AskNow(Self);
        _bus.Pass(100 * Millisecond);
        var second = _lease.AskNow(Self);
        _lease.Take(Grant(second));
        long until = _lease.Until;
        Assert.True(_lease.Take(Grant(first)));
        Assert.Equal((until, second.Sent), (_lease.Until, _lease.Contact));
    }

    [Fact]
    public void An_answer_to_a_question_that_was_never_asked_brings_no_lease()
    {
        Assert.False(_lease.Take(new(_node.Now + 1, Configuration.Empty, 0, null)));
        Assert.Equal(0, _lease.Until);
    }

    [Fact]
    public void After_a_jump_of_the_clock_only_a_question_asked_since_brings_a_lease()
    {
        var before = _lease.AskNow(Self);
        _lease.Take(Grant(before));
        _bus.Pass(500 * Millisecond);
        _lease.Doubt(500 * Millisecond);
        Assert.True(_lease.InDoubt);
        Assert.Equal(0, _lease.Until);
        Assert.False(_lease.Take(Grant(before)));
        // The holder asks again at once.
        var after = _lease.Ask(Self, out _)!;
        Assert.True(_lease.Take(Grant(after)));
        Assert.False(_lease.InDoubt);
        Assert.Equal(after.Sent + (980 * Millisecond), _lease.Until);
    }

    /// <summary>The others could not be asked during the jump. Their silence before the jump still counts.</summary>
    [Fact]
    public void A_jump_is_no_silence_of_the_others()
    {
        _lease.Take(Grant(_lease.AskNow(Self)));
        long contact = _lease.Contact;
        _bus.Pass(Durations.Second);
        _bus.Pass(5 * Durations.Second);
        _lease.Doubt(5 * Durations.Second);
        Assert.Equal(contact + (5 * Durations.Second), _lease.Contact);
        Assert.Equal(Durations.Second, _node.Now - _lease.Contact);
        _lease.Doubt(100 * Durations.Second);
        Assert.Equal(_node.Now, _lease.Contact);
    }

    /// <summary>A host loaded far beyond what it can do spends nearly all its time in jumps.</summary>
    [Fact]
    public void Jumps_without_an_answer_count_as_silence_once_they_are_as_long_as_one_waits()
    {
        var lease = new LeaseHolder(_node, new() { IsolationTimeout = TimeSpan.FromSeconds(3), ExclusionTimeout = TimeSpan.FromSeconds(7) });
        lease.Begin();
        for (int jump = 1; jump <= 4; jump++)
        {
            _bus.Pass(5 * Durations.Second);
            lease.Doubt(5 * Durations.Second);
            Assert.Equal(jump <= 2 ? 0 : (jump - 2) * 5 * Durations.Second, _node.Now - lease.Contact);
        }
        lease.Take(Grant(lease.AskNow(Self)));
        _bus.Pass(5 * Durations.Second);
        lease.Doubt(5 * Durations.Second);
        Assert.Equal(_node.Now, lease.Contact);
    }

    [Fact]
    public void A_process_that_was_excluded_gets_no_lease_any_more()
    {
        var ask = _lease.AskNow(Self);
        _lease.Take(Grant(ask));
        _lease.End();
        Assert.Equal((0L, true), (_lease.Until, _lease.InDoubt));
        Assert.False(_lease.Take(Grant(_lease.AskNow(Self))));
        Assert.Equal(0, _lease.Until);
    }

    private static LeaseGrant Grant(LeaseAsk ask) => new(ask.Sent, Configuration.Empty, 0, null);
}
