namespace GroupCore.Transport;

/// <summary>Phases of a <see cref="TcpConnection"/>.</summary>
internal enum ConnectionState
{
    /// <summary>Dialled, not connected.</summary>
    Connecting,

    /// <summary>Accepted, Hello not read: the only phase in which the other end is nobody.</summary>
    AwaitHello,

    /// <summary>Hello sent, not answered.</summary>
    AwaitAck,

    /// <summary>Carries a session.</summary>
    Up,

    /// <summary>Answered with a refusal: closes when that is sent.</summary>
    Closing,

    /// <summary>Over.</summary>
    Closed,
}
