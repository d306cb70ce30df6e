using Ida.Interleavings.Scheduling;

namespace Ida.Interleavings.Seams;

/// <summary>What schedules come to of what their scenarios are for: the weaver knows the places of Reached.txt, and scenarios name others.</summary>
internal static partial class Reached
{
    /// <summary>The places of the code that a scenario has to come to.</summary>
    public static IEnumerable<string> Of(string scenario) => Places.Where(place => place.Scenarios.Split(',').Contains(scenario)).Select(static place => place.Name);

    /// <summary>This schedule has come to it.</summary>
    public static void At(string name, bool counts = true)
    {
        if (counts && Lane.Current is { } lane) lane.Schedule.Reached.Add(name);
    }

    /// <param name="Name">What is said of it.</param>
    /// <param name="Scenarios">Those that have to come to it, with commas between them.</param>
    internal sealed record Place(string Name, string Scenarios);
}
