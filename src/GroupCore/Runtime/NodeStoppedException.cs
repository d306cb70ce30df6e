using GroupCore.Basics;

namespace GroupCore.Runtime;

/// <summary>The node has stopped or is being stopped: calls that wait end with it, and nothing more is accepted.</summary>
public class NodeStoppedException(string message, Exception? inner = null) : InvalidOperationException(message, inner), ISharedError
{
    Exception ISharedError.Copy() => Copy();

    private protected virtual Exception Copy() => new NodeStoppedException(Message, InnerException);
}
