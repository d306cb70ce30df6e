using System.Runtime.CompilerServices;

namespace GroupCore.Runtime;

/// <content>
/// Turns on callers' threads. A caller that finds the leader (the pilot in names) asleep runs its command itself and sends the frames it makes: no thread has
/// to be woken first. A command that may be done without a message (a read of what this member holds) is run so whenever the leader is in no turn, and its
/// caller has the result when the call returns.
/// </content>
internal sealed partial class NodeLoop
{
    private volatile Exception? _callersFault;
    private volatile bool _unsent;

    /// <inheritdoc/>
    public void Posted(NodeCommand command, bool kept)
    {
        // Order matters: queue the command, then look at the gate. Whoever opens the gate looks at the queue afterwards.
        Interlocked.MemoryBarrier();
        if (RuntimeHelpers.TryEnsureSufficientExecutionStack() && TryBorrow(command.AtOnce, out var from)) RunFor(kept ? command as ICompletion : null, from);
        else Rouse();
    }

    private bool Lends => _node.LendsTurns && _callersFault is null;

    private bool TryBorrow(bool atOnce, out PilotState from)
    {
        from = default;
        if (!Lends || !_gate.TryBorrow(atOnce, out from)) return false;
        // Look again: this may have changed before the gate was taken.
        if (Lends) return true;
        _gate.Return(from);
        Rouse();
        return false;
    }

    // Reads no sockets and fires no timers: the leader waits for those. Frames leave at once only if the leader sleeps and the caller is no
    // completion. Otherwise they leave with other frames: the leader sends them, or the runner of the batch that the completion is part of.
    private void RunFor(ICompletion? own, PilotState from)
    {
        bool done = false, sends = false;
        Exception? fault = null;
        try
        {
            _node.Advance(HostClock.Now());
            _node.RunCommands();
            // If a command made a group with inline handlers, the leader ends the turn: such handlers run in its turns.
            if (_node.LendsTurns) _node.EndTurn();
            else _unended = true;
            sends = _mesh.HasWork;
            if (sends && from == PilotState.Asleep && !CompletionBatch.IsRunning(_batches)) Flush();
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
    /// Returns the gate once, whatever happened: by a second return another thread may have it. Wakes a sleeping leader if there is anything that it would have
    /// stayed awake for. After a <paramref name="fault"/> the leader ends the node, as if the fault had happened in its own turn.
    /// </summary>
    private void GiveBack(PilotState from, bool rouse, Exception? fault)
    {
        if (fault is not null)
        {
            _callersFault = fault;
            _gate.Return(from);
            Rouse();
            return;
        }
        if (from != PilotState.Asleep)
        {
            _gate.Return(from);
            return;
        }
        rouse |= _mesh.HasWork || _mesh.HasNews || NextTimer < _sleepUntil;
        _gate.Return(rouse ? PilotState.Looking : PilotState.Asleep);
        if (rouse) _mesh.Wake();
        else if (_node.HasCommands || Volatile.Read(ref _wakeAsked) != 0) Rouse();
    }

    /// <summary>A runner on the pool has run its completions: sends what turns in them left unsent.</summary>
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
        if (_gate.TryRouse()) _mesh.Wake();
    }
}
