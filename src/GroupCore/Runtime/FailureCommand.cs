using System.Runtime.ExceptionServices;

namespace GroupCore.Runtime;

/// <summary>Throws, inside a turn, what failed outside of all turns: so the node ends with it.</summary>
internal sealed class FailureCommand(Exception error) : NodeCommand
{
    public override void Run() => ExceptionDispatchInfo.Throw(error);

    /// <summary>The node ends already. Whoever abandons this may be a caller that has nothing to do with the error: the node has kept it itself.</summary>
    public override void Abandon(Exception reason)
    {
    }
}
