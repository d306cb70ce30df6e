namespace GroupCore.Runtime;

/// <summary>
/// The node has ended by a fault: its protocols, or user code that they called, threw inside a turn, and their state cannot be trusted any
/// more. <see cref="Exception.InnerException"/> is what was thrown. The process is as good as crashed for the others; a new node may be started.
/// </summary>
public sealed class NodeFaultedException(Exception fault)
    : NodeStoppedException($"The node ended by a fault: {UserError.Text(fault)}", fault)
{
    private protected override Exception Copy() => new NodeFaultedException(InnerException!);
}
