namespace GroupCore.Transport.Sockets;

/// <summary>A descriptor registered with epoll, and what its edges have reported.</summary>
internal sealed class EpollSocket(int descriptor, int slot, uint generation) : PortSocket
{
    public int Descriptor => descriptor;

    public int Slot => slot;

    public uint Generation => generation;

    /// <summary>The connection is made; before that, writability tells the outcome of the dial.</summary>
    public bool IsConnected { get; set; }

    /// <summary>Bytes may be waiting: an edge came, and since then no receive has found the socket empty.</summary>
    public bool IsReadable { get; set; }

    /// <summary>The other end has finished: receives go on until one shows the end, since no further edge comes.</summary>
    public bool IsEnded { get; set; }

    /// <summary>The socket did not take a whole send.</summary>
    public bool IsBlocked { get; set; }

    /// <summary>Whether it stands in the list of sockets to receive from.</summary>
    public bool IsListed { get; set; }

    public void MarkClosed() => IsClosed = true;
}
