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

    /// <summary>There may be bytes to receive, or the connection ended.</summary>
    void OnReadable(PortSocket socket);

    /// <summary>A send that the socket did not take whole can go on.</summary>
    void OnWritable(PortSocket socket);
}
