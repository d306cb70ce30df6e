using GroupCore.Runtime;
using Ida.Testing;

namespace Ida.Scenarios;

/// <summary>
/// What a loaded machine does to processes that live: each is held up now and then, all of them at times, none for longer than <see cref="Longest"/> in one
/// go. Pauses with almost nothing between them count as one.
/// </summary>
internal sealed class Stalls(Simulation simulation, Prng random)
{
    private static readonly TimeSpan Between = TimeSpan.FromMilliseconds(10);
    private readonly Dictionary<SimNode, (TimeSpan Since, TimeSpan Until)> _pauses = [];

    /// <summary>No process is held up for longer than this at a time.</summary>
    public static TimeSpan Longest { get; } = TimeSpan.FromMilliseconds(499);

    /// <summary>Whether a process has run freely for a moment.</summary>
    public bool IsFree(SimNode node) => !_pauses.TryGetValue(node, out var pause) || simulation.Now > pause.Until + (2 * Between);

    /// <summary>Holds a process up for this time, or for as long as it may be held up.</summary>
    public void Stall(SimNode node, TimeSpan time)
    {
        var now = simulation.Now;
        bool goesOn = _pauses.TryGetValue(node, out var last) && now <= last.Until + Between;
        var since = goesOn ? last.Since : now;
        // A freeze within a turn begins with the next turn, which its timers bring within 6 ms.
        bool inTurn = !goesOn && random.Chance(0.3);
        var left = Longest - (now - since) - (inTurn ? Between : TimeSpan.Zero);
        if (time > left) time = left;
        if (time <= TimeSpan.Zero) return;
        if (inTurn) node.PauseInTurn(time);
        else node.Pause(time);
        var until = now + time + (inTurn ? Between : TimeSpan.Zero);
        _pauses[node] = (since, goesOn && last.Until > until ? last.Until : until);
    }
}
