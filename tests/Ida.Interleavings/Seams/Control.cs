namespace Ida.Interleavings.Seams;

/// <summary>A rule that can be left out.</summary>
/// <param name="Name">The name, as after <c>--omit</c>.</param>
/// <param name="Scenario">The scenario that notices the omission.</param>
/// <param name="Seed">The seed of a schedule that shows it.</param>
/// <param name="Anomaly">What goes wrong without it: pieces of the failure's text in order, with <c>…</c> between them. A piece with <c>!</c> does not occur; <c>|</c> parts alternatives.</param>
internal sealed record Control(string Name, string Scenario, ulong Seed, string Anomaly)
{
    /// <summary>Whether that is what went wrong, and not something else.</summary>
    public bool IsNoticedBy(string failure) => Anomaly.Split(" | ").Any(one => Has(failure, one.Split('…', StringSplitOptions.TrimEntries)));

    private static bool Has(string failure, string[] pieces)
    {
        int from = 0;
        foreach (string piece in pieces)
        {
            if (piece[0] == '!')
            {
                if (failure.Contains(piece[1..], StringComparison.Ordinal)) return false;
                continue;
            }
            int at = failure.IndexOf(piece, from, StringComparison.Ordinal);
            if (at < 0) return false;
            from = at + piece.Length;
        }
        return true;
    }
}
