using System.Runtime.CompilerServices;
using GroupCore.Platform;
using GroupCore.Runtime;

namespace GroupCore.Hosting;

/// <content>
/// Turns on callers' threads. A caller that finds the owner of the loop asleep runs its command itself and sends the frames that the command makes: no thread
/// has to be woken first. A command that may need no message (a read of what this member holds) runs this way whenever the owner is in no turn, and its
/// caller has the result when the call returns.
/// </content>
internal sealed partial class NodeLoop
{
    private volatile Exception? _callersFault;
    private volatile bool _unsent;

    /// <inheritdoc/>
    public void Posted(NodeCommand command, bool kept)
    {
        // Order matters: queue the command, then look who has the loop. A thread that lets others take the loop looks at the queue afterwards.
        Interlocked.MemoryBarrier();
        if (RuntimeHelpers.TryEnsureSufficientExecutionStack() && TryBorrow(command.AtOnce, out var from)) RunFor(kept ? command as ICompletion : null, from);
        else Rouse();
    }

    private bool Lends => _node.LendsTurns && _callersFault is null;

    private bool TryBorrow(bool atOnce, out LoopState from)
    {
        from = default;
        if (!Lends || !_ownership.TryBorrow(atOnce, out from)) return false;
        // Look again: the answer may have changed before the loop was taken.
        if (Lends) return true;
        _ownership.Return(from);
        Rouse();
        return false;
    }

    // Reads no sockets and fires no timers: the owner waits for those. Frames leave at once only if the owner sleeps and the caller is not a
    // completion. Otherwise they leave with other frames: the owner sends them, or the runner of the batch to which the completion belongs.
    private void RunFor(ICompletion? own, LoopState from)
    {
        bool done = false, sends = false;
        Exception? fault = null;
        try
        {
            _node.Advance(HostClock.Now());
            _node.RunCommands();
            // If a command made a group with inline handlers, the owner ends the turn: such handlers run in its turns.
            if (_node.LendsTurns) _node.EndTurn();
            else _unended = true;
            sends = _mesh.HasWork;
            if (sends && from == LoopState.Asleep && !CompletionBatch.IsRunning(_batches)) Flush();
            done = own is not null && _node.TryKeep(own);
            _node.Release();
            _unsent = _mesh.HasWork;
        }
        catch (Exception error)
        {
            fault = error;
        }
        GiveBack(from, sends || _unended, fault);
        if (done) own!.Run();
    }

    /// <summary>
    /// Gives the loop back exactly once, whatever happened: at a second return another thread might already have the loop. Wakes a sleeping owner if there is
    /// anything for which it would have stayed awake. After a <paramref name="fault"/> the owner ends the node, as if its own turn had thrown.
    /// </summary>
    private void GiveBack(LoopState from, bool rouse, Exception? fault)
    {
        if (fault is not null)
        {
            _callersFault = fault;
            _ownership.Return(from);
            Rouse();
            return;
        }
        if (from != LoopState.Asleep)
        {
            _ownership.Return(from);
            return;
        }
        rouse |= _mesh.HasWork || _mesh.HasNews || NextTimer < _sleepUntil;
        _ownership.Return(rouse ? LoopState.Looking : LoopState.Asleep);
        if (rouse) _mesh.Wake();
        else if (_node.HasCommands || Volatile.Read(ref _wakeAsked) != 0) Rouse();
    }

    /// <summary>A runner on the pool has run its completions: sends what the turns that those completions ran left unsent.</summary>
    private void SendLeft()
    {
        if (!_unsent || !TryBorrow(atOnce: true, out var from)) return;
        Exception? fault = null;
        try
        {
            _node.Advance(HostClock.Now());
            Flush();
        }
        catch (Exception error)
        {
            fault = error;
        }
        GiveBack(from, false, fault);
    }

    private void Rouse()
    {
        if (_ownership.TryRouse()) _mesh.Wake();
    }
}
