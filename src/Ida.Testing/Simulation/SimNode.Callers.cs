using System.Runtime.CompilerServices;
using System.Runtime.ExceptionServices;
using GroupCore.Runtime;

namespace Ida.Testing;

/// <content>
/// Turns on callers' threads, as <c>NodeLoop.Callers</c> has them: a call from outside a turn may find the owner of the loop asleep, and runs its command before it returns. In
/// such a turn no frames are read and no timers fire. What it sends leaves at once or, if the caller is one of many, in the next turn of the node. If it leaves nothing to do,
/// no turn follows.
/// </content>
public sealed partial class SimNode
{
    private Choices _borrowing;
    private Exception? _callersFault;
    private bool _borrowed;

    /// <summary>Whether the caller's command was run here. If it was to be <paramref name="kept"/> and is done, it was completed too.</summary>
    internal bool TryBorrow(NodeCommand command, bool kept)
    {
        if (!Lends(command.AtOnce)) return false;
        var own = kept ? command as ICompletion : null;
        if (!TryRunCallersTurn(own, out bool done)) return false;
        if (done && Alive) own!.Run();
        return true;
    }

    private bool TryRunCallersTurn(ICompletion? own, out bool done)
    {
        done = false;
        if (!_node.LendsTurns || !_borrowing.Chance(Simulation.Options.BorrowedTurns) || !RuntimeHelpers.TryEnsureSufficientExecutionStack()) return false;
        bool rouses = false;
        (_inTurn, _borrowed) = (true, true);
        try
        {
            _node.Advance(LocalTime);
            TakeTime(_node.RunCommands());
            if (_node.LendsTurns) _node.EndTurn();
            else _unended = true;
            rouses = _unended || Carrier.HasWork;
            if (_borrowing.Chance(0.5)) Carrier.Flush(_busyUntil);
            done = own is not null && _node.TryKeep(own);
            _node.Release();
        }
        catch (Exception error)
        {
            // The node's own next turn ends the node with this error.
            (_callersFault, rouses) = (error, true);
        }
        finally
        {
            (_inTurn, _borrowed) = (false, false);
        }
        Simulation.Trace.Add(Id);
        Simulation.Threads.BorrowedTurns++;
        if (_crashing) Die(_crashAnswers);
        else Rest(rouses);
        RunBeside();
        return true;
    }

    // Arrivals and timers leave the owner asleep for a while, so a caller may run its command with frames unread and timers overdue. A command that may need no message is run
    // even if somebody has roused the owner.
    private bool Lends(bool atOnce) => Alive && !_inTurn && !_midTurn && _callersFault is null && (atOnce || !_roused) && PausedUntil <= Simulation.Time && _busyUntil <= Simulation.Time;

    // As in production, no further turn is made for what a turn has left behind without saying so.
    private void Rest(bool roused)
    {
        if (roused || Carrier.HasWork || _node.HasCommands) Rouse();
        ScheduleTimer();
    }

    private void ThrowCallersFault()
    {
        if (_callersFault is not { } fault) return;
        // Thrown only once: it ends the run, or the node.
        _callersFault = null;
        ExceptionDispatchInfo.Throw(fault);
    }
}
