namespace Ida.Interleavings.Tests;

/// <summary>What the README names and counts.</summary>
public sealed class ReadmeTests
{
    [Fact]
    public void The_readme_names_each_scenario_and_how_many_controls_there_are()
    {
        string readme = Sources.Text("tests/Ida.Interleavings/README.md");
        Assert.All(ScenarioTable.All, scenario => Assert.Contains($"`{scenario.Name}`", readme));
        Assert.Contains($"{ScenarioTable.All.Count} scenarios", readme);
        Assert.Contains($"The {Omitted.All.Length} controls", readme);
    }
}
