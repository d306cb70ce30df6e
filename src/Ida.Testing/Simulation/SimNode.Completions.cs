using GroupCore.Runtime;

namespace Ida.Testing;

/// <content>
/// Completions that do not run right after their turn: those of a batch begin in their order, some time later, while the node goes on. Batches overlap. Of a life
/// that crashed none is run any more.
/// </content>
public sealed partial class SimNode
{
    // Most begin at once, as where a thread of the pool is free.
    private const double Late = 0.25;
    private long _delay;

    internal bool TryDelay(ICompletion completion)
    {
        long most = Simulation.Nanoseconds(Simulation.Options.MaxCompletionDelay);
        if (most > 0 && _borrowing.Chance(Late)) _delay += _borrowing.UpTo(most - _delay);
        if (_crashed || (_delay == 0 && !_borrowed)) return false;
        Simulation.Events.Add(Simulation.Time + _delay, SimEventKind.Continuation, (Action)(() =>
        {
            if (!_crashed) completion.Run();
        }));
        return true;
    }

    /// <summary>The next batch does not wait for this one.</summary>
    internal void EndDelays() => _delay = 0;
}
