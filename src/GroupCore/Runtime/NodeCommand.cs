namespace GroupCore.Runtime;

/// <summary>A caller's request, queued from any thread and run inside a turn. Derived classes are pooled operations.</summary>
internal abstract class NodeCommand
{
    /// <summary>Whether to run the command on the caller's thread even while the loop is awake, since it may need no message to complete.</summary>
    internal virtual bool AtOnce => false;

    /// <summary>
    /// Whether the object belongs to its caller until the caller has taken the result, so that it may be completed within the call that posts it.
    /// Asked before the command is queued: an object that is not kept may serve another call once it has run.
    /// </summary>
    internal virtual bool IsKept => false;

    /// <summary>Runs inside a turn of the node it was posted to.</summary>
    public abstract void Run();

    /// <summary>Called instead of <see cref="Run"/> when the node stops first; must complete the caller with <paramref name="reason"/>.</summary>
    public abstract void Abandon(Exception reason);
}
