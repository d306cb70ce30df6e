namespace GroupCore.Transport.Mesh;

/// <summary>Who made a <see cref="TcpConnection"/>, and what for.</summary>
internal enum ConnectionKind
{
    /// <summary>The other end dialled it.</summary>
    Accepted,

    /// <summary>This node dialled it.</summary>
    Dialled,

    /// <summary>This node dialled it only to see who is there.</summary>
    Probe,

    /// <summary>This node dialled it to ask the node that listens there whether it is the node that dialled in under that id.</summary>
    Confirming,
}
