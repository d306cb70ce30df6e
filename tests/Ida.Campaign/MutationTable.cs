using GroupCore.Groups;
using Ida.Scenarios;
using Ida.Testing.Checking;
using Oracle;

namespace Ida.Campaign;

/// <summary>
/// The rules that a campaign can leave out, each with the scenario most likely to notice (node-and-turn.md#a-checker-has-a-negative-control) and the text that its failure
/// must contain. Random schedules, here or in the models of the specs, do not show the lack of every rule; the other rules have directed schedules among the tests.
/// </summary>
internal static class MutationTable
{
    private static readonly Control[] s_groups =
    [
        Of(nameof(GroupRules.R1RefuseDataWhenWedged), GroupScenarios.Cascades, GroupGuarantee.VirtualSynchrony), Of(nameof(GroupRules.R3AllReports), GroupScenarios.Cascades, GroupGuarantee.NoLoss),
        new(nameof(GroupRules.R4ClosureTrim), GroupScenarios.Cascades, TestMember.BeforeItsCause), Of(nameof(GroupRules.R5LongestOrder), GroupScenarios.Cascades, GroupGuarantee.TotalOrder),
        Of(nameof(GroupRules.R7PullsBeforeAck), GroupScenarios.Cascades, GroupGuarantee.VirtualSynchrony), Of(nameof(GroupRules.R7PeerMessagesBeforeAck), GroupScenarios.Chains, GroupGuarantee.PeerMessages),
        new(nameof(GroupRules.R8AllAcks), GroupScenarios.Cascades, GroupSchedule.NotSettled), new(nameof(OracleRules.A3PendingProposalOnly), GroupScenarios.Cascades, GroupSchedule.NotSettled),
        new(nameof(GroupRules.R9FreshReports), GroupScenarios.Cascades, GroupSchedule.NotSettled), Of(nameof(GroupRules.R12RefuseRemoved), GroupScenarios.Chains, GroupGuarantee.PeerMessages),
        Of(nameof(GroupRules.R13NestedAcks), GroupScenarios.Chains, GroupGuarantee.PeerMessages), Of(nameof(GroupRules.R16CheckpointAtEvent), GroupScenarios.Joins, GroupGuarantee.StateTransfer),
        new(nameof(OracleRules.A4NeverWithdraw), OracleScenarios.Spared, OracleSchedule.NotSettled), Of(nameof(GroupRules.OldViewRefused), GroupScenarios.Flushes, GroupGuarantee.SendingView),
        Of(nameof(GroupRules.FlushDelivers), GroupScenarios.Cascades, GroupGuarantee.NoLoss), Of(nameof(GroupRules.FlushOrderPart), GroupScenarios.Flushes, GroupGuarantee.Flush),
        new(nameof(GroupRules.OrderDependency), GroupScenarios.Cascades, TestMember.BeforeItsCause),
        .. new[]
        {
            nameof(OracleRules.RaftMajority), nameof(OracleRules.RaftUpToDateVote), nameof(OracleRules.RaftOneChange), nameof(OracleRules.RaftOwnTermFirst), nameof(OracleRules.RaftOldTermByCounting),
        }.Select(static rule => new Control(rule, OracleScenarios.Wild, DecisionChecker.LogDiffers)),
        new(nameof(OracleRules.StrictPrimaryDelay), OracleScenarios.Spared, DecisionChecker.TwoActive), new(nameof(OracleRules.StrictPrimaryInherits), OracleScenarios.Surface, DecisionChecker.TwoActive),
    ];

    private static readonly Control[] s_ida =
    [
        Of(nameof(DhtRules.PutWaitsForSeal), AnomalyKind.RealTimeViolation), Of(nameof(DhtRules.FastPathEqual), AnomalyKind.RealTimeViolation), Of(nameof(DhtRules.FastPathQuiescent), AnomalyKind.RealTimeViolation),
        Of(nameof(DhtRules.ReadWaitsForStable), AnomalyKind.RealTimeViolation), Of(nameof(DhtRules.ReadWaitsForQueue), AnomalyKind.RealTimeViolation),
        Of(nameof(DhtRules.QuiescentIncludesPredecessors), AnomalyKind.RealTimeViolation), Of(nameof(DhtRules.QuiescentIncludesReads), AnomalyKind.RealTimeViolation),
        Of(nameof(DhtRules.ShardReadTakesTime), AnomalyKind.NotSerializable), Of(nameof(DhtRules.TimeOverAll), AnomalyKind.NotSerializable), Of(nameof(DhtRules.CommitAdvancesClocks), AnomalyKind.NotSerializable),
        Of(nameof(DhtRules.FlushCommitsHeld), AnomalyKind.LostWrite), Of(nameof(DhtRules.FlushNeedsAllHolders), AnomalyKind.PartialWrite), Of(nameof(DhtRules.WedgeFreezes), AnomalyKind.LostWrite),
        new(nameof(GroupRules.OldViewRefused), DhtScenarios.Strict, DhtWorld.Unsettled), Of(nameof(DhtRules.Fence), AnomalyKind.RealTimeViolation), Of(nameof(DhtRules.OutcomeTable), AnomalyKind.DuplicateElement),
        Of(nameof(DhtRules.OutcomeInTransfer), AnomalyKind.DuplicateElement), new(nameof(DhtRules.RejectionRefusesLater), DhtScenarios.Strict, DhtWorld.Unsettled),
        new(nameof(DhtRules.AbortNeedsRejection), DhtScenarios.Strict, DhtWorld.Unsettled), new(nameof(DhtRules.SnapshotAfterDecision), DhtScenarios.Strict, DhtWorld.Diverged),
        Of(nameof(DhtRules.OnlyInitialisedAnswers), AnomalyKind.RealTimeViolation), new(nameof(DhtRules.SwapKeepsInitialised), DhtScenarios.LeavesAndCrashes, DhtWorld.LostThoughHeld),
        new(nameof(GroupRules.NoFrameBehindAGap), DhtScenarios.Strict, DhtWorld.Diverged),
        new(nameof(DhtRules.ExpectationsHold), DhtScenarios.Surface, TextOf(AnomalyKind.NotSerializable)), new(nameof(DhtRules.OnlyAgreedMaps), DhtScenarios.Surface, SurfaceMaps.ExecutedThoughLacked),
    ];

    public static IReadOnlyList<string> RulesOf(Suite suite) => [.. Rows(suite).Select(static row => row.Rule)];

    public static Control Of(Suite suite, string rule) => Array.Find(Rows(suite), row => row.Rule == rule)!;

    private static Control[] Rows(Suite suite) => suite == Suite.Groups ? s_groups : s_ida;

    private static Control Of(string rule, Scenario likely, GroupGuarantee broken) => new(rule, likely, $"{broken} at ");

    private static Control Of(string rule, AnomalyKind kind) => new(rule, DhtScenarios.Strict, TextOf(kind));

    private static string TextOf(AnomalyKind kind) => $"{kind}: ";
}
