using GroupCore.Runtime;

namespace GroupCore.Transport;

/// <content>
/// Whether a peer that dialled in is the one it says it is. Without credentials there is one sign: who listens at the address that is asked for
/// knows the session, by the names that both ends gave it; a stranger between the two knows one of them at most, and is told none by the question.
/// </content>
internal sealed partial class TcpMesh
{
    // Who only dialled in is asked for by its name: whoever listens there says whether it is it, and until then nothing is sent.
    private void Confirm(LinkPeer peer)
    {
        if (_stopping || peer is not { IsConfirmed: false, Confirming: null, Phase: LinkPhase.Up }) return;
        if (TryDial(peer, out bool noDescriptor) is { } socket) peer.Confirming = Begin(socket, ConnectionKind.Confirming, peer, DialTime);
        else if (!noDescriptor || !MayWait(peer)) Unconfirmed(peer);
        peer.Session.IsInputHeld = peer.IsHeld;
    }

    // Who can open connections until there is no descriptor for the question does not decide by that who is believed: it is as long as for an answer
    // as if it were asked.
    private bool MayWait(LinkPeer peer)
    {
        if (peer.AskBefore == 0) peer.AskBefore = _node.Now + DialTime;
        if (_node.Now >= peer.AskBefore || peer.IsUnanswered) return false;
        Redial(peer, DescriptorPause);
        return true;
    }

    private void Confirmed(LinkPeer peer)
    {
        bool held = peer.IsHeld;
        peer.IsConfirmed = true;
        peer.IsDisputed = false;
        _muted.Clear(peer.NodeId);
        Release(peer, held);
    }

    // What came meanwhile is delivered by the next poll, and what waits is sent. Who keeps what came before it was asked for hears of it first.
    private void Release(LinkPeer peer, bool held)
    {
        if (peer.IsHeld) return;
        if (held && peer.Phase == LinkPhase.Up) Raise(peer, LinkNews.Up);
        if (peer.Connection is { } connection) _port.Resume(connection.Socket);
        MarkDirty(peer);
    }

    // Nobody there, or nobody who says, or none could be asked: its connection serves all the same. It is asked again, since what it decides for others is not believed before.
    private void Unconfirmed(LinkPeer peer)
    {
        bool held = peer.IsHeld;
        (peer.Confirming, peer.AskBefore) = (null, 0);
        peer.IsUnanswered = !peer.IsConfirmed;
        if (!peer.IsConfirmed) ConfirmLater(peer);
        Release(peer, held);
    }

    private void ConfirmLater(LinkPeer peer)
    {
        if (peer.Phase == LinkPhase.Up) Redial(peer, ConfirmPause);
    }

    private void OnConfirmed(TcpConnection connection, LinkPeer peer, in HelloAckFrame ack)
    {
        if (ack.Status == HelloStatus.Accepted && ack.NodeId == peer.NodeId)
        {
            Confirmed(peer);
            Drop(connection);
            Unconfirmed(peer);
        }
        else if (Denies(ack))
        {
            Denied(peer);
        }
        else
        {
            DialFailed(connection, LinkFault.Unreachable, 0);
        }
    }

    // Who listens there does not know the session: it was another that came in its name.
    private void Denied(LinkPeer peer)
    {
        _node.Counters.Refuse(RefusalReason.WrongSender);
        if (peer.IsUntouched)
        {
            ForgetOther(peer);
            Dial(peer);
        }
        else
        {
            Fail(peer, LinkFault.Rejected);
        }
    }

    // What is queued waits for who is meant, who is dialled at once: the dial that was under way is dropped, and whoever comes may be refused after
    // all. The other has heard the name of the session, so that gets a new one.
    private void ForgetOther(LinkPeer peer)
    {
        bool wasUp = peer.Phase == LinkPhase.Up;
        DropAll(peer);
        if (peer.Phase != LinkPhase.Down) Become(peer, LinkPhase.Down);
        peer.Session.BeginAnew();
        (peer.Token, peer.PeerToken, peer.IsUnanswered, peer.IsDisputed) = (NewToken(), 0, false, true);
        Redial(peer, 0);
        if (wasUp) Raise(peer, LinkFault.Reset);
    }

    // The node is asked for elsewhere than where one that dialled in under its id says it listens. Both may be it, at two addresses of its own, or an
    // impostor: who listens where it is asked for says which, and what is sent waits for that.
    private int OpenBeside(LinkPeer guest, NodeAddress address, System.Net.IPEndPoint endPoint)
    {
        // Of several nodes that are asked for at one address the address tells the last one only.
        var peer = guest.Beside is { IsOver: false, NodeId: 0 } known && known.Address == address ? known
            : At(address) is { NodeId: 0 } there && (there.MeantId == 0 || there.MeantId == guest.NodeId) ? there
            : Add(address, endPoint, 0, asked: true);
        peer.MeantId = guest.NodeId;
        guest.Beside = peer;
        return AskFor(peer);
    }

    // Nobody is there to say whether who dialled in under the id is the one that is meant: whoever came first is believed.
    private bool TryBelieve(LinkPeer peer)
    {
        if (peer is not { MeantId: not 0, NodeId: 0 } || !_byId.TryGetValue(peer.MeantId, out var guest) || guest.Phase != LinkPhase.Up) return false;
        // Where it is asked for elsewhere too, who is there says it.
        if (!guest.IsHeld) guest.IsUnanswered = !guest.IsConfirmed;
        Alias(peer, guest);
        Release(guest, held: false);
        if (guest is { IsConfirmed: false, IsHeld: false }) ConfirmLater(guest);
        return true;
    }

    // Who answers at the address that is asked for has an id under which somebody dialled in: it says whether that was it.
    private void AskAbout(TcpConnection connection, LinkPeer guest)
    {
        connection.Rival = guest;
        Become(connection, ConnectionState.AwaitFullAck);
        SayHello(connection);
    }

    private void OnRivalJudged(TcpConnection connection, LinkPeer rival, in HelloAckFrame ack)
    {
        var peer = connection.Peer!;
        if (rival.IsOver || peer.NodeId != 0)
        {
            DialFailed(connection, LinkFault.Reset, 0);
        }
        else if (ack.Status == HelloStatus.Accepted && ack.NodeId == rival.NodeId)
        {
            Confirmed(rival);
            Alias(peer, rival);
        }
        else if (Denies(ack))
        {
            _node.Counters.Refuse(RefusalReason.WrongSender);
            if (rival.IsOpened)
            {
                // It does not end because somebody here says that it is the node: who is there where it was asked for says more, and may be about to.
                if (rival is { IsUntouched: true, Confirming: null, IsHeld: false }) ForgetOther(rival);
                Alias(peer, rival);
                return;
            }
            Fail(rival, LinkFault.Rejected);
            TryClaim(peer, rival.NodeId);
            Drop(connection);
            peer.Dialling = null;
            Become(peer, LinkPhase.Down);
            Dial(peer);
        }
        else
        {
            DialFailed(connection, LinkFault.Unreachable, 0);
        }
    }

    private static bool Denies(in HelloAckFrame ack) =>
        ack.Status is HelloStatus.Accepted or HelloStatus.Forgotten or HelloStatus.Replaced or HelloStatus.WrongCluster or HelloStatus.WrongVersion;
}
