namespace Ida.Scenarios;

/// <summary>How many of the seeds of a scenario lost what the guarantees need.</summary>
internal static class LostShare
{
    // Of some ten scenarios of some campaigns a day, one is wrongly named in centuries.
    private const double ByChance = 1e-6;

    /// <summary>Whether so many are more than a share allows: were that the true share, so many or more would be lost with a probability of less than 10⁻⁶.</summary>
    /// <param name="lost">Seeds that lost it, from 0 to <paramref name="seeds"/>.</param>
    /// <param name="seeds">All seeds, 1 or more.</param>
    /// <param name="most">The share, from 0 to 1; null: any.</param>
    public static bool IsTooLarge(long lost, long seeds, double? most) =>
        most is { } share && lost > seeds * share && (share <= 0 || 1 - BinomialTail.AtMost(lost - 1, seeds, share) < ByChance);
}
