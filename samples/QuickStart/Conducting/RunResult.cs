namespace QuickStart.Conducting;

/// <summary>What the run showed.</summary>
internal sealed class RunResult
{
    public List<Check> Checks { get; } = [];

    public List<(string Name, string Value)> Figures { get; } = [];

    public bool Passed => Checks.Count > 0 && Checks.TrueForAll(c => c.Passed);
}
