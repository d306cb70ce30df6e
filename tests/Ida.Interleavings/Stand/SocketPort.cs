namespace GroupCore.Transport.Sockets;

/// <summary>Stands in for the real ones.</summary>
internal sealed class SocketPort : ISocketPort
{
    public void Dispose()
    {
    }
}
