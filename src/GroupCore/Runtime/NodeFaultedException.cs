using GroupCore.Basics;

namespace GroupCore.Runtime;

/// <summary>
/// The node has ended by a fault: its protocols, or user code that they called, threw inside a turn, and their state cannot be trusted any
/// more. <see cref="Exception.InnerException"/> is what was thrown. To other nodes this one has crashed; the process may start a new node.
/// </summary>
public sealed class NodeFaultedException(Exception fault)
    : NodeStoppedException($"The node was ended by a fault: {UserError.Text(fault)}", fault)
{
    private protected override Exception Copy() => new NodeFaultedException(InnerException!);
}
