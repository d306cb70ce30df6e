namespace GroupCore.Basics;

/// <summary>Long-lived work belongs to no request: if it captured the context of the request that began it, what that context holds would live as long as the work.</summary>
internal static class ContextFlow
{
    /// <summary>Until the result is disposed, nothing that this thread begins captures the thread's context; null when the flow is suppressed already.</summary>
    public static AsyncFlowControl? Stop() => ExecutionContext.IsFlowSuppressed() ? null : ExecutionContext.SuppressFlow();
}
