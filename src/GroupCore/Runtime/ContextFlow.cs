namespace GroupCore.Runtime;

/// <summary>Work that goes on for as long as what began it lives belongs to no request: what one holds in its context would live as long.</summary>
internal static class ContextFlow
{
    /// <summary>Until the result is disposed of nothing that this thread begins gets its context.</summary>
    public static AsyncFlowControl? Stop() => ExecutionContext.IsFlowSuppressed() ? null : ExecutionContext.SuppressFlow();
}
