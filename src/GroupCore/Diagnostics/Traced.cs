using System.Diagnostics;

namespace GroupCore.Diagnostics;

/// <summary>A call as an activity, from its beginning to its end. Only if somebody listens to the source: else nothing is made and nothing is waited for.</summary>
internal static class Traced
{
    /// <summary>The tag with what became of a call: <c>ok</c>, or the name of its error.</summary>
    public const string Outcome = "ida.outcome";

    /// <summary>Makes a source. Listeners, which are user code, are asked about each new one: null if one of them throws, and then nothing is traced by it.</summary>
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

    /// <summary>Begins an activity; null if nobody wants it, or a listener, which is user code, throws: a call goes on without it, below the activity that there was before.</summary>
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

    // What a listener throws changes nothing of what became of the call.
    private static void Close(Activity? activity)
    {
        try
        {
            activity?.Dispose();
        }
        catch (Exception)
        {
            // Nobody is there to tell.
        }
    }

    // Whoever listens to the change of the current activity is user code too.
    private static void Restore(Activity? before)
    {
        try
        {
            Activity.Current = before;
        }
        catch (Exception)
        {
            // It is set first.
        }
    }

    private static void Fail(Activity? activity, Exception error)
    {
        activity?.SetTag(Outcome, error.GetType().Name);
        // Without its message: it may be the user's, and code of the user makes that.
        activity?.SetStatus(ActivityStatusCode.Error);
    }
}
