using Ida.Scenarios;

namespace Ida.Campaign;

/// <summary>A rule that a campaign can leave out.</summary>
/// <param name="Rule">Its name.</param>
/// <param name="Likely">The scenario most likely to notice.</param>
/// <param name="Anomaly">What a failure says that the lack of the rule brings about: another may have come from a run that broke down before it was judged.</param>
internal sealed record Control(string Rule, Scenario Likely, string Anomaly)
{
    /// <summary>The line of a failure that says so; null where none does.</summary>
    public string? LineOf(string failure) => Array.Find(failure.Split('\n'), line => line.Contains(Anomaly, StringComparison.Ordinal))?.Trim();
}
