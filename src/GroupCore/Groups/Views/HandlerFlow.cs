namespace GroupCore.Groups.Views;

/// <summary>
/// An object that flows with the code of a handler. Synchronous handlers share one, which counts only on the thread that runs the handler. An awaited
/// handler has its own, since it may continue on any thread, and it ends with the handler.
/// </summary>
internal sealed class HandlerFlow(Upcalls owner, bool awaited)
{
    private volatile bool _ended;

    public Upcalls Owner => owner;

    public bool IsAwaited => awaited;

    public bool HasEnded => _ended;

    public void End() => _ended = true;
}
