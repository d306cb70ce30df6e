using Ida.Scenarios;

namespace Ida.Campaign;

/// <summary>A rule that a campaign can leave out.</summary>
/// <param name="Rule">Its name.</param>
/// <param name="Likely">The scenario most likely to notice.</param>
/// <param name="Anomaly">The text that a failure contains if the missing rule caused it. A failure without it may come from a run that broke down before it was judged.</param>
internal sealed record Control(string Rule, Scenario Likely, string Anomaly)
{
    /// <summary>The line of a failure that contains the anomaly; null if none does.</summary>
    public string? LineOf(string failure) => Array.Find(failure.Split('\n'), line => line.Contains(Anomaly, StringComparison.Ordinal))?.Trim();
}
