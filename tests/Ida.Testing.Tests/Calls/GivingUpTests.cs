using Ida.Testing.Calls;

namespace Ida.Testing.Tests.Calls;

/// <summary>
/// During a view change calls wait instead of failing. The ledger finds a call that gave up before its time was over, and a call that goes on although its token was
/// cancelled.
/// </summary>
public sealed class GivingUpTests : ICaller
{
    private static readonly TimeSpan s_second = TimeSpan.FromSeconds(1), s_timeout = TimeSpan.FromSeconds(20);
    private readonly TaskCompletionSource _call = new();
    private readonly CallLedger _ledger;
    private TimeSpan _now, _held;
    private bool _isOver;

    public GivingUpTests() => _ledger = new(() => _now - _held, passes: () => _now);

    CallerLife ICaller.Life => CallerLife.GoesOn;

    TimeSpan ICaller.Clock => _now - _held;

    [Theory]
    [InlineData(nameof(CallKind.Put), 0)]
    [InlineData(nameof(CallKind.Put), 1)]
    [InlineData(nameof(CallKind.Put), 2)]
    [InlineData(nameof(CallKind.Get), 1)]
    [InlineData(nameof(CallKind.Get), 2)]
    [InlineData(nameof(CallKind.Retry), 0)]
    public void A_call_that_gives_up_before_its_time_is_named(string kind, int error)
    {
        Begin(kind);
        EndAt(TimeSpan.FromMilliseconds(5), Error(error));
        Assert.Null(_ledger.Wrong);
        Pass(CallLedger.Slack + TimeSpan.FromMilliseconds(1));
        Assert.Contains("gave up after 0.005 s, and had 20 s", _ledger.Wrong, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(2)]
    public void A_call_that_gives_up_when_its_time_is_over_is_right(int error)
    {
        Begin(CallKind.Put);
        EndAt(s_timeout * 0.97, Error(error));
        Pass(CallLedger.Slack + s_second);
        _ledger.Finish();
        Assert.Null(_ledger.Wrong);
    }

    [Fact]
    public void A_call_that_gave_up_a_moment_before_the_end_is_named()
    {
        Begin(CallKind.Put);
        EndAt(s_second, Error(0));
        _ledger.Finish();
        Assert.Contains("gave up after 1 s", _ledger.Wrong, StringComparison.Ordinal);
    }

    [Fact]
    public void A_call_without_an_end_of_its_time_never_gives_up()
    {
        Begin(CallKind.Get, Timeout.InfiniteTimeSpan);
        EndAt(TimeSpan.FromHours(1), Error(2));
        _ledger.Finish();
        Assert.Contains("gave up", _ledger.Wrong, StringComparison.Ordinal);
    }

    [Fact]
    public void A_call_whose_member_is_over_may_end_at_once()
    {
        Begin(CallKind.Put);
        EndAt(s_second, Error(0));
        Pass(s_second);
        _isOver = true;
        Pass(s_second);
        _ledger.Finish();
        Assert.Null(_ledger.Wrong);
    }

    [Fact]
    public void What_a_process_was_held_up_is_time_of_its_calls()
    {
        Begin(CallKind.Put);
        _held = s_timeout;
        EndAt(s_timeout, Error(0));
        _ledger.Finish();
        Assert.Null(_ledger.Wrong);
    }

    [Fact]
    public void An_error_that_does_not_say_that_the_time_is_over_may_come_at_once()
    {
        foreach (var error in new Exception[] { new OutcomeForgottenException(default, "gone"), new OutcomeUnknownException(default, "no room", new OverloadedException(default, "no room")) })
        {
            var call = new TaskCompletionSource();
            _ledger.Begin(CallKind.Retry, "m0", () => call.Task, this, timeout: s_timeout);
            call.SetException(error);
        }
        _ledger.Finish();
        Assert.Null(_ledger.Wrong);
    }

    [Fact]
    public void A_call_that_gives_up_with_its_token_is_right()
    {
        using var source = new CancellationTokenSource();
        Begin(CallKind.Put, token: source.Token);
        source.Cancel();
        EndAt(TimeSpan.FromMilliseconds(1), Error(0));
        _ledger.Finish();
        Assert.Null(_ledger.Wrong);
    }

    [Theory]
    [InlineData(nameof(CallKind.Join), true)]
    [InlineData(nameof(CallKind.Get), true)]
    [InlineData(nameof(CallKind.Enable), true)]
    [InlineData(nameof(CallKind.Send), false)]
    public void A_call_that_goes_on_though_its_token_was_cancelled_is_named(string kind, bool named)
    {
        using var source = new CancellationTokenSource();
        Begin(kind, token: source.Token);
        source.Cancel();
        Pass(s_second);
        Pass(CallLedger.Slack);
        Assert.Null(_ledger.Wrong);
        Pass(TimeSpan.FromMilliseconds(1));
        Assert.Equal(named, _ledger.Wrong?.Contains("has not ended with its token", StringComparison.Ordinal) == true);
    }

    [Theory]
    [InlineData(nameof(CallKind.Start), true)]
    [InlineData(nameof(CallKind.Leave), true)]
    [InlineData(nameof(CallKind.Close), true)]
    [InlineData(nameof(CallKind.WhenInitialised), false)]
    public void A_call_that_ends_well_though_its_token_was_cancelled_before_is_named(string kind, bool named)
    {
        Begin(kind, token: new(canceled: true));
        _call.SetResult();
        _ledger.Finish();
        Assert.Equal(named, _ledger.Wrong?.Contains("ended well, though its token was cancelled before", StringComparison.Ordinal) == true);
    }

    private static Exception Error(int error) => error switch { 0 => new OutcomeUnknownException(default, "unknown"), 1 => new OperationNotExecutedException("not done"), _ => new ViewUnavailableException("no view") };

    private void Begin(string kind, TimeSpan? timeout = null, CancellationToken token = default) => Begin(Enum.Parse<CallKind>(kind), timeout, token);

    private void Begin(CallKind kind, TimeSpan? timeout = null, CancellationToken token = default) => _ledger.Begin(kind, "m0", () => _call.Task, this, bound: null, () => _isOver, timeout ?? s_timeout, token);

    private void EndAt(TimeSpan time, Exception error)
    {
        _now = time;
        _call.SetException(error);
        _ledger.Look();
    }

    private void Pass(TimeSpan time)
    {
        _now += time;
        _ledger.Look();
    }
}
