namespace GroupCore.Transport.Mesh;

/// <summary>Phases of a <see cref="TcpConnection"/>; see <see cref="LinkPhases"/> for what may follow what.</summary>
internal enum ConnectionState
{
    /// <summary>Dialled, but not connected yet.</summary>
    Connecting,

    /// <summary>Accepted; the Hello has not been read yet.</summary>
    AwaitHello,

    /// <summary>The dialler was told the id it asked for: its next Hello must be a full one.</summary>
    AwaitFullHello,

    /// <summary>The Hello was sent, but not answered yet.</summary>
    AwaitAck,

    /// <summary>The id was asked for and told; the full Hello was sent, but not answered yet.</summary>
    AwaitFullAck,

    /// <summary>Carries a session.</summary>
    Up,

    /// <summary>Answered with a refusal: closes when the refusal has been sent.</summary>
    Closing,

    /// <summary>Over.</summary>
    Closed,
}
