namespace GroupCore.Groups.Peers;

/// <summary>
/// A point-to-point message while it is being handled: acknowledged only when its handler has returned and every message that the
/// handler sent is acknowledged, so that no chain outlives the view it began in (R13; E. W. Dijkstra, C. S. Scholten 1980).
/// </summary>
internal sealed class Handling(PeerChannel channel, int rank, uint id, Handling? parent)
{
    public PeerChannel Channel { get; } = channel;

    /// <summary>The sender; the own rank for a message to oneself.</summary>
    public int Rank { get; } = rank;

    public uint Id { get; } = id;

    /// <summary>Whose message it is; differs from <see cref="Rank"/> when it was acknowledged before it is handled.</summary>
    public int From { get; init; } = rank;

    /// <summary>For a message to oneself: the message in whose handler it was sent.</summary>
    public Handling? Parent { get; } = parent;

    public bool Handled { get; set; }

    /// <summary>Messages sent by the handler that are not acknowledged.</summary>
    public int Children { get; set; }

    /// <summary>Number of the event in the group's stream.</summary>
    public long Event { get; set; }

    /// <summary>For a query: its number, else 0.</summary>
    public ulong Query { get; set; }
}
