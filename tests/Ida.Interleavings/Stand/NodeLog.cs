namespace GroupCore.Diagnostics;

/// <summary>Stands in for the log of a node: nobody listens.</summary>
internal sealed class NodeLog
{
    public static NodeLog None { get; } = new();
}
