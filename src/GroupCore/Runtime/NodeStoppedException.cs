namespace GroupCore.Runtime;

/// <summary>The node has stopped or is being stopped; nothing more is accepted.</summary>
public sealed class NodeStoppedException(string message) : InvalidOperationException(message);
