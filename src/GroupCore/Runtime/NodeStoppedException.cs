namespace GroupCore.Runtime;

/// <summary>The node has stopped or is being stopped; nothing more is accepted. The inner exception is the fault that ended it, if one did.</summary>
public sealed class NodeStoppedException(string message, Exception? fault = null) : InvalidOperationException(message, fault);
