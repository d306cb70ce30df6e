using GroupCore.Runtime;
using Ida.Testing;

namespace Ida.Scenarios;

/// <summary>Nodes with room for 64 to 256 KiB that is not acknowledged, by all links together, so that a DHT's state and values wait for it.</summary>
internal static class SmallRoom
{
    public const string Name = GroupNames.SmallBudget;

    /// <summary>The simulation's options of a run; in one of five seeds the room is small.</summary>
    public static SimulationOptions Draw(ScenarioRun run)
    {
        var shape = new Prng(run.Case.Seed * 0xD6E8_FEB8_6659_FD93);
        if (!shape.Chance(0.2)) return new();
        run.Ingredients.Draw(Name);
        return new() { MostQueuedBytes = 64 << (10 + (int)shape.Next(3)) };
    }
}
