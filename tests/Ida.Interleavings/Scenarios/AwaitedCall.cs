using Ida.Interleavings.Scheduling;

namespace Ida.Interleavings.Scenarios;

/// <summary>Awaits one call.</summary>
internal sealed class AwaitedCall
{
    /// <param name="schedule">Fails if the call ends in another way.</param>
    /// <param name="call">The call.</param>
    /// <param name="may">Whether the call may end with an error just now.</param>
    public AwaitedCall(Schedule schedule, ValueTask call, Func<Exception, bool> may)
    {
        var awaiter = call.GetAwaiter();
        awaiter.UnsafeOnCompleted(() =>
        {
            if (++Ends > 1) schedule.Fail("A call ended twice");
            try
            {
                awaiter.GetResult();
            }
            catch (Exception error)
            {
                Check.That(schedule, may(error), $"A call ended with {error}");
            }
        });
    }

    public int Ends { get; private set; }
}
