using System.Net.Sockets;
using GroupCore.Runtime;
using GroupCore.Transport.Sockets;

namespace GroupCore.Transport.Mesh;

/// <content>Making connections, and making them again.</content>
internal sealed partial class TcpMesh
{
    private const long ShortLife = 1000 * Millisecond;
    private const long DialTime = 1000 * Millisecond;
    private const long ProofTime = 2000 * Millisecond;
    private const long HelloTime = 5000 * Millisecond;
    private const long ReportPause = 50 * Millisecond;
    private const long FramingPause = 1000 * Millisecond;
    private const long AcceptPause = 100 * Millisecond;
    private const long ForgetAfter = 60_000 * Millisecond;
    private const long SilentTime = 5000 * Millisecond;
    private const long ConfirmPause = 1000 * Millisecond;
    private const long DescriptorPause = 10 * Millisecond;
    private const int MaxStrangers = 64;
    private static readonly long[] RedialAfter = [0, 10 * Millisecond, 50 * Millisecond, 250 * Millisecond, 1000 * Millisecond];

    public void OnAccepted(PortSocket socket)
    {
        if (_strangers.Count >= MaxStrangers)
        {
            _node.Counters.Refuse(RefusalReason.Handshake);
            Drop(LeastKnown());
        }
        var connection = Begin(socket, ConnectionKind.Accepted, null, HelloTime);
        _strangers.Add(connection);
    }

    // The oldest. With credentials one that has shown nothing yet: of those that have begun to and those that have not, one of which there are more, any of them. So neither a flood of silent strangers
    // nor one of others pushes out a member, which is one of few in its stage, as surely as it comes.
    private TcpConnection LeastKnown()
    {
        if (_port.Identity is null) return _strangers[0];
        int spoken = 0, silent = 0;
        foreach (var one in _strangers)
        {
            if (one.Socket.Identity is not null) continue;
            if (one.Socket.HasSpoken) spoken++;
            else silent++;
        }
        if (spoken + silent == 0) return _strangers[0];
        bool among = spoken > silent;
        for (int first = (int)_random.Next(0, _strangers.Count), i = 0; ; i++)
            if (_strangers[(first + i) % _strangers.Count] is { Socket.Identity: null } one && one.Socket.HasSpoken == among) return one;
    }

    public void OnAcceptFailed(bool noDescriptor)
    {
        _node.Counters.Refuse(RefusalReason.Exhausted);
        // A guest's descriptor serves the next connection, of a member or of another guest.
        long pause = noDescriptor && TryDisplace(Connected) ? Millisecond : AcceptPause;
        _timers.Set(_node.Now + pause, new AcceptPauseEnd(_port), 0);
    }

    public void OnDialled(PortSocket socket, DialResult result)
    {
        var connection = (TcpConnection)socket.Owner!;
        if (connection.State != ConnectionState.Connecting) return;
        if (result == DialResult.Connected)
        {
            if (_port.Identity is not null) Extend(connection, DialTime);
            Become(connection, ConnectionState.AwaitAck);
            SayHello(connection);
            return;
        }
        DialFailed(connection, result == DialResult.Refused ? LinkFault.Refused : LinkFault.Unreachable, result == DialResult.Untrusted ? FramingPause : 0);
    }

    // A host that answers gets time for what both ends have to show each other, three round trips and some milliseconds of both machines.
    public void OnReached(PortSocket socket) => Extend((TcpConnection)socket.Owner!, ProofTime);

    public void OnCredentialsTrouble(string what) => TellCredentials(what);

    public void OnUntrusted(PortSocket socket, string why)
    {
        _node.Counters.Refuse(RefusalReason.Untrusted);
        TellUntrusted(socket, why);
    }

    public void OnDeadline(TcpConnection connection)
    {
        if (connection.Kind != ConnectionKind.Accepted)
        {
            DialFailed(connection, LinkFault.Unreachable, 0);
            return;
        }
        if (connection.AwaitsHello) _node.Counters.Refuse(RefusalReason.Handshake);
        Drop(connection);
    }

    public void OnRedial(LinkPeer peer)
    {
        if (peer.Phase != LinkPhase.Up && peer is { IsOpened: false, Attempt: 0 }) Fail(peer, LinkFault.Rejected);
        else if (peer.Phase == LinkPhase.Down) DialOnce(peer);
        else if (peer.IsOpened || peer.IsHeld) Confirm(peer);
    }

    // A peer that nobody asks for and that may not be dialled now has 60 s to come back, and the next call that asks for it dials it.
    private void DialOnce(LinkPeer peer)
    {
        if (!peer.IsOpened && _node.Now < peer.NoDialBefore) RedialLater(peer, 0);
        else Dial(peer);
    }

    private void Dial(LinkPeer peer, ConnectionKind kind = ConnectionKind.Dialled)
    {
        if (_stopping) return;
        if (_node.Now < peer.NoDialBefore)
        {
            if (peer.IsOpened && peer.Phase == LinkPhase.Down) Redial(peer, peer.NoDialBefore - _node.Now);
            return;
        }
        if (kind != ConnectionKind.Probe) _timers.Cancel(peer.Redial);
        if (_muted.IsMuted(peer.Culprit, _node.Now))
        {
            Report(peer, LinkFault.Unreachable);
            if (kind != ConnectionKind.Probe) RedialLater(peer, FramingPause);
            return;
        }
        if (TryDial(peer, out _) is not { } socket)
        {
            Report(peer, LinkFault.Unreachable);
            if (kind != ConnectionKind.Probe) RedialLater(peer, 0);
            return;
        }
        var connection = Begin(socket, kind, peer, DialTime);
        if (kind == ConnectionKind.Probe)
        {
            peer.Probing = connection;
            return;
        }
        peer.Dialling = connection;
        Become(peer, LinkPhase.Dialling);
    }

    // Null when the system refuses. If no descriptor is left, a guest gives up its own, and the dial is repeated at once, before a newcomer takes the descriptor.
    private PortSocket? TryDial(LinkPeer peer, out bool noDescriptor)
    {
        noDescriptor = false;
        while (true)
        {
            try
            {
                return _port.Dial(peer.EndPoint);
            }
            catch (Exception error) when (error is IOException or SocketException)
            {
                bool again = !noDescriptor;
                noDescriptor = error is NoDescriptorException;
                if (!again || !noDescriptor || !TryDisplace(guest => guest != peer && Connected(guest))) return null;
            }
        }
    }

    private TcpConnection Begin(PortSocket socket, ConnectionKind kind, LinkPeer? peer, long time)
    {
        var connection = new TcpConnection(this, socket, kind, peer);
        socket.Owner = connection;
        connection.Deadline = _timers.Set(_node.Now + time, connection, 0);
        _connections.Add(connection);
        return connection;
    }

    private void Extend(TcpConnection connection, long time)
    {
        if (connection.State != ConnectionState.Connecting) return;
        _timers.Cancel(connection.Deadline);
        connection.Deadline = _timers.Set(_node.Now + time, connection, 0);
    }

    private void DialFailed(TcpConnection connection, LinkFault fault, long pause)
    {
        var peer = connection.Peer!;
        Drop(connection);
        if (connection.Kind == ConnectionKind.Confirming)
        {
            Unconfirmed(peer);
            return;
        }
        peer.IsVacant = fault == LinkFault.Refused;
        if (!connection.WasAnswered && peer.Connection is null) peer.SilentSince = Math.Min(peer.SilentSince, _node.Now);
        if (connection.Kind == ConnectionKind.Probe)
        {
            peer.Probing = null;
            Report(peer, fault);
            return;
        }
        peer.Dialling = null;
        Become(peer, LinkPhase.Down);
        // A node that answered, in whatever way, can say who it is at a later dial.
        if (!connection.WasAnswered && pause == 0 && TryBelieve(peer)) return;
        Report(peer, fault);
        RedialLater(peer, pause);
    }

    private void Report(LinkPeer peer, LinkFault fault)
    {
        if (peer.ReportedAt != long.MinValue && _node.Now - peer.ReportedAt < ReportPause) return;
        peer.ReportedAt = _node.Now;
        Raise(peer, fault);
    }

    private void RedialLater(LinkPeer peer, long pause)
    {
        // A peer that only dialled in is not dialled, since only the peer itself says that this is its address: it comes back or is forgotten.
        if (!peer.IsOpened)
        {
            peer.Attempt = 0;
            Redial(peer, ForgetAfter);
            return;
        }
        RedialInTurn(peer, pause);
    }

    private void RedialInTurn(LinkPeer peer, long pause)
    {
        peer.Attempt = Math.Min(peer.Attempt + 1, RedialAfter.Length - 1);
        long delay = Math.Max(pause, RedialAfter[peer.Attempt]);
        Redial(peer, delay - (delay / 4) + _random.Next(0, delay / 2));
    }

    private void Redial(LinkPeer peer, long delay)
    {
        _timers.Cancel(peer.Redial);
        peer.Redial = _timers.Set(_node.Now + delay, peer, 0);
    }

    // A connection that carried the session is gone, and the end that dialled it dials again. If nobody needs the peer any more, it dials only once, to learn whether
    // the other end has closed the session: otherwise the next user would send into a session that no longer exists. Pauses between dials keep this from going on
    // without end when the other end accepts and closes at once.
    private void Broken(TcpConnection connection, long pause)
    {
        var peer = connection.Peer!;
        Drop(connection);
        peer.Connection = null;
        Become(peer, LinkPhase.Down);
        peer.Session.Detach();
        peer.ShortLived = !peer.IsOpened && _node.Now - connection.UpAt < ShortLife ? Math.Min(peer.ShortLived + 1, RedialAfter.Length) : 0;
        peer.Attempt = Math.Max(0, peer.ShortLived - 1);
        Raise(peer, LinkFault.Reset);
        if (pause > 0 && peer.IsOpened) Redial(peer, pause);
        else if (pause == 0 && connection.Kind == ConnectionKind.Dialled)
        {
            if (peer.ShortLived == 0) DialOnce(peer);
            else RedialInTurn(peer, 0);
        }
        else
        {
            RedialLater(peer, 0);
        }
    }

    private void Drop(TcpConnection connection)
    {
        if (connection.State == ConnectionState.Closed) return;
        Become(connection, ConnectionState.Closed);
        _timers.Cancel(connection.Deadline);
        _port.Close(connection.Socket);
        _strangers.Remove(connection);
        _connections.Remove(connection);
        if (connection.Input is { } input) _dropped.Add(input);
        connection.Input = null;
        CountInput(connection);
    }

    private sealed class AcceptPauseEnd(ISocketPort port) : ITimerTarget
    {
        public void OnTimer(long token) => port.ResumeAccepting();
    }
}
