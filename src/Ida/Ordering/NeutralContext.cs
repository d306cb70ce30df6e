using System.Globalization;

namespace Ida.Ordering;

/// <summary>
/// Runs user code that has to do the same at all replicas: under the invariant culture, whatever the culture of the process or of the thread is, which may
/// be a caller's. Changes that the code makes to its context end with the call.
/// </summary>
internal static class NeutralContext
{
    /// <summary>Runs <paramref name="code"/>; its exceptions pass through.</summary>
    public static TResult Run<TState, TResult>(Func<TState, TResult> code, TState state) where TState : allows ref struct
    {
        var outer = ExecutionContext.Capture();
        var (culture, uiCulture) = (CultureInfo.CurrentCulture, CultureInfo.CurrentUICulture);
        // Each change of a context allocates.
        if (culture != CultureInfo.InvariantCulture) CultureInfo.CurrentCulture = CultureInfo.InvariantCulture;
        if (uiCulture != CultureInfo.InvariantCulture) CultureInfo.CurrentUICulture = CultureInfo.InvariantCulture;
        try
        {
            return code(state);
        }
        finally
        {
            // No context was captured where its flow is suppressed.
            if (outer is null) (CultureInfo.CurrentCulture, CultureInfo.CurrentUICulture) = (culture, uiCulture);
            else if (!ReferenceEquals(ExecutionContext.Capture(), outer)) ExecutionContext.Restore(outer);
        }
    }
}
