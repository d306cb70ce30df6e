using GroupCore.Basics;

namespace GroupCore.Runtime;

/// <summary>
/// The commands that found the queue full, in the order of their calls. They enter the queue as it gets room. While one waits, no command enters the queue
/// directly, so the commands of one caller run in the order of its calls, whether it awaits each call or not.
/// </summary>
/// <remarks>The line has no bound of its own: each entry is the incomplete task of one caller, and that caller's token removes it.</remarks>
internal sealed class CommandLine(CommandQueue queue)
{
    private readonly Lock _lock = new();
    private readonly LinkedList<CommandWaiter> _waiters = new();
    private volatile int _count;
    private Exception? _stopped;

    /// <summary>How many commands wait.</summary>
    public int Count => _count;

    /// <summary>Queues a command if no other one waits and there is room. From any thread.</summary>
    public bool TryEnqueue(NodeCommand command) => _count == 0 && queue.TryEnqueue(command);

    /// <summary>Queues the command and returns null, or returns the waiter that completes when the command is queued. From any thread.</summary>
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
                // Within the lock, so that the code that removes the waiter finds the registration. A token that has fired already cancels the waiter inside this call.
                waiter.CancelBy(cancellationToken);
            }
            return waiter;
        }
    }

    /// <summary>Removes a waiter whose token fired; false when its command is queued already, or the node has stopped. From any thread.</summary>
    public bool RemoveWaiter(CommandWaiter waiter)
    {
        using (_lock.Hold())
        {
            if (waiter.Place.List is null) return false;
            _waiters.Remove(waiter.Place);
            _count--;
            return true;
        }
    }

    /// <summary>Moves waiting commands into the queue while it has room, and adds their waiters to <paramref name="entered"/>. On the loop.</summary>
    public void Advance(List<ICompletion> entered)
    {
        using (_lock.Hold())
        {
            while (_waiters.First is { } first && queue.TryEnqueue(first.Value.Command))
            {
                _waiters.RemoveFirst();
                entered.Add(first.Value);
                // Decrement last: a caller that sees no waiting command posts directly, and must not overtake this one.
                _count--;
            }
        }
    }

    /// <summary>Closes the line: later commands are refused with <paramref name="reason"/>, and the returned waiters end the waiting callers with it.</summary>
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

    /// <summary>
    /// Takes the next queued command, to abandon it. Called by the loop that stops and by callers that queue a command meanwhile; the lock admits one at a time.
    /// </summary>
    public bool TryAbandon([System.Diagnostics.CodeAnalysis.NotNullWhen(true)] out NodeCommand? command)
    {
        using (_lock.Hold()) return queue.TryDequeue(out command);
    }
}
