namespace GroupCore.Groups.Dispatch;

/// <summary>Where events of a group go.</summary>
internal interface IEventTarget
{
    /// <summary>In which handlers run: it tells the group's own calls that they come from one. Asked for on the worker.</summary>
    ExecutionContext Context { get; }

    /// <summary>Handlers run on this thread from now on, until <see cref="Exit"/> is given what this returns.</summary>
    object? Enter();

    void Exit(object? outer);

    /// <summary>Handles one event, on the worker; must not throw. The call that waits for it is completed by who calls.</summary>
    ValueTask Handle(ref GroupEvent entry);

    /// <summary>Why the event that was handled last only counts as handled; null where its handler was called. On the worker.</summary>
    Exception? Skipped { get; }

    /// <summary>
    /// All events before <paramref name="events"/> are handled, and what their handlers posted has been run before; on the loop. Whether such a call is
    /// waited for by an event that was added.
    /// </summary>
    bool OnHandled(long events);

    /// <summary>An event is not going to be handled; on the loop. The call that waits for it is completed by who calls.</summary>
    void OnDropped(in GroupEvent entry);

    /// <summary>Handlers have come forward; on the loop.</summary>
    void OnProgress();
}
