namespace Ida.Scenarios;

/// <summary>How likely a count as low as the observed one is.</summary>
internal static class BinomialTail
{
    /// <summary>The probability that at most <paramref name="hits"/> of the independent trials hit, if each hits with probability <paramref name="share"/>.</summary>
    /// <param name="hits">From 0 to <paramref name="trials"/>.</param>
    /// <param name="trials">1 or more.</param>
    /// <param name="share">Above 0 and below 1.</param>
    public static double AtMost(long hits, long trials, double share)
    {
        // Above the mean the upper tail is the smaller one, and is summed instead.
        if (hits >= trials * share) return hits >= trials ? 1 : 1 - AtMost(trials - hits - 1, trials, 1 - share);
        double odds = share / (1 - share), log = trials * double.LogP1(-share);
        for (long i = 0; i < hits; i++) log += Math.Log((trials - i) / (i + 1.0) * odds);
        // Below the mean the terms shrink towards 0 hits, so the first is the largest.
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
