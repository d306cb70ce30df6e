namespace GroupCore.Runtime;

/// <summary>Has callers that wait for the node.</summary>
internal interface IStopListener
{
    /// <summary>
    /// No turn will come any more: end every call that waits with <paramref name="reason"/>, by <see cref="INode.Complete"/>. After a
    /// fault (<see cref="NodeFaultedException"/>) the protocols may be in any state: run none of them, and let what one part throws keep no
    /// other from being answered.
    /// </summary>
    void OnStop(Exception reason);
}
