namespace GroupCore.Transport.Sockets;

/// <summary>Stands in for the real one.</summary>
internal sealed class CompletionPort : ISocketPort
{
    public void Dispose()
    {
    }
}
