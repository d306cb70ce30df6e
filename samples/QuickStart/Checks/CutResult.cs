using QuickStart.Data;

namespace QuickStart.Checks;

/// <summary>What a read of a <see cref="Cut"/> found; absent keys are left out.</summary>
/// <param name="Rows">Rows by name.</param>
/// <param name="Lists">Names of zones by country.</param>
/// <param name="Counters">Numbers of zones by continent.</param>
internal sealed record CutResult(Dictionary<string, Zone> Rows, Dictionary<string, string[]> Lists, Dictionary<string, int> Counters);
