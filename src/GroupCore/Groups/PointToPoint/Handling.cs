namespace GroupCore.Groups.PointToPoint;

/// <summary>
/// A point-to-point message while it is being handled: acknowledged only when its handler has returned and every message that the
/// handler sent is acknowledged, so that no chain outlives the view it began in (R13; E. W. Dijkstra, C. S. Scholten 1980).
/// </summary>
/// <remarks>
/// Handlers that answer each other for ever make an endless chain, and none of its messages would ever be acknowledged. So before the wedge a
/// message at <see cref="LastDepth"/> is acknowledged when its handler has returned, without waiting for what the handler sent, which is at <see cref="LastDepth"/> too.
/// When a new chain began there instead, its acknowledgements came back one by one, and each woke the other side: that took 24 % of a round trip between handlers.
/// </remarks>
internal struct Handling : IOpenEntry
{
    /// <summary>The rank of a message that nobody waits for: it was acknowledged before it was handled, or its sender is out of the next view.</summary>
    public const int Nobody = -1;

    /// <summary>The largest depth, the most that a frame has room for. At most one message more than that wait for each other in a chain.</summary>
    public const byte LastDepth = 63;

    public ulong Number { get; set; }

    public bool Open { get; set; }

    /// <summary>Rank of the member that waits: the sender, this member for a message to itself, or <see cref="Nobody"/>.</summary>
    public int Rank;

    /// <summary>The sender's number of the message.</summary>
    public uint Id;

    /// <summary>Size of its payload.</summary>
    public int Bytes;

    /// <summary>For a message to oneself: the handling in which it was sent, else 0.</summary>
    public ulong Parent;

    /// <summary>Number of the event in the group's stream.</summary>
    public long Event;

    /// <summary>Messages sent by the handler that are not acknowledged.</summary>
    public int Children;

    public bool Handled;

    /// <summary>Nobody waits for its handler any more, only for the messages that the handler has sent.</summary>
    public bool GivenUp;

    /// <summary>How many messages of its chain wait for it, at most <see cref="LastDepth"/>.</summary>
    public byte Depth;

    public readonly bool IsEnded => Handled || GivenUp;

    /// <summary>The depth of the messages that its handler sends.</summary>
    public readonly byte NextDepth => Depth < LastDepth ? (byte)(Depth + 1) : LastDepth;
}
