namespace GroupCore.Transport.Sockets;

/// <summary>What an <see cref="ISocketPort"/> tells, inside <see cref="ISocketPort.Poll"/> only.</summary>
internal interface ISocketPortEvents
{
    /// <summary>A connection was accepted.</summary>
    void OnAccepted(PortSocket socket);

    /// <summary>
    /// There is no descriptor for a connection (<paramref name="noDescriptor"/>), or no memory: the port accepts no connection until
    /// <see cref="ISocketPort.ResumeAccepting"/>.
    /// </summary>
    void OnAcceptFailed(bool noDescriptor);

    /// <summary>A dialled connection is made, or failed and is closed.</summary>
    void OnDialled(PortSocket socket, DialResult result);

    /// <summary>A dialled host has answered; what both ends have to show each other before the connection is made goes on.</summary>
    void OnReached(PortSocket socket)
    {
    }

    /// <summary>This node's own credentials cannot be renewed, or cannot be had; what was valid before is used on.</summary>
    void OnCredentialsTrouble(string what)
    {
    }

    /// <summary>The other end did not show that it belongs to the cluster, and why. Its end, or the failure of the dial, follows.</summary>
    void OnUntrusted(PortSocket socket, string why)
    {
    }

    /// <summary>There may be bytes to receive, or the connection ended.</summary>
    void OnReadable(PortSocket socket);

    /// <summary>A send that the socket did not take whole can go on.</summary>
    void OnWritable(PortSocket socket);
}
