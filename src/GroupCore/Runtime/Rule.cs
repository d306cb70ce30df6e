namespace GroupCore.Runtime;

/// <summary>
/// Rules of the protocols that a negative control leaves out, to show that a checker notices (node-and-turn.md#a-checker-has-a-negative-control).
/// Only tests can set one; a node runs with all rules.
/// </summary>
internal enum Rule
{
    None,

    // views-and-flush.md#rules. No entry has the last messages delivered before the install: only a uniform send, which this library does not have, would
    // differ by it, since a member that acknowledged a cut holds all of it, and so every later cut contains it.
    R1RefuseDataWhenWedged, R3AllReports, R4ClosureTrim, R5LongestOrder, R7PullsBeforeAck, R7PeerMessagesBeforeAck,
    R8AllAcks, A3PendingProposalOnly, R9FreshReports, R12RefuseRemoved, R13NestedAcks, R16CheckpointAtEvent,
    A4NeverWithdraw, A5LastAcceptor, OldViewRefused, FlushDelivers, FlushOrderPart, OrderDependency,

    // oracle.md#rules
    RaftMajority, RaftUpToDateVote, RaftOneChange, RaftOwnTermFirst, RaftOldTermByCounting, RaftKeepMatching, StrictPrimaryDelay, StrictPrimaryInherits,

    // dht-order.md#rules, dht-view-change.md#rules
    PutWaitsForSeal, FastPathEqual, FastPathQuiescent, ReadWaitsForStable, ReadWaitsForQueue, QuiescentIncludesPredecessors,
    QuiescentIncludesReads, ShardReadTakesTime, TimeOverAll, CommitAdvancesClocks, FlushCommitsHeld, FlushNeedsAllHolders,
    WedgeFreezes, Fence, OutcomeTable, OutcomeInTransfer, RejectionRefusesLater, AbortNeedsRejection,
    SnapshotAfterDecision, OnlyInitialisedAnswers, SwapKeepsInitialised, LeaverStaysAsSource, NoFrameBehindAGap, ExpectationsHold, OnlyAgreedMaps,
}
