using GroupCore.Runtime;
using GroupCore.Wire;

namespace GroupCore.Transport.Mesh;

/// <content>Hello and HelloAck.</content>
internal sealed partial class TcpMesh
{
    private void SayHello(TcpConnection connection)
    {
        var peer = connection.Peer!;
        // The question about a rival is only whether its session is known.
        var subject = connection.Rival ?? peer;
        bool probe = connection.Kind != ConnectionKind.Dialled || connection.Rival is not null;
        var hello = new HelloFrame(_cluster, HelloFrame.Version, HelloFrame.Version, probe, _node.Id, subject.NodeId, subject.Token, subject.PeerToken,
            subject.Session.Received, Local.Text, _start);
        // The node that is asked may not be the one that has the session, and must not learn the session's names.
        if (probe) hello = hello with { Token = Digest(subject, subject.Token), PeerToken = Digest(subject, 0), Received = 0 };
        else if (hello.Expected == 0) hello = hello with { Token = HelloFrame.NoName };
        connection.Control = hello.ToFrame();
        SendControl(connection);
    }

    // Reads one handshake frame; false when it is not complete.
    private bool TryHandshake(TcpConnection connection, ReadOnlySpan<byte> bytes)
    {
        if (!FrameHeader.TryRead(bytes, out var header)) return false;
        bool accepting = connection.AwaitsHello;
        // Frames of any version are read: the body says which versions a node speaks, and a node that speaks no common one is told so.
        if (header.Type != (accepting ? FrameType.Hello : FrameType.HelloAck) || header.Length is < FrameHeader.Size - 4 or > LinkLimits.HelloBytes - 4)
        {
            Refuse(connection, RefusalReason.Framing);
            return true;
        }
        if (bytes.Length < header.Length + 4) return false;
        connection.Start += header.Length + 4;
        var body = bytes.Slice(FrameHeader.Size, header.BodyLength);
        if (accepting) OnHello(connection, body);
        else OnHelloAck(connection, body);
        return true;
    }

    private void OnHello(TcpConnection connection, ReadOnlySpan<byte> body)
    {
        if (!HelloFrame.TryRead(body, out var hello) || !EndPointText.TryParse(hello.Listen, out var listen))
        {
            Refuse(connection, RefusalReason.Malformed);
        }
        else if (hello.Cluster != _cluster || hello.MinVersion > HelloFrame.Version || hello.MaxVersion < HelloFrame.Version)
        {
            _node.Counters.Refuse(RefusalReason.WrongCluster);
            bool foreign = hello.Cluster != _cluster;
            if (foreign) TellRefused(listen, "it belongs to another cluster");
            else TellRefusedVersion(hello, listen);
            Answer(connection, foreign ? HelloStatus.WrongCluster : HelloStatus.WrongVersion);
        }
        else if (!IsOwnId(connection, hello.NodeId, hello.Start))
        {
            TellRefused(listen, "its id does not belong to its credentials");
            Refuse(connection, RefusalReason.WrongSender);
        }
        else if (_muted.IsMuted(Culprit(connection, hello.NodeId), _node.Now))
        {
            _node.Counters.Refuse(RefusalReason.Muted);
            TellRefused(listen, "it is muted");
            Answer(connection, HelloStatus.Full);
        }
        else if (hello.Expected == 0)
        {
            if (connection.State == ConnectionState.AwaitFullHello) Refuse(connection, RefusalReason.Unexpected);
            else Answer(connection, HelloStatus.Identified);
        }
        else if (hello.Expected != _node.Id || hello.NodeId == _node.Id)
        {
            Answer(connection, HelloStatus.Replaced);
        }
        else if (hello.Probe)
        {
            bool known = _byId.TryGetValue(hello.NodeId, out var peer) && Digest(peer, peer.Token) == (peer.PeerToken != 0 ? hello.Token : hello.PeerToken);
            Answer(connection, known ? HelloStatus.Accepted : HelloStatus.Forgotten);
        }
        else
        {
            Admit(connection, hello, listen);
        }
    }

    private void Admit(TcpConnection connection, in HelloFrame hello, System.Net.IPEndPoint listen)
    {
        if (_byId.TryGetValue(hello.NodeId, out var peer) && !IsSameSession(peer, hello))
        {
            if (hello.PeerToken != 0)
            {
                Answer(connection, HelloStatus.Forgotten);
                return;
            }
            // With credentials the same id is the same node; still this may be an old Hello of it, read late.
            if (peer.Connection is not null || (connection.Socket.Identity is null && peer is { IsConfirmed: true, IsVacant: false } && _node.Now - peer.SilentSince < SilentTime))
            {
                // The newcomer is an impostor, or it is the node itself and this end has not yet read that the old session ended. Something is sent over a standing
                // connection: if no node is there, it breaks, and the newcomer, which tries again, gets in. A confirmed peer without a connection is dialled at its
                // address. When no node has answered there for some seconds, the newcomer is believed, as if nobody listened there: membership waits longer for a
                // node that is cut off than a node that starts anew waits here.
                if (peer is { Connection: null, Dialling: null }) Dial(peer);
                peer.Session.AcknowledgeNow(_node.Now);
                MarkDirty(peer);
                _node.Counters.Refuse(RefusalReason.WrongSender);
                Answer(connection, HelloStatus.Superseded);
                return;
            }
            // The node starts anew: it has closed the session that is known here, or that session was another node's.
            if (peer.IsUntouched)
            {
                ForgetOther(peer);
            }
            else
            {
                Fail(peer, LinkFault.Rejected);
                peer = null;
            }
        }
        if (peer is null)
        {
            if (hello.PeerToken != 0 || _stopping || !TryMakePlace())
            {
                Answer(connection, hello.PeerToken != 0 ? HelloStatus.Forgotten : HelloStatus.Full);
                return;
            }
            // Added even if this node dials that address itself: its own dial tells which node is there.
            peer = Add(EndPointText.Format(listen), listen, hello.NodeId, asked: false);
        }
        else if (peer is { IsOpened: true, IsVacant: false, Connection: null, PeerToken: 0, Attempt: 0 } && connection.Socket.Identity is null && peer.Address != EndPointText.Format(listen))
        {
            // The peer is being dialled at the address where it was asked for. Once such a dial has failed, the newcomer may be the peer itself, which refuses this
            // node's dial just as this node refuses the peer's. From then on a newcomer is let in, and confirmed if this node asked for it.
            _node.Counters.Refuse(RefusalReason.WrongSender);
            Answer(connection, HelloStatus.Superseded);
            return;
        }
        else if (_stopping && connection.Socket.Identity is null && peer is { IsOpened: true, IsConfirmed: false, IsUnanswered: false })
        {
            // A node that stops asks nobody who the newcomer is, so what is queued for the peer would leave to the newcomer at once.
            Answer(connection, HelloStatus.Full);
            return;
        }
        if (peer.IsUntouched && hello.Received > 0)
        {
            // Nothing was sent, so the peer cannot have received anything.
            _node.Counters.Refuse(RefusalReason.WrongSender);
            Answer(connection, HelloStatus.Forgotten);
            return;
        }
        if (IsLate(peer, hello))
        {
            Answer(connection, HelloStatus.Superseded);
            return;
        }
        if (peer.Dialling is { } dialling)
        {
            if ((_node.Id < hello.NodeId || peer.IsDisputed) && peer.Connection is null)
            {
                Answer(connection, HelloStatus.Superseded);
                return;
            }
            Drop(dialling);
            peer.Dialling = null;
            Become(peer, LinkPhase.Down);
        }
        if (peer.Connection is { } old)
        {
            peer.Session.Detach();
            Drop(old);
            peer.Connection = null;
            Become(peer, LinkPhase.Down);
        }
        if (!peer.Session.Attach(hello.Received))
        {
            Fail(peer, LinkFault.Rejected);
            Answer(connection, HelloStatus.Forgotten);
            return;
        }
        peer.PeerToken = hello.Token;
        connection.Peer = peer;
        Answer(connection, HelloStatus.Accepted);
        if (connection.State != ConnectionState.Closed) CameUp(connection);
        else Lost(peer);
    }

    // A Hello that its dialler has given up may be read late: after the link came up by another connection, and even after that one broke. Such a Hello reports less
    // than was acknowledged, or lacks this node's name of the session, which its dialler has from this node's own dial. Believing it would end the link or the
    // standing connection.
    private static bool IsLate(LinkPeer peer, in HelloFrame hello) => hello.Received < peer.Session.Taken
        || (peer.Connection is { } standing && (!peer.Session.CanAttach(hello.Received) || (standing.Kind == ConnectionKind.Dialled && hello.PeerToken == 0)));

    // With credentials an id belongs to the identity that the connection has shown.
    private bool IsOwnId(TcpConnection connection, ulong id, ulong start) => _port.Identity is null || connection.Socket.Identity?.IdOf(start) == id;

    private static ulong Culprit(TcpConnection connection, ulong id) => connection.Socket.Identity?.IdOf(0) ?? id;

    // A session is the same when each end's name for it, as far as the other has learned it, agrees.
    private static bool IsSameSession(LinkPeer peer, in HelloFrame hello) =>
        (hello.PeerToken == 0 || hello.PeerToken == peer.Token) && (peer.PeerToken == 0 || peer.PeerToken == hello.Token);

    private ulong Digest(LinkPeer peer, ulong token) => HelloFrame.Digest(_node.Id, token, peer.NodeId, peer.PeerToken);

    private void OnHelloAck(TcpConnection connection, ReadOnlySpan<byte> body)
    {
        var peer = connection.Peer!;
        if (!HelloAckFrame.TryRead(body, out var ack))
        {
            Refuse(connection, RefusalReason.Malformed);
            return;
        }
        if (!IsOwnId(connection, ack.NodeId, ack.Start))
        {
            Refuse(connection, RefusalReason.WrongSender);
            return;
        }
        if (connection.Socket.Identity is not null && _muted.IsMuted(Culprit(connection, ack.NodeId), _node.Now))
        {
            DialFailed(connection, LinkFault.Unreachable, FramingPause);
            return;
        }
        connection.WasAnswered = true;
        peer.SilentSince = long.MaxValue;
        if (connection.Rival is { } rival)
        {
            OnRivalJudged(connection, rival, ack);
            return;
        }
        if (connection.Kind == ConnectionKind.Confirming)
        {
            OnConfirmed(connection, peer, ack);
            return;
        }
        switch (ack.Status)
        {
            case HelloStatus.Identified:
                Identified(connection, peer, ack);
                break;
            case HelloStatus.Accepted when ack.NodeId != peer.NodeId:
            case HelloStatus.Replaced:
                OnOther(connection, ack, LinkFault.Replaced);
                break;
            case HelloStatus.Accepted when connection.Kind == ConnectionKind.Probe:
                Drop(connection);
                peer.Probing = null;
                Raise(peer, LinkNews.Up);
                break;
            case HelloStatus.Forgotten when peer is { IsUntouched: true, PeerToken: not 0 }:
                Denied(peer);
                break;
            case HelloStatus.Accepted when (peer.PeerToken != 0 && peer.PeerToken != ack.Token) || ack.Token == 0 || !peer.Session.Attach(ack.Received):
            case HelloStatus.Forgotten:
                Fail(peer, LinkFault.Rejected);
                break;
            case HelloStatus.WrongVersion:
                TellVersion(peer.Address, ack.Version);
                OnOther(connection, ack, LinkFault.Rejected);
                break;
            case HelloStatus.WrongCluster:
                Fail(peer, LinkFault.WrongCluster);
                break;
            case HelloStatus.Accepted:
                peer.PeerToken = ack.Token;
                peer.Dialling = null;
                CameUp(connection);
                break;
            case HelloStatus.Superseded when connection.Kind != ConnectionKind.Probe:
                Drop(connection);
                peer.Dialling = null;
                Become(peer, LinkPhase.Down);
                RedialLater(peer, 0);
                // When two dials cross, one end gets this answer once or twice. If it gets more of them, something else stands in the way.
                if (peer.Attempt == RedialAfter.Length - 1) Report(peer, LinkFault.Unreachable);
                break;
            case HelloStatus.Full:
                DialFailed(connection, LinkFault.Unreachable, FramingPause);
                break;
            default:
                Refuse(connection, RefusalReason.Unexpected);
                break;
        }
    }

    private void Identified(TcpConnection connection, LinkPeer peer, in HelloAckFrame ack)
    {
        ulong nodeId = ack.NodeId;
        if (connection.State == ConnectionState.AwaitFullAck)
        {
            Refuse(connection, RefusalReason.Unexpected);
        }
        else if (nodeId == _node.Id)
        {
            Fail(peer, LinkFault.Itself);
        }
        else if (_muted.IsMuted(Culprit(connection, nodeId), _node.Now))
        {
            DialFailed(connection, LinkFault.Unreachable, FramingPause);
        }
        else if ((peer.NodeId != 0 && peer.NodeId != nodeId) || (peer.MeantId != 0 && peer.MeantId != nodeId))
        {
            OnOther(connection, ack, LinkFault.Replaced);
        }
        else if (peer.NodeId == 0 && _byId.TryGetValue(nodeId, out var known))
        {
            if (connection.Socket.Identity is not null)
            {
                Confirmed(known);
                Alias(peer, known);
            }
            else if (known is { IsConfirmed: false, PeerToken: not 0 }) AskAbout(connection, known);
            else Alias(peer, known);
        }
        else
        {
            TryClaim(peer, nodeId);
            Become(connection, ConnectionState.AwaitFullAck);
            SayHello(connection);
        }
    }

    // Another node answers, or one that the peer cannot be. Whoever can lead connections astray makes an honest node answer, so with credentials that ends a link only if the node that answers listens where the peer did, and no
    // connection to the peer stands, which has shown that it is the peer's.
    private void OnOther(TcpConnection connection, in HelloAckFrame ack, LinkFault fault)
    {
        var peer = connection.Peer!;
        if (_port.Identity is not null && (connection.Kind == ConnectionKind.Probe || ack.Listen != peer.Address.Text)) DialFailed(connection, LinkFault.Unreachable, 0);
        else Fail(peer, fault);
    }

    private void CameUp(TcpConnection connection)
    {
        var peer = connection.Peer!;
        Become(connection, ConnectionState.Up);
        Become(peer, LinkPhase.Up);
        _timers.Cancel(connection.Deadline);
        _timers.Cancel(peer.Redial);
        _strangers.Remove(connection);
        peer.Connection = connection;
        peer.IsKnown = true;
        peer.IsVacant = false;
        peer.SilentSince = long.MaxValue;
        peer.AskBefore = 0;
        peer.Identity = connection.Socket.Identity;
        if (connection.Kind == ConnectionKind.Dialled) Confirmed(peer);
        else if (peer.IsOpened) Confirm(peer);
        peer.Attempt = 0;
        peer.HeardAt = connection.UpAt = _node.Now;
        peer.ReportedAt = long.MinValue;
        Raise(peer, LinkNews.Up);
        Acknowledged(peer);
        MarkDirty(peer);
    }

    // The acceptor's answer could not be sent: the session waits for the next connection.
    private void Lost(LinkPeer peer)
    {
        peer.Session.Detach();
        RedialLater(peer, 0);
    }

    private void Answer(TcpConnection connection, HelloStatus status)
    {
        var peer = connection.Peer;
        var ack = new HelloAckFrame(status, HelloFrame.Version, _node.Id, peer?.Token ?? 0, peer?.Session.Received ?? 0, Local.Text, _start);
        connection.Control = ack.ToFrame();
        if (status == HelloStatus.Identified) Become(connection, ConnectionState.AwaitFullHello);
        else if (peer is null) Become(connection, ConnectionState.Closing);
        SendControl(connection);
    }

    private void Refuse(TcpConnection connection, RefusalReason reason)
    {
        _node.Counters.Refuse(reason);
        // Not when a node that dialled in only says that it is the peer: another node may listen where the peer was asked for.
        if (connection.Peer is { } peer && (peer.IsConfirmed || peer.IsProven || connection.Kind != ConnectionKind.Accepted)) peer.NoDialBefore = _node.Now + FramingPause;
        if (connection.State == ConnectionState.Up)
        {
            Broken(connection, FramingPause);
            Blame(connection.Peer!.Number);
        }
        else if (connection.Kind != ConnectionKind.Accepted) DialFailed(connection, LinkFault.Unreachable, FramingPause);
        else Drop(connection);
    }
}
