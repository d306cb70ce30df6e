using System.Diagnostics;

namespace GroupCore.Diagnostics;

/// <summary>A call as an activity, from its beginning to its end. If nobody listens to the source, nothing is made and nothing awaited.</summary>
internal static class Traced
{
    /// <summary>The tag with what became of a call: <c>ok</c>, or the name of its error.</summary>
    public const string Outcome = "ida.outcome";

    /// <summary>Makes a source. The runtime asks listeners, which are user code, about each new source. If one throws, the result is null, and nothing is traced.</summary>
    public static ActivitySource? Source(string name)
    {
        try
        {
            return new(name);
        }
        catch (Exception)
        {
            return null;
        }
    }

    /// <summary>Begins an activity; null if nobody wants it or a listener, which is user code, throws. The call then goes on below the activity that was current before.</summary>
    public static Activity? Start(ActivitySource? source, string operation, ActivityKind kind)
    {
        if (source is null) return null;
        var before = Activity.Current;
        try
        {
            return source.StartActivity(operation, kind);
        }
        catch (Exception)
        {
            Restore(before);
            return null;
        }
    }

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
            Close(activity);
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
            Close(activity);
        }
    }

    // What a listener throws does not change the outcome of the call.
    private static void Close(Activity? activity)
    {
        try
        {
            activity?.Dispose();
        }
        catch (Exception)
        {
            // There is nobody to tell.
        }
    }

    // Listeners to changes of the current activity are user code too.
    private static void Restore(Activity? before)
    {
        try
        {
            Activity.Current = before;
        }
        catch (Exception)
        {
            // The activity is set before listeners are called.
        }
    }

    private static void Fail(Activity? activity, Exception error)
    {
        activity?.SetTag(Outcome, error.GetType().Name);
        // Without the error's message: the error may be the user's, and then user code makes the message.
        activity?.SetStatus(ActivityStatusCode.Error);
    }
}
