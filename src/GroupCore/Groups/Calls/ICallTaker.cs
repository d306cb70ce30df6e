using GroupCore.Runtime;

namespace GroupCore.Groups.Calls;

/// <summary>The membership in which a call is made.</summary>
internal interface ICallTaker
{
    INode Node { get; }

    /// <summary>Takes a caller's message; on the loop.</summary>
    void Take(SendOperation call);

    /// <summary>From any thread: the token of some call fired.</summary>
    void PostCancelled();
}
