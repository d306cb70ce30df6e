using System.Net.Sockets;

namespace GroupCore.Transport.Sockets;

/// <summary>A socket with at most one receive and one send under way, each into its own buffer.</summary>
internal sealed class CompletionSocket : PortSocket
{
    private const int ReceiveBytes = 64 << 10;
    private const int SendBytes = 256 << 10;

    public CompletionSocket(Socket socket, EventHandler<SocketAsyncEventArgs> completed)
    {
        Socket = socket;
        Input.SetBuffer(new byte[ReceiveBytes], 0, ReceiveBytes);
        Output.SetBuffer(new byte[SendBytes], 0, SendBytes);
        foreach (var operation in new[] { Input, Output })
        {
            operation.UserToken = this;
            operation.Completed += completed;
        }
    }

    public Socket Socket { get; }

    public SocketAsyncEventArgs Input { get; } = new(true);

    public SocketAsyncEventArgs Output { get; } = new(true);

    /// <summary>Received bytes not taken yet: from here …</summary>
    public int Start { get; set; }

    /// <summary>… to here.</summary>
    public int End { get; set; }

    /// <summary>A receive is under way.</summary>
    public bool IsReceiving { get; set; }

    /// <summary>A send is under way.</summary>
    public bool IsSending { get; set; }

    /// <summary>The user wanted to send more than was taken.</summary>
    public bool IsBlocked { get; set; }

    /// <summary>The other end finished, or the connection broke.</summary>
    public bool IsEnded { get; set; }

    public void MarkClosed() => IsClosed = true;
}
