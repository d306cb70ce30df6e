namespace GroupCore.Transport.Sockets;

/// <summary>
/// When the kernel asks whether the other end of a connection is still there. A machine that vanishes says nothing, and over a link that nobody holds any more
/// nothing is sent that would notice: each such machine would leave a connection for good.
/// </summary>
internal static class KeepAlive
{
    /// <summary>Seconds without a byte from the other end until the first question.</summary>
    public const int Idle = 60;

    /// <summary>Seconds from one question without an answer to the next.</summary>
    public const int Interval = 10;

    /// <summary>Questions without an answer after which the connection is reset.</summary>
    public const int Questions = 3;

    /// <summary>How long a connection to a machine that vanished stands when nothing is sent over it.</summary>
    public static readonly TimeSpan Longest = TimeSpan.FromSeconds(Idle + (Interval * Questions));
}
