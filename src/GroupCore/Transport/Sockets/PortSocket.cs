using GroupCore.Transport.Credentials;

namespace GroupCore.Transport.Sockets;

/// <summary>One connection of a port. Used by the loop alone.</summary>
internal abstract class PortSocket
{
    /// <summary>What the user of the port keeps with the connection.</summary>
    public object? Owner { get; set; }

    /// <summary>Whether it was closed; it then produces no event.</summary>
    public bool IsClosed { get; protected set; }

    /// <summary>Who the other end has shown to be; null without credentials, and before it has.</summary>
    public NodeIdentity? Identity { get; protected set; }

    /// <summary>Whether the other end has begun to show who it is.</summary>
    public virtual bool HasSpoken => true;

    /// <summary>Whether bytes that arrive are not reported (<see cref="ISocketPort.Pause"/>).</summary>
    public bool IsPaused { get; set; }
}
