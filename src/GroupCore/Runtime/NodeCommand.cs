namespace GroupCore.Runtime;

/// <summary>A caller's request, queued from any thread and run inside a turn. Derived classes are pooled operations.</summary>
public abstract class NodeCommand
{
    /// <summary>Whether it gains by running on the caller's thread even while the loop is awake: it may be done without a message.</summary>
    internal virtual bool AtOnce => false;

    /// <summary>Runs inside a turn of the node it was posted to.</summary>
    public abstract void Run();

    /// <summary>Called instead of <see cref="Run"/> when the node stops first; must complete the caller with <paramref name="reason"/>.</summary>
    public abstract void Abandon(Exception reason);
}
