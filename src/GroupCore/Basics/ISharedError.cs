namespace GroupCore.Basics;

/// <summary>
/// An error by which one event ends many calls. Each call gets its own exception: throwing an object again adds frames to its stack trace, so one object that
/// 10,000 callers share would grow with each of them and cost time that grows with their square.
/// </summary>
internal interface ISharedError
{
    /// <summary>The same error, not thrown yet.</summary>
    Exception Copy();

    /// <summary>The exception for one of the calls that <paramref name="reason"/> ends. An error of another kind belongs to one call and is returned as it is.</summary>
    static Exception ForCall(Exception reason) => reason is ISharedError shared ? shared.Copy() : reason;
}
