using GroupCore.Runtime;

namespace Ida.Testing;

/// <content>
/// Completions that do not run right after their turn. Those of a batch begin in their order: some time after the turn's own time is over, while the node goes on, or just as
/// it is over, so that their calls find the node asleep. Those of a caller's turn may also begin before its call returns, as on a thread beside it. Batches overlap. While a
/// process is frozen no completion begins, and after a crash none runs.
/// </content>
public sealed partial class SimNode
{
    // Most begin at once, as when a thread of the pool is free.
    private const double Late = 0.25, AsTurnEnds = 0.25, Beside = 0.25;
    private readonly Queue<ICompletion> _beside = new();
    private readonly Queue<(ICompletion Completion, bool Late)> _frozen = new();
    private long _delay;
    private bool _atEnd;

    internal bool TryDelay(ICompletion completion)
    {
        if (_crashed) return false;
        var options = Simulation.Options;
        long most = SimTime.Nanoseconds(options.MaxCompletionDelay);
        if (most > _delay && _borrowing.Chance(Late)) _delay += _borrowing.UpTo(most - _delay);
        _atEnd |= _delay > 0 || (_busyUntil > Simulation.Time && options.BorrowedTurns > 0 && _borrowing.Chance(AsTurnEnds));
        if (_atEnd) RunLater(completion, Math.Max(Simulation.Time, _busyUntil), _delay);
        else if (!_borrowed) return false;
        else if (_borrowing.Chance(Beside)) _beside.Enqueue(completion);
        else RunLater(completion, Simulation.Time, 0);
        return true;
    }

    /// <summary>Runs what production tells on a thread of its own: no turn waits for it, and it may come late.</summary>
    internal void Resume(ICompletion work)
    {
        long most = SimTime.Nanoseconds(Simulation.Options.MaxCompletionDelay);
        if (_crashed) Simulation.Resume(work);
        else RunLater(work, Simulation.Time, most > 0 && _borrowing.Chance(Late) ? _borrowing.UpTo(most) : 0);
    }

    /// <summary>The next batch does not wait for this one.</summary>
    internal void EndDelays() => (_delay, _atEnd) = (0, false);

    private void RunLater(ICompletion completion, long from, long delay) => Simulation.Events.Add(from + delay, SimEventKind.Continuation, (Action)(() =>
    {
        if (_crashed) return;
        if (FrozenUntil <= Simulation.Time && _frozen.Count == 0) Begin(completion, late: delay > 0);
        else Freeze(completion, late: Simulation.Time > from || delay > 0);
    }));

    private void Begin(ICompletion completion, bool late)
    {
        if (late) Simulation.Threads.LateCompletions++;
        completion.Run();
    }

    // One queue for all, so that they keep their order however often the freeze is extended.
    private void Freeze(ICompletion completion, bool late)
    {
        _frozen.Enqueue((completion, late));
        if (_frozen.Count == 1) Simulation.Events.Add(FrozenUntil, SimEventKind.Continuation, (Action)Thaw);
    }

    private void Thaw()
    {
        while (!_crashed && _frozen.TryPeek(out var first))
        {
            if (FrozenUntil > Simulation.Time)
            {
                Simulation.Events.Add(FrozenUntil, SimEventKind.Continuation, (Action)Thaw);
                return;
            }
            try
            {
                Begin(first.Completion, first.Late);
            }
            catch when (_frozen.Count > 1)
            {
                // Code that catches it may let the run go on.
                Simulation.Events.Add(Simulation.Time, SimEventKind.Continuation, (Action)Thaw);
                throw;
            }
            finally
            {
                // Removed last, so that what comes due meanwhile queues behind it.
                _frozen.Dequeue();
            }
        }
    }

    // As a thread of the pool runs them before the caller has returned: without the context that the caller's code has set.
    private void RunBeside()
    {
        if (_beside.Count == 0) return;
        var outer = SynchronizationContext.Current;
        SynchronizationContext.SetSynchronizationContext(null);
        try
        {
            while (_beside.TryDequeue(out var completion))
            {
                if (_crashed) continue;
                try
                {
                    completion.Run();
                }
                catch (Exception error)
                {
                    // It counts as run on another thread: the run fails with the error, and the caller does not hear of it.
                    Simulation.Fail(error);
                }
            }
        }
        finally
        {
            SynchronizationContext.SetSynchronizationContext(outer);
        }
    }
}
