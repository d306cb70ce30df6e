namespace GroupCore.Runtime;

/// <summary>A part of the node that has waiting callers, and answers them when the node ends.</summary>
internal interface IStopListener
{
    /// <summary>
    /// No turn will come any more: end every call that waits with <paramref name="reason"/>, by <see cref="INode.Complete"/>. After a
    /// fault (<see cref="NodeFaultedException"/>) the protocols may be in any state: run none of them, and if one part throws while it
    /// answers, answer the others all the same.
    /// </summary>
    void OnStop(Exception reason);
}
