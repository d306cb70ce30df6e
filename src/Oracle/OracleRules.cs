namespace Oracle;

/// <summary>
/// The rules of the Oracle that a negative control can leave out, one at a time, to show that a checker notices (node-and-turn.md#a-checker-has-a-negative-control).
/// A node runs with all of them.
/// </summary>
/// <param name="without">The name of the rule that is left out; null, or the name of another layer's rule: none.</param>
internal sealed class OracleRules(string? without)
{
    public static readonly OracleRules All = new(null);

    /// <summary>oracle.md#majority-of-the-latest-configuration.</summary>
    public readonly bool RaftMajority = without != nameof(RaftMajority);

    /// <summary>oracle.md#votes-only-for-an-up-to-date-log.</summary>
    public readonly bool RaftUpToDateVote = without != nameof(RaftUpToDateVote);

    /// <summary>oracle.md#one-change-of-the-configuration-at-a-time.</summary>
    public readonly bool RaftOneChange = without != nameof(RaftOneChange);

    /// <summary>oracle.md#a-change-waits-for-an-entry-of-the-own-term.</summary>
    public readonly bool RaftOwnTermFirst = without != nameof(RaftOwnTermFirst);

    /// <summary>oracle.md#only-entries-of-the-own-term-commit-by-counting: those of an old term do not.</summary>
    public readonly bool RaftOldTermByCounting = without != nameof(RaftOldTermByCounting);

    /// <summary>oracle.md#a-saved-state-keeps-the-matching-tail.</summary>
    public readonly bool RaftKeepMatching = without != nameof(RaftKeepMatching);

    /// <summary>oracle.md#a3-only-the-pending-proposal-completes.</summary>
    public readonly bool A3PendingProposalOnly = without != nameof(A3PendingProposalOnly);

    /// <summary>oracle.md#a4-a-proposal-is-never-withdrawn.</summary>
    public readonly bool A4NeverWithdraw = without != nameof(A4NeverWithdraw);

    /// <summary>oracle.md#a5-the-last-acceptor-goes-only-with-proof.</summary>
    public readonly bool A5LastAcceptor = without != nameof(A5LastAcceptor);

    /// <summary>oracle.md#a-view-waits-for-the-leases-of-those-it-excludes.</summary>
    public readonly bool StrictPrimaryDelay = without != nameof(StrictPrimaryDelay);

    /// <summary>oracle.md#a-new-leader-takes-every-lease-as-held.</summary>
    public readonly bool StrictPrimaryInherits = without != nameof(StrictPrimaryInherits);

    /// <summary>oracle.md#a-join-is-asked-for.</summary>
    public readonly bool JoinRule = without != nameof(JoinRule);

    /// <summary>All rules except this one; all rules if it is null.</summary>
    public static OracleRules Without(string? rule) => rule is null ? All : new(rule);
}
