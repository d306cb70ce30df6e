namespace Ida;

/// <summary>
/// The rules of the DHT that a negative control can leave out, one at a time, to show that a checker notices it (node-and-turn.md#a-checker-has-a-negative-control).
/// A node runs with all of them.
/// </summary>
/// <param name="without">The name of the rule that is left out; null, or the name of another layer's rule: none.</param>
internal sealed class DhtRules(string? without)
{
    public static readonly DhtRules All = new(null);

    /// <summary>dht-order.md#a-put-waits-for-the-seal.</summary>
    public readonly bool PutWaitsForSeal = without != nameof(PutWaitsForSeal);

    /// <summary>dht-order.md#a-put-waits-for-the-seal: equal proposals seal.</summary>
    public readonly bool FastPathEqual = without != nameof(FastPathEqual);

    /// <summary>dht-order.md#the-fast-path-needs-quiescence.</summary>
    public readonly bool FastPathQuiescent = without != nameof(FastPathQuiescent);

    /// <summary>dht-order.md#reads-of-one-key: the writer of the value is stable.</summary>
    public readonly bool ReadWaitsForStable = without != nameof(ReadWaitsForStable);

    /// <summary>dht-order.md#reads-of-one-key: the puts that came before the read are executed.</summary>
    public readonly bool ReadWaitsForQueue = without != nameof(ReadWaitsForQueue);

    /// <summary>dht-order.md#predecessors-are-stable-first.</summary>
    public readonly bool QuiescentIncludesPredecessors = without != nameof(QuiescentIncludesPredecessors);

    /// <summary>dht-order.md#predecessors-are-stable-first: reads too are predecessors of a put.</summary>
    public readonly bool QuiescentIncludesReads = without != nameof(QuiescentIncludesReads);

    /// <summary>dht-order.md#several-keys-in-one-shard-take-a-time.</summary>
    public readonly bool ShardReadTakesTime = without != nameof(ShardReadTakesTime);

    /// <summary>dht-order.md#the-time-is-the-maximum-over-all-participants.</summary>
    public readonly bool TimeOverAll = without != nameof(TimeOverAll);

    /// <summary>dht-order.md#commits-advance-clocks.</summary>
    public readonly bool CommitAdvancesClocks = without != nameof(CommitAdvancesClocks);

    /// <summary>dht-view-change.md#commit-what-all-surviving-participants-hold.</summary>
    public readonly bool FlushCommitsHeld = without != nameof(FlushCommitsHeld);

    /// <summary>dht-view-change.md#drop-what-a-survivor-lacks.</summary>
    public readonly bool FlushNeedsAllHolders = without != nameof(FlushNeedsAllHolders);

    /// <summary>dht-view-change.md#a-wedged-member-is-silent.</summary>
    public readonly bool WedgeFreezes = without != nameof(WedgeFreezes);

    /// <summary>dht-order.md#no-answer-without-a-lease.</summary>
    public readonly bool Fence = without != nameof(Fence);

    /// <summary>dht-order.md#one-outcome-per-put.</summary>
    public readonly bool OutcomeTable = without != nameof(OutcomeTable);

    /// <summary>dht-view-change.md#outcomes-travel-with-the-state.</summary>
    public readonly bool OutcomeInTransfer = without != nameof(OutcomeInTransfer);

    /// <summary>dht-order.md#abort-needs-a-rejection: a participant that has rejected an attempt never takes it later.</summary>
    public readonly bool RejectionRefusesLater = without != nameof(RejectionRefusesLater);

    /// <summary>dht-order.md#abort-needs-a-rejection.</summary>
    public readonly bool AbortNeedsRejection = without != nameof(AbortNeedsRejection);

    /// <summary>dht-view-change.md#decided-puts-come-before-the-snapshot.</summary>
    public readonly bool SnapshotAfterDecision = without != nameof(SnapshotAfterDecision);

    /// <summary>dht-view-change.md#newcomers-order-and-do-not-answer.</summary>
    public readonly bool OnlyInitialisedAnswers = without != nameof(OnlyInitialisedAnswers);

    /// <summary>dht-view-change.md#a-swap-leaves-an-initialised-member-behind.</summary>
    public readonly bool SwapKeepsInitialised = without != nameof(SwapKeepsInitialised);

    /// <summary>dht-view-change.md#a-leaver-stays-as-the-source.</summary>
    public readonly bool LeaverStaysAsSource = without != nameof(LeaverStaysAsSource);

    /// <summary>dht-order.md#expectations-are-checked-in-the-order.</summary>
    public readonly bool ExpectationsHold = without != nameof(ExpectationsHold);

    /// <summary>dht-view-change.md#only-agreed-maps-are-used.</summary>
    public readonly bool OnlyAgreedMaps = without != nameof(OnlyAgreedMaps);

    /// <summary>All rules but this one; all if it is null.</summary>
    public static DhtRules Without(string? rule) => rule is null ? All : new(rule);
}
