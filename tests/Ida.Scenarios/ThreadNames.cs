using GroupCore.Runtime;
using Ida.Testing;

namespace Ida.Scenarios;

/// <summary>What the threads of processes do in a schedule of whole nodes: callers that run turns themselves, and completions that come late and side by side.</summary>
internal static class ThreadNames
{
    public const string Borrowed = "turns of callers", Late = "late completions";

    /// <summary>What such a scenario has beside its own ingredients.</summary>
    public static IReadOnlyList<string> Declared { get; } = [Borrowed, Late];

    /// <summary>Whether handlers may be behind their process.</summary>
    public static bool Lag(SimulationOptions options) => options.BorrowedTurns > 0 || options.MaxCompletionDelay > TimeSpan.Zero;

    /// <summary>The simulation of a run; each of the two comes in two of five seeds.</summary>
    public static Simulation Start(ScenarioRun run, SimulationOptions? options = null)
    {
        var shape = new Prng(run.Case.Seed * 0x9FB2_1C65_1E98_DF25);
        options ??= new();
        if (shape.Chance(0.4)) options = options with { BorrowedTurns = shape.Chance(0.5) ? 1 : 0.3 };
        // 1 µs to 16 ms.
        if (shape.Chance(0.4)) options = options with { MaxCompletionDelay = TimeSpan.FromMicroseconds(1 << (int)shape.Next(15)) };
        // Another runner of a batch may overtake one that has taken its completion but not begun it.
        if (shape.Chance(0.25)) options = options with { ShuffleCompletions = true };
        return run.Start(options);
    }

    /// <summary>What threads did in it, and not what they might have done.</summary>
    public static void Note(ThreadTally tally, Ingredients drawn)
    {
        if (tally.BorrowedTurns > 0 && drawn.Allows(Borrowed)) drawn.Draw(Borrowed);
        if (tally.LateCompletions > 0 && drawn.Allows(Late)) drawn.Draw(Late);
    }
}
