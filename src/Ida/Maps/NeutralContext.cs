using System.Globalization;

namespace Ida.Maps;

/// <summary>
/// Runs user code that has to do the same at all replicas: under the invariant culture, whatever the culture of the process or of the thread (which may
/// be a caller's). Changes that the code makes to its context end with the call.
/// </summary>
internal static class NeutralContext
{
    // A cache per thread, since each change of a context allocates: the last neutral context and the context it was made from. A caller's context may hold much, so neither is kept alive.
    [ThreadStatic]
    private static WeakReference<ExecutionContext>? _outer, _neutral;

    /// <summary>Runs <paramref name="code"/>; its exceptions pass through.</summary>
    public static TResult Run<TState, TResult>(Func<TState, TResult> code, TState state) where TState : allows ref struct
    {
        var outer = ExecutionContext.Capture();
        var (culture, uiCulture) = (CultureInfo.CurrentCulture, CultureInfo.CurrentUICulture);
        if (culture != CultureInfo.InvariantCulture || uiCulture != CultureInfo.InvariantCulture) Enter(outer);
        try
        {
            return code(state);
        }
        finally
        {
            // Nothing was captured if the flow of the context is suppressed.
            if (outer is null) (CultureInfo.CurrentCulture, CultureInfo.CurrentUICulture) = (culture, uiCulture);
            else if (!ReferenceEquals(ExecutionContext.Capture(), outer)) ExecutionContext.Restore(outer);
        }
    }

    private static void Enter(ExecutionContext? outer)
    {
        if (outer is not null && _outer?.TryGetTarget(out var last) == true && ReferenceEquals(last, outer) && _neutral!.TryGetTarget(out var neutral))
        {
            ExecutionContext.Restore(neutral);
            return;
        }
        (CultureInfo.CurrentCulture, CultureInfo.CurrentUICulture) = (CultureInfo.InvariantCulture, CultureInfo.InvariantCulture);
        if (outer is null) return;
        var made = ExecutionContext.Capture()!;
        if (_outer is null) (_outer, _neutral) = (new(outer), new(made));
        _outer.SetTarget(outer);
        _neutral!.SetTarget(made);
    }
}
