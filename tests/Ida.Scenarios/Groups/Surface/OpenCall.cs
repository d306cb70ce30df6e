using Ida.Testing;
using Ida.Testing.Calls;

namespace Ida.Scenarios;

/// <summary>A call that has begun at a process, in one of its lives.</summary>
internal sealed class OpenCall(CallKind kind, string what, GroupPlace place, Task task, TimeSpan begun)
{
    private readonly CallTiming _timing;

    public CallKind Kind => kind;

    public GroupPlace Place => place;

    public SimNode Life { get; } = place.Member.Host;

    public Task Task => task;

    public TimeSpan Begun => begun;

    /// <summary>How long it may take; null if that depends on others, so that only the end of the schedule bounds it.</summary>
    public TimeSpan? Bound { get; set; }

    /// <summary>What cancels it; null when its token cannot be cancelled.</summary>
    public CancellationTokenSource? Source { get; init; }

    public TimeSpan CancelAt { get; set; } = TimeSpan.MaxValue;

    /// <summary>It is cancelled as soon as some member changes its view.</summary>
    public bool CancelInView { get; set; }

    /// <summary>What cancels it, and when.</summary>
    public CallTiming Timing
    {
        get => _timing;
        init
        {
            _timing = value;
            (Source, CancelInView) = (value.Source, value.InView);
            if (value.Source is not null && value.After != TimeSpan.MaxValue) CancelAt = begun + value.After;
        }
    }

    /// <summary>Whether its token ends it however far it is: so it is for a call that waits for others, but not for a message that may be on its way.</summary>
    public bool EndsByToken { get; init; }

    /// <summary>Whether it goes on as long as its group: a reader of views.</summary>
    public bool GoesOn { get; init; }

    /// <summary>Called when its token fires: from then on its message may be sent or not.</summary>
    public Action? Cancelled { get; init; }

    /// <summary>When the life that it was begun in ended other than by a crash, so that it must be told.</summary>
    public TimeSpan? LifeEndedAt { get; set; }

    /// <summary>Judges how it ended: null if that is allowed.</summary>
    public required Func<Task, string?> Judge { get; init; }

    public override string ToString() => $"{kind} {what} at {Life.Name}, begun at {begun.TotalMilliseconds:0.###} ms";
}
