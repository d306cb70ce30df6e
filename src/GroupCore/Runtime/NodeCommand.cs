namespace GroupCore.Runtime;

/// <summary>A caller's request, queued from any thread and run inside a turn. Derived classes are pooled operations.</summary>
public abstract class NodeCommand
{
    /// <summary>Runs inside a turn of the node it was posted to.</summary>
    public abstract void Run();

    /// <summary>Called instead of <see cref="Run"/> when the node stops first; must complete the caller with <paramref name="reason"/>.</summary>
    public abstract void Abandon(Exception reason);
}
