namespace GroupCore.Runtime;

/// <summary>
/// Rules of the specs that a negative control leaves out, to show that a checker notices (groupcore-oracle 12.5, ida 8.3).
/// Only tests can set one; a node runs with all rules.
/// </summary>
internal enum Rule
{
    None,

    // groupcore-oracle 5.4. Not R10: only a uniform send, which this library has not, can tell a tail that was delivered too early, since
    // whoever acknowledged a cut holds all of it and so every later cut contains it.
    R1RefuseDataWhenWedged, R3AllReports, R4ClosureTrim, R5LongestOrder, R7PullsBeforeAck, R7PeerMessagesBeforeAck,
    R8AllAcks, A3PendingProposalOnly, R9FreshReports, R12RefuseRemoved, R13NestedAcks, R16CheckpointAtEvent,
    A4NeverWithdraw, A5LastAcceptor, OldViewRefused, FlushDelivers, FlushOrderPart, OrderDependency,

    // groupcore-oracle 4
    RaftMajority, RaftUpToDateVote, RaftOneChange, RaftOwnTermFirst, RaftOldTermByCounting, RaftKeepMatching, StrictPrimaryDelay, StrictPrimaryInherits,

    // ida 2.5, 4.3-4.8
    PutWaitsForSeal, FastPathEqual, FastPathClear, ReadWaitsForStable, ReadWaitsForQueue, ClearIncludesPredecessors,
    ClearIncludesReads, ShardReadTakesTime, TimeOverAll, CommitAdvancesClocks, FlushCommitsHeld, FlushNeedsAllHolders,
    WedgeFreezes, Fence, OutcomeTable, OutcomeInTransfer, PoisonRefusesLater, AbortNeedsPoison,
    SnapshotAfterDecision, OnlyFullAnswers, SwapKeepsFull, LeaverStaysAsSource, NoFrameBehindAGap,
}
