namespace GroupCore.Transport.Mesh;

/// <summary>Phases of a <see cref="TcpConnection"/>; see <see cref="LinkPhases"/> for what may follow what.</summary>
internal enum ConnectionState
{
    /// <summary>Dialled, not connected.</summary>
    Connecting,

    /// <summary>Accepted, Hello not read.</summary>
    AwaitHello,

    /// <summary>The dialler was told the id it asked for: its next Hello must be a full one.</summary>
    AwaitFullHello,

    /// <summary>Hello sent, not answered.</summary>
    AwaitAck,

    /// <summary>The id was asked for and told, the full Hello is sent, not answered.</summary>
    AwaitFullAck,

    /// <summary>Carries a session.</summary>
    Up,

    /// <summary>Answered with a refusal: closes when that is sent.</summary>
    Closing,

    /// <summary>Over.</summary>
    Closed,
}
