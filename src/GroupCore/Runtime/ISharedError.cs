namespace GroupCore.Runtime;

/// <summary>
/// An error with which one event ends many calls. Each call is given an exception of its own: whoever throws an object again adds its frames to that
/// object's stack trace, so one that 10,000 callers share would grow with each of them, and take time by their square.
/// </summary>
internal interface ISharedError
{
    /// <summary>The same error, not thrown yet.</summary>
    Exception Copy();

    /// <summary>What one of the calls is given that <paramref name="reason"/> ends; an error of another kind is that call's own already.</summary>
    static Exception ForCall(Exception reason) => reason is ISharedError shared ? shared.Copy() : reason;
}
