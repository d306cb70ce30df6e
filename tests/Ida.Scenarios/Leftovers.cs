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

    /// <summary>What a node keeps too much of, in a cluster at rest with <paramref name="living"/> nodes, as a report names them; null where it keeps what it needs.</summary>
    /// <param name="member">The node.</param>
    /// <param name="living">Nodes that live.</param>
    /// <param name="rested">Whether it has been at rest for <see cref="LongRest"/>: then it has links to those that live, as a voter to seeds too, where it looks for whoever starts there, and no more waits on each than is on its way.</param>
    public static string? Of(SimMember member, int living, bool rested)
    {
        var (commands, timers, links, mostQueued, slabs) = member.Host.Kept;
        int groups = member.Node.Groups.Count;
        long early = groups == 0 ? 0 : member.Node.Groups[0].Host.EarlyBytes;
        bool much = commands > 0 || timers > Timers + (TimersOfGroup * groups) || slabs > SendBuffer + (SlabsOfLink * (links + 1)) || early > 0
            || (rested && (links > living - 1 + (IsVoter(member) ? VacantSeeds(member.Host.Simulation) : 0) || mostQueued > UnderWay));
        return much ? $"{member} is at rest among {living} nodes, in {groups} groups, and keeps {commands} commands, {timers} timers, {links} links, {mostQueued} bytes that are not acknowledged on one of them, {slabs} bytes of slabs and {early} of early frames." : null;
    }

    private static bool IsVoter(SimMember member) => member.Node.Voters.Contains(member.Node.Address.Text);

    private static int VacantSeeds(Simulation simulation) =>
        Enumerable.Range(0, SimCluster.Seeds).Count(seed => !simulation.Nodes.Any(node => node.Alive && node.Address == Simulation.AddressOf(seed, simulation.Options.Carrier)));

    /// <summary>Operations of the DHT that a member keeps though nobody calls any more; null where there is none.</summary>
    public static string? Of(SimMember member, Dht dht)
    {
        var layer = dht.Layer;
        return layer.Coordinator.HasWork || layer.Participant.OpCount > 0 ? $"{member} is at rest and keeps {layer.Participant.OpCount} operations, and work of its own: {layer.Coordinator.HasWork}." : null;
    }
}
