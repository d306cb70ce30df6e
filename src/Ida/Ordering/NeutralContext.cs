using System.Globalization;

namespace Ida.Ordering;

/// <summary>
/// Runs user code that has to do the same at all replicas: under the invariant culture, whatever that of the process or of the thread is, which may be
/// a caller's. What it makes of its context ends with it.
/// </summary>
internal static class NeutralContext
{
    /// <summary>Runs <paramref name="code"/>; what it throws comes through.</summary>
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
            // There is none where its flow is suppressed.
            if (outer is null) (CultureInfo.CurrentCulture, CultureInfo.CurrentUICulture) = (culture, uiCulture);
            else if (!ReferenceEquals(ExecutionContext.Capture(), outer)) ExecutionContext.Restore(outer);
        }
    }
}
