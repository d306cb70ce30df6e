namespace GroupCore.Platform;

/// <summary>
/// When the kernel asks whether the other end of a connection is still there. A machine that vanishes says nothing, and a link that nobody holds any more sends
/// nothing by which the loss would show: without these questions each such machine would leave a connection behind for good.
/// </summary>
internal static class KeepAlive
{
    /// <summary>Seconds without a byte from the other end until the first question.</summary>
    public const int Idle = 60;

    /// <summary>Seconds from one question without an answer to the next.</summary>
    public const int Interval = 10;

    /// <summary>Questions without an answer after which the connection is reset.</summary>
    public const int Questions = 3;

    /// <summary>
    /// The shortest and the longest time from when the other end vanishes until the connection is reset, if nothing is sent meanwhile. Bytes sent meanwhile
    /// stop the questions, and <see cref="Unacknowledged"/> counts from then on: so a connection may last for twice <see cref="Longest"/>.
    /// </summary>
    public static readonly TimeSpan Shortest = TimeSpan.FromSeconds(Interval * Questions), Longest = TimeSpan.FromSeconds(Idle + (Interval * Questions));

    /// <summary>
    /// Milliseconds after which unacknowledged bytes reset the connection, on Linux. While there are such bytes the kernel asks nothing, and without this limit a
    /// quarter of an hour would pass. It also resets a connection whose other kernel answers but has no room, because the process there does not read.
    /// </summary>
    public const int Unacknowledged = (Idle + (Interval * Questions)) * 1000;
}
