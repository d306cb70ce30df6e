namespace GroupCore.Transport.Sockets;

/// <summary>Stands in for the real one.</summary>
internal sealed class EpollPort : ISocketPort
{
    public void Dispose()
    {
    }
}
