namespace QuickStart.Conducting;

/// <summary>Checks and figures of a run.</summary>
internal sealed class RunResult
{
    public List<Check> Checks { get; } = [];

    public List<(string Name, string Value)> Figures { get; } = [];

    public bool Passed => Checks.Count > 0 && Checks.TrueForAll(c => c.Passed);
}
