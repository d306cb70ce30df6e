namespace Ida.Scenarios;

/// <summary>How likely a count is that is as low as one that was seen.</summary>
internal static class BinomialTail
{
    /// <summary>The probability that of so many independent trials, each of which hits with <paramref name="share"/>, at most <paramref name="hits"/> hit.</summary>
    /// <param name="hits">From 0 to <paramref name="trials"/>.</param>
    /// <param name="trials">1 or more.</param>
    /// <param name="share">Above 0 and below 1.</param>
    public static double AtMost(long hits, long trials, double share)
    {
        // Above the mean the other end is the smaller one.
        if (hits >= trials * share) return hits >= trials ? 1 : 1 - AtMost(trials - hits - 1, trials, 1 - share);
        double odds = share / (1 - share), log = trials * double.LogP1(-share);
        for (long i = 0; i < hits; i++) log += Math.Log((trials - i) / (i + 1.0) * odds);
        // Below the mean the terms fall towards 0 hits, so none is above this one.
        double sum = 0, term = 1;
        for (long i = hits; term > 1e-18 * sum; i--)
        {
            sum += term;
            if (i == 0) break;
            term *= i / (trials - i + 1.0) / odds;
        }
        return Math.Exp(log) * sum;
    }
}
