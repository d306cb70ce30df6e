namespace GroupCore.Transport.Sockets;

/// <summary>How a dialled connection came out.</summary>
internal enum DialResult
{
    /// <summary>Connected.</summary>
    Connected,

    /// <summary>The host answered that nobody listens there.</summary>
    Refused,

    /// <summary>No way to the host.</summary>
    Unreachable,
}
