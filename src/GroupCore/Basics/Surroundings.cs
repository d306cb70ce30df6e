namespace GroupCore.Basics;

/// <summary>
/// State of a thread that user code may leave changed: the execution context (with the culture), whether it flows, and the synchronization context, on which
/// awaits resume. No such change may reach the next completion.
/// </summary>
internal readonly struct Surroundings(ExecutionContext context)
{
    private readonly SynchronizationContext? _place = SynchronizationContext.Current;

    /// <summary>The state of this thread.</summary>
    public static Surroundings Take() => new(ExecutionContext.Capture() ?? throw new InvalidOperationException("A thread that runs completions must not suppress the flow of its execution context."));

    /// <summary>Restores that state on this thread.</summary>
    public void Restore()
    {
        if (!ReferenceEquals(ExecutionContext.Capture(), context)) ExecutionContext.Restore(context);
        if (!ReferenceEquals(SynchronizationContext.Current, _place)) SynchronizationContext.SetSynchronizationContext(_place);
    }
}
