namespace GroupCore.Groups.Dispatch;

/// <summary>
/// What flows with the code of a handler. That of a synchronous handler is one object for all, and counts only on the thread that runs the
/// handler; that of an awaited one is its own, since it may go on on any thread, and ends with it.
/// </summary>
internal sealed class HandlerFlow(Upcalls owner, bool awaited)
{
    private volatile bool _ended;

    public Upcalls Owner => owner;

    public bool IsAwaited => awaited;

    public bool HasEnded => _ended;

    public void End() => _ended = true;
}
