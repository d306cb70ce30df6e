namespace GroupCore.Groups;

/// <summary>
/// The rules of process groups that a negative control can leave out, one at a time, to show that a checker notices (node-and-turn.md#a-checker-has-a-negative-control).
/// A node runs with all of them.
/// </summary>
/// <param name="without">The name of the rule that is left out; null, or the name of another layer's rule: none.</param>
internal sealed class GroupRules(string? without)
{
    public static readonly GroupRules All = new(null);

    // No control delivers the last messages before the install: no checker could notice. A member that acknowledged a cut holds all of it, so every later cut contains
    // it; only a uniform send, which this library does not have, would show a difference.

    /// <summary>views-and-flush.md#wedge-before-the-report.</summary>
    public readonly bool R1RefuseDataWhenWedged = without != nameof(R1RefuseDataWhenWedged);

    /// <summary>views-and-flush.md#all-reports-before-the-cut.</summary>
    public readonly bool R3AllReports = without != nameof(R3AllReports);

    /// <summary>views-and-flush.md#the-cut-is-closed.</summary>
    public readonly bool R4ClosureTrim = without != nameof(R4ClosureTrim);

    /// <summary>views-and-flush.md#the-longest-order-wins.</summary>
    public readonly bool R5LongestOrder = without != nameof(R5LongestOrder);

    /// <summary>views-and-flush.md#acknowledge-with-the-cut-held.</summary>
    public readonly bool R7PullsBeforeAck = without != nameof(R7PullsBeforeAck);

    /// <summary>views-and-flush.md#acknowledge-with-own-messages-handled.</summary>
    public readonly bool R7PeerMessagesBeforeAck = without != nameof(R7PeerMessagesBeforeAck);

    /// <summary>views-and-flush.md#completion-after-all-acknowledgements.</summary>
    public readonly bool R8AllAcks = without != nameof(R8AllAcks);

    /// <summary>views-and-flush.md#fresh-reports-for-each-proposal.</summary>
    public readonly bool R9FreshReports = without != nameof(R9FreshReports);

    /// <summary>views-and-flush.md#nothing-from-removed-members.</summary>
    public readonly bool R12RefuseRemoved = without != nameof(R12RefuseRemoved);

    /// <summary>multicast.md#a-message-is-acknowledged-after-all-that-its-handler-sent.</summary>
    public readonly bool R13NestedAcks = without != nameof(R13NestedAcks);

    /// <summary>state-transfer.md#the-checkpoint-is-cut-at-the-view-event.</summary>
    public readonly bool R16CheckpointAtEvent = without != nameof(R16CheckpointAtEvent);

    /// <summary>views-and-flush.md#every-frame-names-its-view.</summary>
    public readonly bool OldViewRefused = without != nameof(OldViewRefused);

    /// <summary>views-and-flush.md#the-last-deliveries-wait-for-the-install: that the install delivers at all.</summary>
    public readonly bool FlushDelivers = without != nameof(FlushDelivers);

    /// <summary>multicast.md#a-stability-wait-includes-the-order.</summary>
    public readonly bool FlushOrderPart = without != nameof(FlushOrderPart);

    /// <summary>multicast.md#an-ordered-message-follows-what-its-sender-had-delivered.</summary>
    public readonly bool OrderDependency = without != nameof(OrderDependency);

    /// <summary>views-and-flush.md#no-frame-behind-a-gap.</summary>
    public readonly bool NoFrameBehindAGap = without != nameof(NoFrameBehindAGap);

    /// <summary>All rules but <paramref name="rule"/>; all if it is null.</summary>
    public static GroupRules Without(string? rule) => rule is null ? All : new(rule);
}
