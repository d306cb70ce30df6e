using GroupCore.Basics;

namespace GroupCore.Runtime;

/// <summary>
/// An outcome for which many callers wait. Each caller goes on by its own completion, outside of the loop, so that a caller that blocks holds up no other. A shared
/// task would run the callers one after the other, or hand them to the thread pool, where nothing may go under simulation.
/// </summary>
internal sealed class SharedCompletion
{
    private readonly TaskCompletionSource _outcome = new();
    private readonly Lock _lock = new();
    private readonly LinkedList<Waiter> _waiting = new();
    private readonly Action<Exception?>? _told;
    private volatile INode? _node;
    private bool _isSet;

    /// <param name="told">Called with the outcome before any waiter; runs no user code.</param>
    public SharedCompletion(Action<Exception?>? told = null)
    {
        _told = told;
        // This is the first continuation of the task, so waiters go on even if somebody awaits the task itself and then blocks.
        // It does not capture the context of the code that runs now: what a request holds there would live as long as the group.
        using var flow = ContextFlow.Stop();
        _ = _outcome.Task.ContinueWith(
            static (_, shared) => ((SharedCompletion)shared!).Tell(), this, CancellationToken.None, TaskContinuationOptions.ExecuteSynchronously, TaskScheduler.Default);
    }

    /// <summary>The outcome itself. A continuation of this task runs on the thread that sets the outcome.</summary>
    public Task Task => _outcome.Task;

    /// <summary>Waits for the outcome with a task of the caller's own.</summary>
    public Task WaitAsync(CancellationToken cancellationToken = default)
    {
        if (Task.IsCompleted) return Task;
        if (cancellationToken.IsCancellationRequested) return Task.FromCanceled(cancellationToken);
        var waiter = new Waiter(this);
        bool isSet;
        using (_lock.Hold())
        {
            isSet = _isSet;
            if (!isSet)
            {
                _waiting.AddLast(waiter.Place);
                waiter.CancelBy(cancellationToken);
            }
        }
        return isSet ? Task : waiter.Task;
    }

    /// <summary>
    /// Sets the outcome, once, outside of the loop: <paramref name="error"/>, or success. Must be the last step of a completion, since a continuation of
    /// <see cref="Task"/> may block.
    /// </summary>
    public void TrySet(INode node, Exception? error)
    {
        _node = node;
        if (error is null) _outcome.TrySetResult();
        // Marks the exception as observed: nobody is obliged to await the task.
        else if (_outcome.TrySetException(ISharedError.ForCall(error))) _ = Task.Exception;
    }

    private void Tell()
    {
        Waiter[] waiting;
        using (_lock.Hold())
        {
            _isSet = true;
            waiting = [.. _waiting];
            _waiting.Clear();
        }
        _told?.Invoke(Task.Exception?.InnerException);
        foreach (var one in waiting) _node!.Resume(one);
    }

    private bool RemoveWaiter(Waiter waiter)
    {
        using (_lock.Hold())
        {
            if (waiter.Place.List is null) return false;
            _waiting.Remove(waiter.Place);
            return true;
        }
    }

    private sealed class Waiter : TaskCompletionSource, ICompletion
    {
        private readonly SharedCompletion _shared;
        private CancellationTokenRegistration _cancellation;

        public Waiter(SharedCompletion shared)
        {
            _shared = shared;
            Place = new(this);
        }

        /// <summary>Where it stands in the line.</summary>
        public LinkedListNode<Waiter> Place { get; }

        public void CancelBy(CancellationToken token)
        {
            if (token.CanBeCanceled) _cancellation = token.UnsafeRegister(static (waiter, fired) => ((Waiter)waiter!).Cancel(fired), this);
        }

        public void Run()
        {
            // Not Dispose: that would wait for a callback of the token that is running now, and the callback only finds that it is too late.
            _cancellation.Unregister();
            if (_shared.Task.Exception?.InnerException is not { } error)
            {
                SetResult();
                return;
            }
            SetException(ISharedError.ForCall(error));
            _ = Task.Exception;
        }

        private void Cancel(CancellationToken token)
        {
            if (_shared.RemoveWaiter(this)) SetCanceled(token);
        }
    }
}
