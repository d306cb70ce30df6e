using GroupCore.Groups;
using GroupCore.Runtime;
using Ida.Testing.Calls;

namespace Ida.Testing.Tests.Calls;

/// <summary>The ledger of calls finds everything that a call must not do, and nothing else.</summary>
public sealed class CallLedgerTests : ICaller
{
    private static readonly TimeSpan s_second = TimeSpan.FromSeconds(1);
    private readonly TaskCompletionSource _call = new();
    private readonly CallLedger _ledger;
    private TimeSpan _now;
    private TimeSpan _held;
    private CallerLife _life;
    private bool _isOver;

    public CallLedgerTests() => _ledger = new(() => _now);

    CallerLife ICaller.Life => _life;

    TimeSpan ICaller.Clock => _now - _held;

    [Fact]
    public void A_call_that_ends_well_is_right()
    {
        Begin();
        _call.SetResult();
        _ledger.Finish();
        Assert.Null(_ledger.Wrong);
        Assert.Equal(0, _ledger.Open);
    }

    [Fact]
    public void A_call_that_is_open_in_the_end_is_named()
    {
        Begin();
        Assert.Equal(1, _ledger.Open);
        _ledger.Finish();
        Assert.Contains("Send of m0, begun at 0 ms, is still open at the end", _ledger.Wrong, StringComparison.Ordinal);
    }

    [Fact]
    public void A_call_past_its_bound_is_named()
    {
        Begin(bound: s_second);
        Pass(s_second + CallLedger.Slack);
        Assert.Null(_ledger.Wrong);
        Pass(TimeSpan.FromMilliseconds(1));
        Assert.Contains("is open after 2.501 s, and had 1 s", _ledger.Wrong, StringComparison.Ordinal);
    }

    [Fact]
    public void A_ledger_of_real_processes_has_a_slack_of_its_own()
    {
        var ledger = new CallLedger(() => _now, slack: 5 * s_second);
        ledger.Begin(CallKind.Send, "m0", () => _call.Task, bound: s_second);
        _now = 6 * s_second;
        ledger.Look();
        Assert.Null(ledger.Wrong);
        _now += TimeSpan.FromMilliseconds(1);
        ledger.Look();
        Assert.Contains("is open after 6.001 s, and had 1 s", ledger.Wrong, StringComparison.Ordinal);
    }

    [Fact]
    public void A_call_whose_node_has_ended_ends_soon()
    {
        Begin();
        _life = CallerLife.Over;
        Pass(s_second);
        Pass(CallLedger.Slack);
        Assert.Null(_ledger.Wrong);
        Pass(TimeSpan.FromMilliseconds(1));
        Assert.Contains("has not ended with its node", _ledger.Wrong, StringComparison.Ordinal);
    }

    [Fact]
    public void A_call_whose_caller_crashed_need_not_end()
    {
        Begin(bound: s_second);
        _life = CallerLife.Lost;
        Pass(TimeSpan.FromHours(1));
        _ledger.Finish();
        Assert.Null(_ledger.Wrong);
    }

    [Fact]
    public void An_error_that_the_guide_does_not_promise_is_named()
    {
        Begin();
        _call.SetException(new TimeoutException("never said"));
        _ledger.Look();
        Assert.Contains("never said", _ledger.Wrong, StringComparison.Ordinal);
    }

    [Fact]
    public void An_error_that_the_call_throws_is_judged_and_thrown_on()
    {
        static Task Call() => throw new FormatException("at once");
        Assert.IsType<FormatException>(Record.Exception(() => { _ledger.Begin(CallKind.Send, "m0", Call); }));
        Assert.Contains("at once", _ledger.Wrong, StringComparison.Ordinal);
    }

    [Fact]
    public void A_call_is_cancelled_only_where_its_token_was()
    {
        using var source = new CancellationTokenSource();
        Begin(token: source.Token);
        _call.SetCanceled(CancellationToken.None);
        _ledger.Look();
        Assert.Contains(nameof(TaskCanceledException), _ledger.Wrong, StringComparison.Ordinal);
    }

    [Fact]
    public void A_call_that_its_token_ends_is_right()
    {
        using var source = new CancellationTokenSource();
        Begin(token: source.Token);
        source.Cancel();
        _call.SetCanceled(source.Token);
        _ledger.Look();
        Assert.Null(_ledger.Wrong);
    }

    [Fact]
    public void The_table_counts_what_calls_met()
    {
        Begin();
        _ledger.Meet("fault: Crash");
        _call.SetException(new NodeStoppedException("over"));
        _ledger.Meet("fault: Pause");
        var table = new CallTable();
        _ledger.AddTo(table);
        Assert.Equal((1, 1, 1, 0), (table[CallKind.Send, "begun"], table[CallKind.Send, "ended: NodeStoppedException"], table[CallKind.Send, "fault: Crash"], table[CallKind.Send, "fault: Pause"]));
        Assert.Contains((CallKind.Join, null), table.Empty());
        Assert.DoesNotContain((CallKind.Send, nameof(NodeStoppedException)), table.Empty());
        Assert.Contains((CallKind.Send, nameof(ExcludedException)), table.Empty());
        var text = new StringWriter();
        table.Print(text);
        Assert.Contains("ended    NodeStoppedException 1", text.ToString(), StringComparison.Ordinal);
    }

    /// <summary>A kind whose calls have no options at all has no such empty cell.</summary>
    [Fact]
    public void An_option_that_only_calls_of_other_kinds_had_is_an_empty_cell_of_a_kind_that_has_some()
    {
        var table = new CallTable();
        foreach (var kind in (CallKind[])[CallKind.Put, CallKind.Update, CallKind.Status]) table.Begin(kind);
        table.Add(CallKind.Put, CallTable.OptionOf("token"));
        table.Add(CallKind.Put, CallTable.OptionOf("timeout"));
        table.Add(CallKind.Update, CallTable.OptionOf("token"));
        var options = table.Empty().Where(static cell => cell.Cell?.StartsWith("option", StringComparison.Ordinal) == true);
        Assert.Equal([(CallKind.Update, "option: timeout")], options);
    }

    [Fact]
    public void A_call_that_ended_late_is_named_though_nobody_looked_before()
    {
        Begin(bound: s_second);
        _now += s_second + CallLedger.Slack + TimeSpan.FromMilliseconds(1);
        _call.SetResult();
        Assert.Contains("ended after 2.501 s, and had 1 s", _ledger.Wrong, StringComparison.Ordinal);
    }

    [Fact]
    public void A_call_that_ended_in_time_is_right_whenever_it_is_looked_at()
    {
        Begin(bound: s_second);
        _call.SetResult();
        Pass(TimeSpan.FromHours(1));
        Assert.Null(_ledger.Wrong);
    }

    [Fact]
    public void What_a_caller_was_held_up_is_not_time_of_its_calls()
    {
        Begin(bound: s_second);
        _held = TimeSpan.FromMinutes(1);
        Pass(_held + s_second + CallLedger.Slack);
        Assert.Null(_ledger.Wrong);
        Pass(TimeSpan.FromMilliseconds(1));
        Assert.Contains("is open after 2.501 s", _ledger.Wrong, StringComparison.Ordinal);
    }

    [Fact]
    public void A_call_without_a_bound_has_that_of_the_ledger()
    {
        var ledger = new CallLedger(() => _now, s_second);
        ledger.Begin(CallKind.Send, "m0", () => _call.Task, this);
        _now += s_second + CallLedger.Slack + TimeSpan.FromMilliseconds(1);
        ledger.Look();
        Assert.Contains("and had 1 s", ledger.Wrong, StringComparison.Ordinal);
    }

    [Fact]
    public void What_ended_before_a_crash_is_judged_after_it()
    {
        Begin();
        _call.SetException(new TimeoutException("before the crash"));
        _life = CallerLife.Lost;
        Assert.Contains("before the crash", _ledger.Wrong, StringComparison.Ordinal);
    }

    [Fact]
    public void What_ends_after_a_crash_is_not_judged()
    {
        Begin();
        _life = CallerLife.Lost;
        _call.SetException(new TimeoutException("after the crash"));
        _ledger.Finish();
        Assert.Null(_ledger.Wrong);
    }

    [Fact]
    public void Only_calls_of_ended_nodes_must_have_ended_where_nothing_can_be_decided()
    {
        Begin();
        _ledger.Finish(onlyOver: true);
        Assert.Null(_ledger.Wrong);
        Begin();
        _life = CallerLife.Over;
        _ledger.Finish(onlyOver: true);
        Assert.Contains("is still open at the end", _ledger.Wrong, StringComparison.Ordinal);
    }

    [Fact]
    public void A_member_that_goes_on_is_not_told_that_it_is_over()
    {
        Begin();
        _call.SetException(new NodeStoppedException("not at all"));
        Pass(CallLedger.Slack);
        Assert.Null(_ledger.Wrong);
        Pass(TimeSpan.FromMilliseconds(1));
        Assert.Contains("its part is over, and it goes on", _ledger.Wrong, StringComparison.Ordinal);
    }

    [Fact]
    public void The_end_of_a_member_may_be_told_a_little_before_it_comes()
    {
        Begin();
        _call.SetException(new NodeStoppedException("soon"));
        Pass(CallLedger.Slack);
        _isOver = true;
        Pass(s_second);
        _ledger.Finish();
        Assert.Null(_ledger.Wrong);
    }

    [Fact]
    public void A_member_that_was_told_that_it_is_over_and_goes_on_is_named_at_the_end_at_the_latest()
    {
        Begin();
        _call.SetException(new NodeStoppedException("not at all"));
        _ledger.Finish();
        Assert.Contains("its part is over, and it goes on", _ledger.Wrong, StringComparison.Ordinal);
    }

    [Fact]
    public void A_token_that_is_cancelled_after_the_end_has_not_ended_the_call()
    {
        using var source = new CancellationTokenSource();
        Begin(token: source.Token);
        _call.SetCanceled(CancellationToken.None);
        source.Cancel();
        Assert.Contains(nameof(TaskCanceledException), _ledger.Wrong, StringComparison.Ordinal);
    }

    private void Begin(TimeSpan? bound = null, CancellationToken token = default) => _ledger.Begin(CallKind.Send, "m0", () => _call.Task, this, bound, () => _isOver, token: token);

    private void Pass(TimeSpan time)
    {
        _now += time;
        _ledger.Look();
    }
}
