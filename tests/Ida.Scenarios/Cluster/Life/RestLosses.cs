namespace Ida.Scenarios;

/// <summary>Judges how many programs have ended while all were at rest, and none had a reason to end.</summary>
internal static class RestLosses
{
    // Bad luck with dials may have one excluded, and if it was the last but one of a second system, the last gives way to the first.
    private const int Most = 2;

    /// <summary>What is wrong; null for what bad luck may do. How many seeds have such luck is bounded by their scenario.</summary>
    /// <param name="ended">Programs that have ended.</param>
    /// <param name="excluded">How many of them by exclusion.</param>
    /// <param name="mayFail">Whether sockets may fail.</param>
    public static string? Wrong(int ended, int excluded, bool mayFail) =>
        ended == 0 ? null
        : !mayFail ? $"{ended} programs have ended at rest, though no dial and no connection gets lost."
        : ended > Most ? $"{ended} programs have ended at rest; bad luck may end {Most} at most."
        : excluded < ended ? $"{ended - excluded} programs have ended at rest, and not by exclusion."
        : null;
}
