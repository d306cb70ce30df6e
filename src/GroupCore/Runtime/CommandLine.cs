namespace GroupCore.Runtime;

/// <summary>
/// The commands that found the queue full, in the order of their calls. As room comes they enter the queue; while one waits nobody enters it
/// otherwise, so what one caller posts runs in its order whether the caller awaits each call or not.
/// </summary>
/// <remarks>As long as the callers themselves: each entry is a caller's incomplete task, and its token takes it out.</remarks>
internal sealed class CommandLine(CommandQueue queue)
{
    private readonly Lock _lock = new();
    private readonly LinkedList<CommandWaiter> _waiters = new();
    private volatile int _count;
    private Exception? _stopped;

    /// <summary>How many commands wait.</summary>
    public int Count => _count;

    /// <summary>Queues a command if nobody waits and there is room. From any thread.</summary>
    public bool TryEnqueue(NodeCommand command) => _count == 0 && queue.TryEnqueue(command);

    /// <summary>The same for a caller that waits: null when the command is queued, else the wait for that. From any thread.</summary>
    public CommandWaiter? Enter(NodeCommand command, CancellationToken cancellationToken)
    {
        using (_lock.Hold())
        {
            if (_stopped is null && TryEnqueue(command)) return null;
            var waiter = new CommandWaiter(this, command);
            if (_stopped is { } reason) waiter.End(reason);
            else
            {
                _waiters.AddLast(waiter.Place);
                _count++;
                // Within the lock: whoever takes it out finds the registration. A token that fired already cancels it here and now.
                waiter.CancelBy(cancellationToken);
            }
            return waiter;
        }
    }

    /// <summary>Takes a waiter out that does not wait any more; false when its command is queued, or the node has stopped. From any thread.</summary>
    public bool Leave(CommandWaiter waiter)
    {
        using (_lock.Hold())
        {
            if (waiter.Place.List is null) return false;
            _waiters.Remove(waiter.Place);
            _count--;
            return true;
        }
    }

    /// <summary>Lets commands enter the queue as far as there is room; those that waited for it are added to <paramref name="entered"/>. On the loop.</summary>
    public void Advance(List<ICompletion> entered)
    {
        using (_lock.Hold())
        {
            while (_waiters.First is { } first && queue.TryEnqueue(first.Value.Command))
            {
                _waiters.RemoveFirst();
                entered.Add(first.Value);
                // Last: who sees an empty line finds in the queue what stood in it.
                _count--;
            }
        }
    }

    /// <summary>Ends it: nobody enters it any more, and who waits hears <paramref name="reason"/> by one of the waiters returned.</summary>
    public CommandWaiter[] Stop(Exception reason)
    {
        using (_lock.Hold())
        {
            _stopped = reason;
            CommandWaiter[] waiters = [.. _waiters];
            _waiters.Clear();
            _count = 0;
            foreach (var waiter in waiters) waiter.Reason = reason;
            return waiters;
        }
    }

    /// <summary>Takes the next queued command for its abandonment. From the loop that stops, and from callers that queued one while it stopped: one at a time.</summary>
    public bool TryAbandon([System.Diagnostics.CodeAnalysis.NotNullWhen(true)] out NodeCommand? command)
    {
        using (_lock.Hold()) return queue.TryDequeue(out command);
    }
}
