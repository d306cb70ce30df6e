using Ida.Interleavings.Scheduling;

namespace Ida.Interleavings.Seams;

/// <summary>What schedules reach of the things that their scenarios have to reach: the weaver knows the places of Reached.txt, and scenarios name others.</summary>
internal static partial class Reached
{
    /// <summary>The places of the code that a scenario has to reach.</summary>
    public static IEnumerable<string> Of(string scenario) => Places.Where(place => place.Scenarios.Split(',').Contains(scenario)).Select(static place => place.Name);

    /// <summary>This schedule has reached it.</summary>
    public static void At(string name, bool counts = true)
    {
        if (counts && Lane.Current is { } lane) lane.Schedule.Reached.Add(name);
    }

    /// <param name="Name">The name by which it is reported.</param>
    /// <param name="Scenarios">The scenarios that have to reach it, with commas between them.</param>
    internal sealed record Place(string Name, string Scenarios);
}
