using GroupCore.Runtime;
using Ida.Scenarios;

namespace Ida.Campaign;

/// <summary>
/// The rules a campaign can leave out, each with the scenario most likely to notice (node-and-turn.md#a-checker-has-a-negative-control). Random schedules
/// do not show the lack of every rule, here or in the models of the specs: the rest have directed schedules among the tests.
/// </summary>
internal static class MutationTable
{
    private static readonly (Rule Rule, Scenario Likely)[] s_groups =
    [
        (Rule.R1RefuseDataWhenWedged, GroupScenarios.Cascades), (Rule.R3AllReports, GroupScenarios.Cascades), (Rule.R4ClosureTrim, GroupScenarios.Cascades),
        (Rule.R5LongestOrder, GroupScenarios.Cascades), (Rule.R7PullsBeforeAck, GroupScenarios.Cascades), (Rule.R7PeerMessagesBeforeAck, GroupScenarios.Chains),
        (Rule.R8AllAcks, GroupScenarios.Cascades), (Rule.A3PendingProposalOnly, GroupScenarios.Cascades), (Rule.R9FreshReports, GroupScenarios.Cascades),
        (Rule.R12RefuseRemoved, GroupScenarios.Chains), (Rule.R13NestedAcks, GroupScenarios.Chains), (Rule.R16CheckpointAtEvent, GroupScenarios.Joins),
        (Rule.A4NeverWithdraw, OracleScenarios.Spared), (Rule.OldViewRefused, GroupScenarios.Cascades), (Rule.FlushDelivers, GroupScenarios.Cascades),
        (Rule.FlushOrderPart, GroupScenarios.Flushes), (Rule.OrderDependency, GroupScenarios.Cascades),
        (Rule.RaftMajority, OracleScenarios.Wild), (Rule.RaftUpToDateVote, OracleScenarios.Wild), (Rule.RaftOneChange, OracleScenarios.Wild),
        (Rule.RaftOwnTermFirst, OracleScenarios.Wild), (Rule.RaftOldTermByCounting, OracleScenarios.Wild), (Rule.StrictPrimaryDelay, OracleScenarios.Spared),
        (Rule.StrictPrimaryInherits, OracleScenarios.Surface),
    ];

    private static readonly (Rule Rule, Scenario Likely)[] s_ida =
    [
        .. new[]
        {
            Rule.PutWaitsForSeal, Rule.FastPathEqual, Rule.FastPathQuiescent, Rule.ReadWaitsForStable, Rule.ReadWaitsForQueue, Rule.QuiescentIncludesPredecessors,
            Rule.QuiescentIncludesReads, Rule.ShardReadTakesTime, Rule.TimeOverAll, Rule.CommitAdvancesClocks, Rule.FlushCommitsHeld, Rule.FlushNeedsAllHolders,
            Rule.WedgeFreezes, Rule.OldViewRefused, Rule.Fence, Rule.OutcomeTable, Rule.OutcomeInTransfer, Rule.RejectionRefusesLater, Rule.AbortNeedsRejection,
            Rule.SnapshotAfterDecision, Rule.OnlyInitialisedAnswers, Rule.SwapKeepsInitialised, Rule.NoFrameBehindAGap,
        }.Select(static rule => (rule, DhtScenarios.Strict)),
        (Rule.ExpectationsHold, DhtScenarios.Surface), (Rule.OnlyAgreedMaps, DhtScenarios.Surface),
    ];

    public static IReadOnlyList<Rule> RulesOf(Suite suite) => [.. Rows(suite).Select(static row => row.Rule)];

    public static Scenario LikelyFor(Suite suite, Rule rule) => Array.Find(Rows(suite), row => row.Rule == rule).Likely;

    private static (Rule Rule, Scenario Likely)[] Rows(Suite suite) => suite == Suite.Groups ? s_groups : s_ida;
}
