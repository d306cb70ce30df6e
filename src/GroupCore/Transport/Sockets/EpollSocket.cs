namespace GroupCore.Transport.Sockets;

/// <summary>A descriptor registered with epoll, and what its edges have reported.</summary>
internal sealed class EpollSocket(int descriptor, int slot, uint generation) : PortSocket
{
    public int Descriptor => descriptor;

    public int Slot => slot;

    public uint Generation => generation;

    /// <summary>The connection is made; before, writability means the outcome of dialling.</summary>
    public bool IsConnected { get; set; }

    /// <summary>Bytes may be waiting: an edge came and no receive has found it empty since.</summary>
    public bool IsReadable { get; set; }

    /// <summary>The other end has finished: receive until that shows, without another edge.</summary>
    public bool IsEnded { get; set; }

    /// <summary>A send was not taken whole.</summary>
    public bool IsBlocked { get; set; }

    /// <summary>Whether it stands in the list of sockets to receive from.</summary>
    public bool IsListed { get; set; }

    public void MarkClosed() => IsClosed = true;
}
