namespace GroupCore.Groups.Dispatch;

/// <summary>Where events of a group go.</summary>
internal interface IEventTarget
{
    /// <summary>A batch begins, on the worker.</summary>
    void BeginBatch();

    /// <summary>Handles one event, on the worker; must not throw.</summary>
    ValueTask Handle(ref GroupEvent entry);

    /// <summary>All events before this number are handled; on the loop.</summary>
    void OnHandled(long events);
}
