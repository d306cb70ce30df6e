namespace GroupCore.Runtime;

/// <summary>
/// What users' code finds on the thread that runs it, and may leave changed: the context that flows, with the culture, whether it flows, and where awaits go on. None of it is the next one's.
/// </summary>
internal readonly struct Surroundings(ExecutionContext context)
{
    private readonly SynchronizationContext? _place = SynchronizationContext.Current;

    /// <summary>Those of this thread.</summary>
    public static Surroundings Take() => new(ExecutionContext.Capture() ?? throw new InvalidOperationException("A worker does not suppress the flow of its context."));

    /// <summary>Makes them again what they were.</summary>
    public void Restore()
    {
        if (!ReferenceEquals(ExecutionContext.Capture(), context)) ExecutionContext.Restore(context);
        if (!ReferenceEquals(SynchronizationContext.Current, _place)) SynchronizationContext.SetSynchronizationContext(_place);
    }
}
