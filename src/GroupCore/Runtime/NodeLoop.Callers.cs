using System.Runtime.CompilerServices;

namespace GroupCore.Runtime;

/// <content>
/// Turns on callers' threads. A caller that finds the pilot asleep runs its command itself and sends what comes of it: nobody has to be
/// woken first. A command that may be done without a message (a read of what this member holds) is run so whenever the pilot is in no turn, and its caller has
/// the result when the call returns.
/// </content>
internal sealed partial class NodeLoop
{
    private volatile Exception? _callersFault;
    private volatile bool _unsent;

    /// <inheritdoc/>
    public void Posted(NodeCommand command, bool kept)
    {
        // Order matters: the queued command, then the look at the gate; who opens the gate looks at the queue after it.
        Interlocked.MemoryBarrier();
        if (RuntimeHelpers.TryEnsureSufficientExecutionStack() && TryBorrow(command.AtOnce, out var from)) RunFor(kept ? command as ICompletion : null, from);
        else Rouse();
    }

    private bool Lends => _node.LendsTurns && _callersFault is null;

    private bool TryBorrow(bool atOnce, out PilotState from)
    {
        from = default;
        if (!Lends || !_gate.TryBorrow(atOnce, out from)) return false;
        // What was so before the node was had need not be so now.
        if (Lends) return true;
        _gate.Return(from);
        Rouse();
        return false;
    }

    // No sockets are read and no timers fire, which the pilot waits for. What it sends leaves at once only if the pilot sleeps: else the
    // pilot, or the end of the batch that the caller is part of, sends it with what else comes.
    private void RunFor(ICompletion? own, PilotState from)
    {
        bool done = false, sends = false;
        Exception? fault = null;
        try
        {
            _node.Advance(HostClock.Now());
            _node.RunCommands();
            // A group with inline handlers came into being: they run in the pilot's turn.
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
    /// Once, whatever happened: what is given back twice may be somebody else's by then. A pilot who sleeps is roused if there is anything that it would have stayed
    /// awake for; a <paramref name="fault"/> lets it end the node, as if it had happened there.
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

    /// <summary>A runner of completions on the pool is through with them: what their callers left to be sent goes now.</summary>
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
