namespace GroupCore.Runtime;

/// <summary>
/// A caller whose command waits for room. A task of its own per caller, completed outside of the loop: a task that several await hands all
/// but one to the pool, and under simulation nothing may leave for the pool.
/// </summary>
internal sealed class CommandWaiter : TaskCompletionSource, ICompletion
{
    private readonly CommandLine _line;
    private CancellationTokenRegistration _cancellation;

    public CommandWaiter(CommandLine line, NodeCommand command)
    {
        (_line, Command) = (line, command);
        Place = new(this);
    }

    /// <summary>What waits.</summary>
    public NodeCommand Command { get; }

    /// <summary>Where it stands in the line.</summary>
    public LinkedListNode<CommandWaiter> Place { get; }

    /// <summary>Why the command was not taken; null when it was.</summary>
    public Exception? Reason { get; set; }

    /// <summary>Lets the token take the command out of the line as long as it stands there.</summary>
    public void CancelBy(CancellationToken token)
    {
        if (token.CanBeCanceled) _cancellation = token.UnsafeRegister(static (waiter, fired) => ((CommandWaiter)waiter!).Cancel(fired), this);
    }

    /// <summary>The command will not be taken.</summary>
    public void End(Exception reason)
    {
        Reason = reason;
        Run();
    }

    public void Run()
    {
        // Not Dispose: that waits for a token that fires just now, and finds that it comes too late.
        _cancellation.Unregister();
        if (Reason is null)
        {
            SetResult();
            return;
        }
        SetException(ISharedError.ForCall(Reason));
        // Nobody is obliged to look at it.
        _ = Task.Exception;
    }

    private void Cancel(CancellationToken token)
    {
        if (_line.Leave(this)) SetCanceled(token);
    }
}
