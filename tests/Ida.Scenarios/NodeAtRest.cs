using GroupCore.Transport;
using GroupCore.Transport.Mesh;
using Ida.Testing;

namespace Ida.Scenarios;

/// <summary>A node at rest: what it keeps of the past, and the nodes around it.</summary>
/// <param name="Id">Its id.</param>
/// <param name="Address">Where it listens.</param>
/// <param name="Kept">What it keeps.</param>
internal sealed record NodeAtRest(ulong Id, NodeAddress Address, KeptState Kept)
{
    // Seen in some thousand nodes at rest: 2 to 5 timers with one group.
    private const int OwnTimers = 2, TimersOfGroup = 4, TimersOfLog = 1, UnderWay = 4 << 10;

    /// <summary>In how many groups it is.</summary>
    public int Groups { get; init; }

    /// <summary>Whether it has a logger, for which a watch looks at it once a second.</summary>
    public bool HasLog { get; init; }

    /// <summary>Bytes of slabs with messages of its groups that all members have.</summary>
    public long Stored { get; init; }

    /// <summary>Bytes of frames that came too early.</summary>
    public long Early { get; init; }

    /// <summary>The nodes that live, itself among them.</summary>
    public IReadOnlyList<NodeAtRest> Living { get; init; } = [];

    /// <summary>Addresses at which no node lives, but where it looks for nodes that start there, as a voter does at seeds.</summary>
    public IReadOnlyList<NodeAddress> Watched { get; init; } = [];

    /// <summary>
    /// What it keeps too much of, at any rest; null for nothing. A link to a node that has gone may keep, until the link is over, what that node has not acknowledged.
    /// </summary>
    public string? Excess => Kept.Commands > 0 ? $"{Kept.Commands} commands wait."
        : Kept.Timers > OwnTimers + (TimersOfGroup * Groups) + (HasLog ? TimersOfLog : 0) ? $"{Kept.Timers} timers wait, in {Groups} groups."
        : Kept.Slabs - Kept.Encoding > SlabsOfLinks ? $"{Kept.Slabs} bytes of slabs, {Kept.Encoding} of them to encode frames, with {Kept.Links.Count} links."
        : Stored > 0 ? $"{Stored} bytes of slabs with messages that all members have."
        : Early > 0 ? $"{Early} bytes of early frames."
        : Kept.CallBytes != 0 ? $"{Kept.CallBytes} bytes are counted of calls that wait."
        : Kept.Unacknowledged != Counted ? $"{Kept.Unacknowledged} bytes are counted as unacknowledged, and its links have {Counted}."
        : null;

    /// <summary>
    /// What is wrong with its links after a rest so long that those which lead nowhere are over; null for nothing. Each must lead to a living node, which has its other end, or
    /// to an address that is watched, with only one link to each. Links that the node asks for must be up. It must have no connections but those of its links.
    /// </summary>
    public string? WrongLink => Kept.Links.Select((link, at) => WhyWrong(link, Kept.Links.Take(at))).FirstOrDefault(static why => why is not null)
        ?? (Kept.Sockets is { } sockets && sockets != Carrying ? $"It has {sockets} sockets, and its links have {Carrying}."
        : Kept.LinkTimers > Kept.Links.Count + Carrying + 1 ? $"{Kept.LinkTimers} timers of {Kept.Links.Count} links wait."
        : null);

    // Links to strangers are not counted for the node.
    private long Counted => Kept.Links.Where(static link => !link.IsForeign).Sum(static link => link.Backlog);

    // One slab of each link, and one of each connection, for the beginning of a frame. What is not acknowledged may lie in a larger slab, or in several that others have let go of.
    private long SlabsOfLinks => (SlabPool.SmallBytes * (Kept.Links.Count + (Kept.Sockets ?? 0L))) + Kept.Links.Where(static link => link.Backlog > 0).Sum(static link => link.Backlog + LinkLimits.FrameBytes);

    private int Carrying => Kept.Links.Count(static link => link.Phase is LinkPhase.Up or LinkPhase.Dialling);

    public override string ToString() => $"{Id:x} at {Address}, with {string.Join("; ", Kept.Links)}";

    private string? WhyWrong(LinkUse link, IEnumerable<LinkUse> before)
    {
        var there = LedTo(link);
        if (there is null && !(link.NodeId == 0 && Watched.Contains(link.Address))) return $"{link} leads to no node that lives.";
        foreach (var other in before)
            if (there is null ? other.Address == link.Address : LedTo(other)?.Id == there.Id) return $"{other} and {link} lead to one node.";
        if (link.Backlog > UnderWay) return $"What is on {link} is not acknowledged.";
        if (there is null) return null;
        if (link.IsAskedFor && (link.Phase != LinkPhase.Up || link.IsHeld)) return $"{link} is asked for, and nothing goes over it.";
        return link.Phase == LinkPhase.Up && !there.Kept.Links.Any(back => back.Phase == LinkPhase.Up && back.NodeId == Id) ? $"{link} has no other end at {there}." : null;
    }

    private NodeAtRest? LedTo(LinkUse link) => Living.FirstOrDefault(node => link.NodeId == 0 ? node.Address == link.Address : node.Id == link.NodeId);
}
