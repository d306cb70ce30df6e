namespace GroupCore.Transport;

/// <summary>Limits of a link; sources: links.md#sizes-are-checked-before-anything-is-allocated, #bulk-asks-for-room-control-does-not,
/// #a-queue-that-passes-its-limit-ends-the-link.</summary>
internal static class LinkLimits
{
    /// <summary>Largest frame, header included, in bytes.</summary>
    public const int FrameBytes = 1 << 20;

    /// <summary>Largest frame before the peer has said who it is, in bytes.</summary>
    public const int HelloBytes = 1 << 10;

    /// <summary>Unacknowledged bytes of a link up to which producers of bulk may queue more, if the link is fast enough.</summary>
    public const int MostBulkBytes = 4 << 20;

    /// <summary>The same for the slowest links.</summary>
    public const int LeastBulkBytes = 256 << 10;

    /// <summary>
    /// Queued and unacknowledged bytes at which a link gives up. Bulk stops at <see cref="MostBulkBytes"/>; the rest is for control
    /// frames, which are few and small and never wait, and for one more frame of each producer.
    /// </summary>
    public const long QueueBytes = 32L << 20;

    /// <summary>
    /// The same for a stranger, a node that only dialled in and that nobody vouches for: enough for the answers to the first questions of a process, which are
    /// few and small. Not part of <see cref="NodeBytes"/>.
    /// </summary>
    internal const int StrangerBytes = 16 << 10;

    /// <summary>Bytes of the buffers that all strangers together may occupy with frames of which only a part has arrived.</summary>
    internal const long StrangersInputBytes = 64L << 20;

    /// <summary>Unacknowledged bytes of all links of a node at which producers of bulk wait, by default.</summary>
    public const long NodeBytes = 256L << 20;

    /// <summary>Most links of guests, nodes that only dialled in.</summary>
    internal const int Guests = 4096;

    /// <summary>
    /// Link numbers below this may go to guests. A number is given only once, so the rest is kept for peers that this node asks for: otherwise a guest that connects
    /// anew for days could use up the last number.
    /// </summary>
    internal const int GuestNumbers = int.MaxValue - (1 << 28);
}
