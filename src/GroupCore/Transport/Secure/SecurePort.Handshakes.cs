using GroupCore.Transport.Credentials;
using GroupCore.Transport.Sockets;

namespace GroupCore.Transport.Secure;

/// <content>Handshakes: what arrives is brought to them, what they make is sent, and what they end with is told.</content>
internal sealed partial class SecurePort
{
    private const int PieceBytes = 4096;

    private void Begin(SecureSocket socket)
    {
        socket.Handshake = new(socket, _credentials, _cluster, socket.Dials, _told);
        // Nothing is done for a stranger before it has sent a record.
        if (socket.Dials) Post(socket.Handshake);
    }

    private void Post(Handshake handshake)
    {
        if (handshake.MustPost()) _handshakes.Post(handshake);
    }

    // What was not begun leaves nothing behind: however long the thread is held up, it finds only what it has begun itself.
    private void Abandon(Handshake handshake)
    {
        // In this order: the thread says that it has begun before it says that nothing is posted.
        if ((!handshake.IsPosted && !handshake.HasBegun) || _handshakes.TryTakeBack(handshake))
        {
            handshake.Dispose();
            return;
        }
        handshake.Abandon();
        Post(handshake);
    }

    private void Bring(SecureSocket socket, Handshake handshake)
    {
        Span<byte> bytes = stackalloc byte[PieceBytes];
        int count = _under.Receive(socket.Under, bytes);
        if (count == 0) return;
        if (count > 0 && !handshake.Arrived(bytes[..count]))
        {
            Refuse(socket, "it sends too much before it has said who it is");
            return;
        }
        if (count < 0 && !handshake.IsPosted && !handshake.HasBegun)
        {
            End(socket);
            return;
        }
        if (count > 0 && !handshake.HasRecord) return;
        if (count < 0)
        {
            // An end is told again at each poll, and once is enough.
            handshake.End();
            _under.Pause(socket.Under);
        }
        Post(handshake);
    }

    // A handshake has something to send, or is over.
    private void GoOn(Handshake handshake)
    {
        var socket = handshake.Socket!;
        if (socket.Tls is not null || socket.IsRefused) return;
        bool isOver = handshake.TakeMade(_output);
        if (socket.IsClosed)
        {
            _output.Clear();
            if (isOver) handshake.Dispose();
            return;
        }
        bool sent = TrySendMade(socket);
        if (!isOver)
        {
            if (!sent) End(socket);
            return;
        }
        if (handshake.Trouble is { } trouble) _events.OnCredentialsTrouble(trouble);
        if (handshake.Other is { } other && sent)
        {
            TakeOver(socket, handshake, other);
            return;
        }
        socket.IsRefused = true;
        if (handshake.OwnFault.Length > 0) _events.OnCredentialsTrouble(handshake.OwnFault);
        Refuse(socket, handshake.Why);
    }

    private void TakeOver(SecureSocket socket, Handshake handshake, NodeIdentity other)
    {
        socket.MarkKnown(other);
        (socket.Tls, socket.Records, socket.Handshake) = (handshake.Tls, handshake.Stream, null);
        socket.Records.Output = _output;
        socket.Input.Set(handshake.TakeLeft(), _pool);
        // It may have been paused at an end, which is told again now.
        _under.Resume(socket.Under);
        if (socket.Dials) _events.OnDialled(socket, DialResult.Connected);
        if (!socket.IsClosed) List(socket);
    }

    // The user is told of a connection that it dialled, and finds one that it accepted to have ended.
    private void Refuse(SecureSocket socket, string why)
    {
        if (why.Length > 0) _events.OnUntrusted(socket, why);
        if (socket.IsClosed) return;
        if (socket.Dials)
        {
            Close(socket);
            _events.OnDialled(socket, why.Length > 0 ? DialResult.Untrusted : DialResult.Unreachable);
        }
        else
        {
            End(socket);
        }
    }
}
