using System.Runtime.ExceptionServices;

namespace GroupCore.Runtime;

/// <summary>Throws, inside a turn, an error that occurred outside of all turns: so the node ends with it.</summary>
internal sealed class FailureCommand(Exception error) : NodeCommand
{
    public override void Run() => ExceptionDispatchInfo.Throw(error);

    /// <summary>Does nothing: the node ends already and has kept the error itself. The thread here may belong to a caller that has nothing to do with the error.</summary>
    public override void Abandon(Exception reason)
    {
    }
}
