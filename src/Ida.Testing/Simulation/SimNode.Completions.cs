using GroupCore.Runtime;

namespace Ida.Testing;

/// <content>
/// Completions that do not run right after their turn: those of a batch begin in their order, some time later, while the node goes on, or as the turn's own time
/// is over, so that what they call finds the node asleep. Batches overlap. Of a life that crashed none is run any more.
/// </content>
public sealed partial class SimNode
{
    // Most begin at once, as where a thread of the pool is free.
    private const double Late = 0.25, AsTurnEnds = 0.25;
    private long _delay;

    internal bool TryDelay(ICompletion completion)
    {
        long most = Simulation.Nanoseconds(Simulation.Options.MaxCompletionDelay);
        if (most > _delay && _borrowing.Chance(Late)) _delay += _borrowing.UpTo(most - _delay);
        if (_busyUntil > Simulation.Time + _delay && Simulation.Options.BorrowedTurns > 0 && _borrowing.Chance(AsTurnEnds)) _delay = _busyUntil - Simulation.Time;
        if (_crashed || (_delay == 0 && !_borrowed)) return false;
        RunLater(completion, _delay);
        return true;
    }

    /// <summary>What is told on a thread of its own: no turn waits for it, and it may come late.</summary>
    internal void Resume(ICompletion work)
    {
        long most = Simulation.Nanoseconds(Simulation.Options.MaxCompletionDelay);
        if (!_crashed && most > 0 && _borrowing.Chance(Late)) RunLater(work, _borrowing.UpTo(most));
        else Simulation.Resume(work);
    }

    private void RunLater(ICompletion completion, long delay)
    {
        if (delay > 0) Simulation.Threads.LateCompletions++;
        Simulation.Events.Add(Simulation.Time + delay, SimEventKind.Continuation, (Action)(() =>
        {
            if (!_crashed) completion.Run();
        }));
    }

    /// <summary>The next batch does not wait for this one.</summary>
    internal void EndDelays() => _delay = 0;
}
