namespace Ida.Interleavings.Tests;

/// <summary>A reader of a trace finds its points in the source.</summary>
public sealed class LinesTests
{
    private const ulong Seeds = 40;

    // If a control leaves out a passage of several lines, the weaver puts them into one.
    private static readonly HashSet<string> s_moved = [.. Sources.Lines("tests/Ida.Interleavings/Controls.txt").Where(static line => line.StartsWith("- ", StringComparison.Ordinal)).Select(static line => line[2..].Trim())];

    public static TheoryData<string> Scenarios => InterleavingsTests.Scenarios;

    [Theory, MemberData(nameof(Scenarios))]
    public void The_points_of_a_schedule_are_at_the_lines_of_the_source(string scenario)
    {
        var explorer = new Explorer(ScenarioTable.Find(scenario)!);
        var places = new HashSet<Place>();
        for (ulong seed = 1; seed <= Seeds; seed++) places.UnionWith(explorer.RunOne(seed).Trace.Select(static one => one.Place));
        int seen = 0;
        foreach (var place in places.Where(static place => place.What.Length > 0))
        {
            string file = Path.GetFileName(place.File);
            // A stand-in has the name of the real file.
            if (Sources.Has($"tests/Ida.Interleavings/Stand/{file}") || Sources.OfClass(file) is not { } lines) continue;
            string line = lines[place.Line - 1].Trim();
            if (s_moved.Contains(line)) continue;
            seen++;
            Assert.True(line.Contains(Said(place.What), StringComparison.Ordinal), $"{place}: {line}");
        }
        Assert.True(seen > 0);
    }

    // What the source says where the seam has another word.
    private static string Said(string what) => what switch
    {
        "lock" => "Hold()",
        "fence" => "MemoryBarrier",
        "spin" => "Spin",
        "yield" => "Yield",
        "set" => "Set",
        "event" => "WaitOne",
        _ => what,
    };
}
