using System.Diagnostics;

namespace GroupCore.Diagnostics;

/// <summary>A call as an activity, from its beginning to its end. Only if somebody listens to the source: else nothing is made and nothing is waited for.</summary>
internal static class Traced
{
    /// <summary>The tag with what became of a call: <c>ok</c>, or the name of its error.</summary>
    public const string Outcome = "ida.outcome";

    /// <summary>Ends the activity with the call.</summary>
    public static async ValueTask EndAsync(Activity? activity, ValueTask call)
    {
        try
        {
            await call.ConfigureAwait(false);
            activity?.SetTag(Outcome, "ok");
        }
        catch (Exception error)
        {
            Fail(activity, error);
            throw;
        }
        finally
        {
            activity?.Dispose();
        }
    }

    /// <summary>Ends the activity with the call.</summary>
    public static async ValueTask<TResult> EndAsync<TResult>(Activity? activity, ValueTask<TResult> call)
    {
        try
        {
            var result = await call.ConfigureAwait(false);
            activity?.SetTag(Outcome, "ok");
            return result;
        }
        catch (Exception error)
        {
            Fail(activity, error);
            throw;
        }
        finally
        {
            activity?.Dispose();
        }
    }

    private static void Fail(Activity? activity, Exception error)
    {
        activity?.SetTag(Outcome, error.GetType().Name);
        // Without its message: it may be the user's, and code of the user makes that.
        activity?.SetStatus(ActivityStatusCode.Error);
    }
}
