using System.Globalization;

namespace Ida.Testing.Calls;

/// <summary>A call of a ledger, from its beginning until it is judged.</summary>
/// <param name="now">The ledger's time.</param>
/// <param name="passes">The time that passes, also for a process that is held up.</param>
/// <param name="kind">What was called.</param>
/// <param name="who">The caller, for a report.</param>
/// <param name="caller">The life in which it began; null: one that goes on as long as the run.</param>
/// <param name="mayBeOver">Whether the part of its member may be over, so that the call may end with an error that says so. Null: only if the caller's life is over; if there
/// is no caller either, always.</param>
/// <param name="token">Its token.</param>
internal sealed class OpenEntry(Func<TimeSpan> now, Func<TimeSpan> passes, CallKind kind, string who, ICaller? caller, Func<bool>? mayBeOver, CancellationToken token)
{
    private readonly TimeSpan _begun = now(), _clock = caller?.Clock ?? now(), _passed = passes();
    private CallEnd? _end;
    private readonly bool _cancelledBefore = token.IsCancellationRequested;
    private TimeSpan? _overSince, _cancelledAt;

    public CallKind Kind => kind;

    public ICaller? Caller => caller;

    /// <summary>How long it may take; null: as long as the run.</summary>
    public TimeSpan? Bound { get; init; }

    /// <summary>The time that its caller gave it, for which it waits before it gives up; null: none that is judged.</summary>
    public TimeSpan? Timeout { get; init; }

    public Task Task { get; private set; } = Task.CompletedTask;

    /// <summary>How it ended; null while it is open.</summary>
    public CallEnd? End => !Task.IsCompleted ? null : _end ?? Stamp();

    /// <summary>Whether its end was counted.</summary>
    public bool IsCounted { get; set; }

    public CallerLife Life => caller?.Life ?? CallerLife.GoesOn;

    /// <summary>Whether it may end with an error that says that its part is over: its life is, or its part in what it called.</summary>
    public bool MayBeOver => caller is null && mayBeOver is null || Life != CallerLife.GoesOn || mayBeOver?.Invoke() == true;

    /// <summary>How long it has taken so far.</summary>
    public TimeSpan Took => (caller?.Clock ?? now()) - _clock;

    /// <summary>For how long its life has been over, counted from the look that found it so.</summary>
    public TimeSpan OverFor() => now() - (_overSince ??= now());

    public bool IsLate(TimeSpan took, TimeSpan slack) => Bound is { } bound && took > bound + slack;

    /// <summary>Whether its token was cancelled before it was made, so that it must end for that reason, whatever it was to do.</summary>
    public bool WasNever => _cancelledBefore;

    /// <summary>How long its token has been cancelled, counted from the look that found it so.</summary>
    public TimeSpan CancelledFor() => token.IsCancellationRequested ? Took - (_cancelledAt ??= Took) : TimeSpan.Zero;

    /// <summary>Takes the task of the call, and notes at the very end of it what holds then.</summary>
    public void Watch(Task task, Action ended)
    {
        Task = task;
        _ = task.ContinueWith(_ =>
        {
            Stamp();
            ended();
        }, CancellationToken.None, TaskContinuationOptions.ExecuteSynchronously, TaskScheduler.Default);
    }

    // The first stamp counts: that of the call's own end, or of a look before the end is reported.
    private CallEnd Stamp() => Interlocked.CompareExchange(ref _end, new(now(), Took, passes() - _passed, Life, token.IsCancellationRequested), null) ?? _end!;

    public override string ToString() => string.Create(CultureInfo.InvariantCulture, $"{kind} of {who}, begun at {_begun.TotalMilliseconds:0.###} ms,");
}
