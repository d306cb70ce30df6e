using GroupCore.Diagnostics;

namespace Ida;

/// <summary>What a member's part in a DHT says about itself in numbers.</summary>
internal static class DhtAttributes
{
    public static AttributeSet<DhtLayer> All { get; } = new("node, group",
    [
        new("ida.dht.slot", AttributeKind.Gauge, "1", "the slot of this member; -1 for none", static dht => dht.State.Slot),
        new("ida.dht.shard", AttributeKind.Gauge, "1", "the shard of this member; -1 for none", static dht => dht.State.Shard),
        new("ida.dht.initialised", AttributeKind.Gauge, "1", "1 if it has the state of its shard, else 0", static dht => dht.State.Initialised ? 1 : 0),
        new("ida.dht.entries", AttributeKind.UpDownCounter, "{key}", "keys of its shard that it keeps something of", static dht => dht.Participant.Slice.Table.Count),
        new("ida.dht.records", AttributeKind.UpDownCounter, "{operation}", "operations in which it takes part and that are not over", static dht => dht.Participant.Records.Count),
        new("ida.dht.in_flight", AttributeKind.UpDownCounter, "{operation}", "operations of its callers that are on their way", static dht => dht.Coordinator.InFlight),
        new("ida.dht.waiting", AttributeKind.UpDownCounter, "{operation}", "operations of its callers that wait for a place", static dht => dht.Coordinator.WaitingCount),
        new("ida.dht.refused", AttributeKind.Counter, "{operation}", "operations of its callers that got OverloadedException", static dht => dht.Counters.Refused),
        new("ida.dht.fast", AttributeKind.Counter, "{operation}", "operations that were stable with the proposals, after two delays", static dht => dht.Counters.FastPaths),
        new("ida.dht.slow", AttributeKind.Counter, "{operation}", "operations that needed a round of acknowledgements", static dht => dht.Counters.SlowPaths),
        new("ida.dht.reads.local", AttributeKind.Counter, "{read}", "reads answered by this member without a message", static dht => dht.Counters.LocalReads),
        new("ida.dht.takeovers", AttributeKind.Counter, "{operation}", "operations of other members that it took over", static dht => dht.Counters.Takeovers),
        new("ida.dht.frames.sent", AttributeKind.Counter, "{frame}", "frames sent, acknowledgements and state transfer included", static dht => dht.Counters.Sent),
        new("ida.dht.state.sent", AttributeKind.Counter, "By", "bytes of state sent to newcomers", static dht => dht.Counters.StateBytesSent),
        new("ida.dht.state.received", AttributeKind.Counter, "By", "bytes of state that came from others", static dht => dht.Counters.StateBytesReceived),
        new("ida.dht.steps.forbidden", AttributeKind.Counter, "{step}", "steps of operations that were not possible and were refused; any is a defect of the library", static dht => dht.Counters.ForbiddenSteps),
    ]);
}
