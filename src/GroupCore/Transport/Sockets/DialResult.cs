namespace GroupCore.Transport.Sockets;

/// <summary>The outcome of a dial.</summary>
internal enum DialResult
{
    /// <summary>Connected.</summary>
    Connected,

    /// <summary>The host answered that nobody listens there.</summary>
    Refused,

    /// <summary>The dial failed in another way, as when the host cannot be reached.</summary>
    Unreachable,

    /// <summary>The host answered, and did not show that it belongs to the cluster (<see cref="ISocketPortEvents.OnUntrusted"/>).</summary>
    Untrusted,
}
