namespace GroupCore.Groups.Dispatch;

/// <summary>Where events of a group go.</summary>
internal interface IEventTarget
{
    /// <summary>The context in which handlers run; it tells the group's own calls that a handler makes them. Asked for on the worker.</summary>
    ExecutionContext Context { get; }

    /// <summary>Handlers run on this thread from now on, until <see cref="Exit"/> is given what this returns.</summary>
    object? Enter();

    void Exit(object? outer);

    /// <summary>Handles one event, on the worker; must not throw. The caller of this method completes the call that waits for the event.</summary>
    ValueTask Handle(ref GroupEvent entry);

    /// <summary>Why the last event only counts as handled though no handler was called; null if one was called. On the worker.</summary>
    Exception? Skipped { get; }

    /// <summary>
    /// All events before <paramref name="events"/> are handled, and what their handlers posted has been run; on the loop. Returns whether an event that was added
    /// waits for another such call.
    /// </summary>
    bool OnHandled(long events);

    /// <summary>An event is not going to be handled; on the loop. The caller of this method completes the call that waits for the event.</summary>
    void OnDropped(in GroupEvent entry);

    /// <summary>Handlers have made progress; on the loop.</summary>
    void OnProgress();
}
