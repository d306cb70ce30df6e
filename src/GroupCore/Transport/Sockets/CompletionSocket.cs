using System.Net.Sockets;

namespace GroupCore.Transport.Sockets;

/// <summary>A socket with at most one receive and one send under way. A receive only waits for bytes, and a send has a buffer while it is under way.</summary>
internal sealed class CompletionSocket : PortSocket
{
    public CompletionSocket(Socket socket, EventHandler<SocketAsyncEventArgs> completed)
    {
        Socket = socket;
        foreach (var operation in new[] { Input, Output })
        {
            operation.UserToken = this;
            operation.Completed += completed;
        }
    }

    public Socket Socket { get; }

    public SocketAsyncEventArgs Input { get; } = new(true);

    public SocketAsyncEventArgs Output { get; } = new(true);

    /// <summary>The bytes of the send under way.</summary>
    public Slab? Sending { get; set; }

    /// <summary>Bytes have arrived, and not all have been read.</summary>
    public bool IsReadable { get; set; }

    /// <summary>Whether it stands in the list of sockets to receive from.</summary>
    public bool IsListed { get; set; }

    /// <summary>A send is under way.</summary>
    public bool IsSending { get; set; }

    /// <summary>The user wanted to send more than was taken.</summary>
    public bool IsBlocked { get; set; }

    /// <summary>The other end has finished, or the connection broke.</summary>
    public bool IsEnded { get; set; }

    public void MarkClosed() => IsClosed = true;
}
