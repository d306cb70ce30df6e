using GroupCore.Diagnostics;
using GroupCore.Runtime;
using GroupCore.Transport.Mesh;

namespace GroupCore.Watching;

/// <summary>What a node says about itself and its links in numbers.</summary>
internal static class NodeAttributes
{
    public static AttributeSet<NodeWatch> All { get; } = new("node",
    [
        new("ida.node.turns", AttributeKind.Counter, "{turn}", "turns in which something happened", static node => node.Turns),
        new("ida.node.turn.longest", AttributeKind.Gauge, "ns", "the longest turn of this life, and so often one of its start; 0 without a logger, since only then turns are measured", static node => node.LongestTurn),
        new("ida.node.commands.waiting", AttributeKind.UpDownCounter, "{call}", "callers that wait for room in the queue of commands", static node => (node.Node as Node)?.CommandsWaiting ?? 0),
        new("ida.node.timers", AttributeKind.UpDownCounter, "{timer}", "timers that wait", static node => (node.Node as Node)?.Timers ?? 0),
        new("ida.node.log.dropped", AttributeKind.Counter, "{line}", "log lines that were dropped because the logger was too slow", static node => node.Node.Log.Dropped),
        new("ida.node.log.failed", AttributeKind.Counter, "{line}", "log lines that were lost because the logger threw", static node => node.Node.Log.Failed),
        new("ida.node.steps.forbidden", AttributeKind.Counter, "{step}", "steps that the protocols forbid and did not take; any is a defect of the library", static node => node.Node.Counters.Forbidden),
        .. Enum.GetValues<RefusalReason>().Select(Refused),
        new("ida.links", AttributeKind.UpDownCounter, "{link}", "links to other nodes that are not over", static node => (node.Node.Links as ILinkUses)?.Live ?? 0),
        new("ida.links.unacknowledged", AttributeKind.UpDownCounter, "By", "bytes that links hold until the peers have acknowledged them", static node => node.Node.Links.Quota?.Bytes ?? 0),
        new("ida.links.calls", AttributeKind.UpDownCounter, "By", "bytes of calls of groups that wait to be sent, beyond each group's own part", static node => node.Node.Links.Quota?.CallBytes ?? 0),
        new("ida.links.slabs", AttributeKind.UpDownCounter, "By", "bytes of the buffers of links and connections", static node => (node.Node.Links as ILinkUses)?.SlabBytes ?? 0),
    ]);

    private static StateAttribute<NodeWatch> Refused(RefusalReason reason) => new("ida.node.refused", AttributeKind.Counter, "{input}",
        "input from the network that was refused, by reason", node => node.Node.Counters.Refused(reason), new("reason", $"{reason}"));
}
