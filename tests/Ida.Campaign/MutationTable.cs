using GroupCore.Groups;
using Ida.Scenarios;
using Oracle;

namespace Ida.Campaign;

/// <summary>
/// The rules a campaign can leave out, each with the scenario most likely to notice (node-and-turn.md#a-checker-has-a-negative-control). Random schedules
/// do not show the lack of every rule, here or in the models of the specs: the rest have directed schedules among the tests.
/// </summary>
internal static class MutationTable
{
    private static readonly (string Rule, Scenario Likely)[] s_groups =
    [
        (nameof(GroupRules.R1RefuseDataWhenWedged), GroupScenarios.Cascades), (nameof(GroupRules.R3AllReports), GroupScenarios.Cascades), (nameof(GroupRules.R4ClosureTrim), GroupScenarios.Cascades),
        (nameof(GroupRules.R5LongestOrder), GroupScenarios.Cascades), (nameof(GroupRules.R7PullsBeforeAck), GroupScenarios.Cascades), (nameof(GroupRules.R7PeerMessagesBeforeAck), GroupScenarios.Chains),
        (nameof(GroupRules.R8AllAcks), GroupScenarios.Cascades), (nameof(OracleRules.A3PendingProposalOnly), GroupScenarios.Cascades), (nameof(GroupRules.R9FreshReports), GroupScenarios.Cascades),
        (nameof(GroupRules.R12RefuseRemoved), GroupScenarios.Chains), (nameof(GroupRules.R13NestedAcks), GroupScenarios.Chains), (nameof(GroupRules.R16CheckpointAtEvent), GroupScenarios.Joins),
        (nameof(OracleRules.A4NeverWithdraw), OracleScenarios.Spared), (nameof(GroupRules.OldViewRefused), GroupScenarios.Flushes), (nameof(GroupRules.FlushDelivers), GroupScenarios.Cascades),
        (nameof(GroupRules.FlushOrderPart), GroupScenarios.Flushes), (nameof(GroupRules.OrderDependency), GroupScenarios.Cascades),
        (nameof(OracleRules.RaftMajority), OracleScenarios.Wild), (nameof(OracleRules.RaftUpToDateVote), OracleScenarios.Wild), (nameof(OracleRules.RaftOneChange), OracleScenarios.Wild),
        (nameof(OracleRules.RaftOwnTermFirst), OracleScenarios.Wild), (nameof(OracleRules.RaftOldTermByCounting), OracleScenarios.Wild), (nameof(OracleRules.StrictPrimaryDelay), OracleScenarios.Spared),
        (nameof(OracleRules.StrictPrimaryInherits), OracleScenarios.Surface),
    ];

    private static readonly (string Rule, Scenario Likely)[] s_ida =
    [
        .. new[]
        {
            nameof(DhtRules.PutWaitsForSeal), nameof(DhtRules.FastPathEqual), nameof(DhtRules.FastPathQuiescent), nameof(DhtRules.ReadWaitsForStable), nameof(DhtRules.ReadWaitsForQueue), nameof(DhtRules.QuiescentIncludesPredecessors),
            nameof(DhtRules.QuiescentIncludesReads), nameof(DhtRules.ShardReadTakesTime), nameof(DhtRules.TimeOverAll), nameof(DhtRules.CommitAdvancesClocks), nameof(DhtRules.FlushCommitsHeld), nameof(DhtRules.FlushNeedsAllHolders),
            nameof(DhtRules.WedgeFreezes), nameof(GroupRules.OldViewRefused), nameof(DhtRules.Fence), nameof(DhtRules.OutcomeTable), nameof(DhtRules.OutcomeInTransfer), nameof(DhtRules.RejectionRefusesLater), nameof(DhtRules.AbortNeedsRejection),
            nameof(DhtRules.SnapshotAfterDecision), nameof(DhtRules.OnlyInitialisedAnswers), nameof(DhtRules.SwapKeepsInitialised), nameof(GroupRules.NoFrameBehindAGap),
        }.Select(static rule => (rule, DhtScenarios.Strict)),
        (nameof(DhtRules.ExpectationsHold), DhtScenarios.Surface), (nameof(DhtRules.OnlyAgreedMaps), DhtScenarios.Surface),
    ];

    public static IReadOnlyList<string> RulesOf(Suite suite) => [.. Rows(suite).Select(static row => row.Rule)];

    public static Scenario LikelyFor(Suite suite, string rule) => Array.Find(Rows(suite), row => row.Rule == rule).Likely;

    private static (string Rule, Scenario Likely)[] Rows(Suite suite) => suite == Suite.Groups ? s_groups : s_ida;
}
