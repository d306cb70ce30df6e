namespace Ida.Scenarios;

/// <summary>Judges how many of the seeds of a scenario lost what the guarantees need.</summary>
internal static class LostShare
{
    // With some ten scenarios and some campaigns a day, one is reported wrongly in centuries.
    private const double ByChance = 1e-6;

    /// <summary>Whether this many are more than a share allows: if it were the true share, this many or more would lose it with a probability of less than 10⁻⁶.</summary>
    /// <param name="lost">Seeds that lost it, from 0 to <paramref name="seeds"/>.</param>
    /// <param name="seeds">All seeds, 1 or more.</param>
    /// <param name="most">The share, from 0 to 1; null: any.</param>
    public static bool IsTooLarge(long lost, long seeds, double? most) =>
        most is { } share && lost > seeds * share && (share <= 0 || 1 - BinomialTail.AtMost(lost - 1, seeds, share) < ByChance);
}
