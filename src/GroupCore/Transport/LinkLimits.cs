namespace GroupCore.Transport;

/// <summary>Limits of a link; sources: groupcore-oracle 10.6, 6.8.</summary>
public static class LinkLimits
{
    /// <summary>Largest frame, header included, in bytes.</summary>
    public const int FrameBytes = 1 << 20;

    /// <summary>Largest frame before the peer has said who it is, in bytes.</summary>
    public const int HelloBytes = 1 << 10;

    /// <summary>Queued and unacknowledged bytes at which a link gives up, far above what protocol windows allow.</summary>
    public const long QueueBytes = 64L << 20;
}
