using GroupCore.Basics;

namespace GroupCore.Runtime;

/// <summary>
/// A caller whose command waits for room. Each caller has its own task, completed outside of the loop: if several continuations shared one task, the runtime
/// would hand all but one to the thread pool, and under simulation nothing may go there.
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

    /// <summary>The command that waits.</summary>
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

    /// <summary>Ends the wait with <paramref name="reason"/>: the command is not taken.</summary>
    public void End(Exception reason)
    {
        Reason = reason;
        Run();
    }

    public void Run()
    {
        // Not Dispose: that would wait for a callback of the token that is running now, and the callback only finds that it is too late.
        _cancellation.Unregister();
        if (Reason is null)
        {
            SetResult();
            return;
        }
        SetException(ISharedError.ForCall(Reason));
        // Marks the exception as observed: nobody is obliged to await the task.
        _ = Task.Exception;
    }

    private void Cancel(CancellationToken token)
    {
        if (_line.RemoveWaiter(this)) SetCanceled(token);
    }
}
