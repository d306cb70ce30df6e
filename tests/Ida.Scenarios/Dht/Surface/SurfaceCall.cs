using Ida.Testing.Calls;

namespace Ida.Scenarios;

/// <summary>One call of the DHT's surface that has begun, and when it must have ended.</summary>
internal sealed class SurfaceCall(CallKind kind, string what, HarnessMember member, Task task, long begun, TimeSpan bound)
{
    // How much later than its bound a call may end: by as much as the world's time jumps at once, and a tick.
    private static readonly TimeSpan s_slack = TimeSpan.FromSeconds(2);

    private readonly OpenEntry _entry = new(() => member.Clock, () => member.Clock, kind, what, member, null, default) { Bound = bound > TimeSpan.Zero && bound < TimeSpan.FromHours(1) ? bound : null };

    private TimeSpan? _cancelledAt;

    public CallKind Kind => kind;

    public string What => what;

    public HarnessMember Member => member;

    public Task Task => task;

    /// <summary>The options that it is made with, for the table of calls.</summary>
    public IReadOnlyList<string> Options { get; init; } = [];

    /// <summary>What cancels it; null when its token cannot be cancelled.</summary>
    public CancellationTokenSource? Source { get; init; }

    /// <summary>The number of deliveries after which it is cancelled.</summary>
    public long CancelAt { get; set; } = long.MaxValue;

    /// <summary>It is cancelled in the next view change.</summary>
    public bool CancelInView { get; init; }

    /// <summary>Called when it has ended; null: it must not fail in any way that is not documented.</summary>
    public Action<Task>? Ended { get; init; }

    /// <summary>Called when it has succeeded, if <see cref="Ended"/> is null.</summary>
    public Action? Succeeded { get; init; }

    /// <summary>Called when its member has crashed, so that it will never end.</summary>
    public Action? Lost { get; init; }

    /// <summary>Whether it waits for something that may never come, and is cancelled at the end.</summary>
    public bool Waits { get; init; }

    public bool Expires => _entry.Bound is not null;

    /// <summary>Whether it is past its bound, counted in time in which its member was able to answer.</summary>
    public bool IsLate => _entry.IsLate(_entry.Took, s_slack);

    /// <summary>Whether it goes on though its token was cancelled some time ago.</summary>
    public bool IsDeaf => CallErrors.EndsByToken(kind) && Source is { IsCancellationRequested: true } && _entry.Took - (_cancelledAt ??= _entry.Took) > s_slack;

    public override string ToString() => $"{kind} {what} at m{member.Index}, begun at {begun / 1_000_000} ms";
}
