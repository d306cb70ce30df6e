using GroupCore.Transport;
using Ida.Testing;

namespace Ida.Scenarios;

/// <summary>What a node at rest must not keep of what has been: commands, timers, links, bytes and slabs of them, frames that came too early, operations.</summary>
internal static class Leftovers
{
    // Seen in some thousand nodes at rest: 2 to 5 timers with one group; 64 KiB of slabs for the buffer of what is sent and for each link.
    private const int Timers = 2, TimersOfGroup = 4, SendBuffer = 1 << 20, SlabsOfLink = 128 << 10, UnderWay = 4 << 10;

    /// <summary>
    /// A rest so long that links to nodes which have gone are over: 90 s until a connection to a machine that vanished is reset, and a minute without a connection that
    /// ends those that nobody holds.
    /// </summary>
    public static readonly TimeSpan LongRest = TimeSpan.FromSeconds(160);

    /// <summary>What a node keeps too much of, in a cluster at rest, as a report names it; null where it keeps what it needs.</summary>
    /// <param name="member">The node.</param>
    /// <param name="rested">Whether it has been at rest for <see cref="LongRest"/>: then each of its links is <see cref="WhyWrong">one that it needs</see>.</param>
    public static string? Of(SimMember member, bool rested)
    {
        var (commands, timers, links, unacknowledged, calls, slabs) = member.Host.Kept;
        int groups = member.Node.Groups.Count;
        long early = groups == 0 ? 0 : member.Node.Groups[0].Host.EarlyBytes;
        string? wrong = rested ? links.Select((link, at) => WhyWrong(member, link, links.Take(at))).FirstOrDefault(static why => why is not null) : null;
        // Links to strangers are not counted for the node.
        bool much = commands > 0 || timers > Timers + (TimersOfGroup * groups) || slabs > SendBuffer + (SlabsOfLink * (links.Count + 1)) || early > 0 || calls != 0
            || unacknowledged < 0 || unacknowledged > links.Sum(static link => link.Backlog) || wrong is not null;
        return much ? $"{member} is at rest, in {groups} groups, and keeps {commands} commands, {timers} timers, {links.Count} links, {unacknowledged} bytes that are not acknowledged, {calls} bytes of calls that wait, {slabs} bytes of slabs and {early} of early frames. {wrong}" : null;
    }

    /// <summary>
    /// Of a node that has rested, each link leads to a node that lives, or from a voter to a seed at which none does, where it looks for whoever starts there; one to each, on
    /// which no more waits than is on its way.
    /// </summary>
    private static string? WhyWrong(SimMember member, LinkUse link, IEnumerable<LinkUse> before)
    {
        var simulation = member.Host.Simulation;
        var there = simulation.Nodes.FirstOrDefault(node => node.Alive && (link.NodeId == 0 ? node.Address == link.Address : node.Id == link.NodeId));
        if (there is null && !(IsVoter(member) && VacantSeeds(simulation).Contains(link.Address))) return $"Its link to {link.Address}, {link.NodeId:x}, leads to no node that lives.";
        if (before.Any(other => there is null ? other.Address == link.Address : other.NodeId == there.Id)) return $"It has two links to {link.Address}, {link.NodeId:x}: {string.Join("; ", before)}, {link}.";
        return link.Backlog > UnderWay ? $"On its link to {link.Address} {link.Backlog} bytes are not acknowledged." : null;
    }

    private static bool IsVoter(SimMember member) => member.Node.Voters.Contains(member.Node.Address.Text);

    private static IEnumerable<NodeAddress> VacantSeeds(Simulation simulation) => Enumerable.Range(0, SimCluster.Seeds).Select(seed => Simulation.AddressOf(seed, simulation.Options.Carrier))
        .Where(seed => !simulation.Nodes.Any(node => node.Alive && node.Address == seed));

    /// <summary>Operations of the DHT that a member keeps though nobody calls any more; null where there is none.</summary>
    public static string? Of(SimMember member, Dht dht)
    {
        var layer = dht.Layer;
        return layer.Coordinator.HasWork || layer.Participant.OperationCount > 0 ? $"{member} is at rest and keeps {layer.Participant.OperationCount} operations, and work of its own: {layer.Coordinator.HasWork}." : null;
    }
}
