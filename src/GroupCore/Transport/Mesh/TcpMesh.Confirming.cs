using GroupCore.Runtime;

namespace GroupCore.Transport.Mesh;

/// <content>
/// Whether a peer that dialled in is the node that it says it is. Without credentials there is one sign: the node that listens at the address where the peer was
/// asked for knows the session, by the names that both ends gave it. A stranger between the two knows at most one name, and the question reveals none.
/// </content>
internal sealed partial class TcpMesh
{
    // This node asks for a peer that only dialled in: asks the node that listens at the peer's address whether it is that peer. Until it answers nothing is sent.
    private void Confirm(LinkPeer peer)
    {
        if (_stopping || peer is not { IsConfirmed: false, Confirming: null, Phase: LinkPhase.Up }) return;
        if (TryDial(peer, out bool noDescriptor) is { } socket) peer.Confirming = Begin(socket, ConnectionKind.Confirming, peer, DialTime);
        else if (!noDescriptor || !MayWait(peer)) Unconfirmed(peer);
        peer.Session.IsInputHeld = peer.IsHeld;
    }

    // If there is no descriptor for the question, the peer is held for as long as an answer might take: a stranger that uses up the descriptors
    // must not thereby decide which node is believed.
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

    // The next poll delivers frames that came meanwhile, and queued frames are sent. Observers are told first: some hold frames that came before the peer was settled.
    private void Release(LinkPeer peer, bool held)
    {
        if (peer.IsHeld) return;
        if (held && peer.Phase == LinkPhase.Up) Raise(peer, LinkNews.Up);
        if (peer.Connection is { } connection) _port.Resume(connection.Socket);
        MarkDirty(peer);
    }

    // No node is there, none answers the question, or it could not be asked: the connection is used all the same. The question is repeated, since what the peer
    // decides for others is not believed before the peer is confirmed.
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
        else if (Denies(ack) && !peer.IsProven)
        {
            Denied(peer);
        }
        else
        {
            // Of a node with credentials this says only that it cannot be reached where it says.
            DialFailed(connection, LinkFault.Unreachable, 0);
        }
    }

    // The node that listens at the peer's address does not know the session: another node came under its id.
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

    // Forgets a node that came under the id of the peer. Queued frames wait for the peer. It is dialled at once, since a dial under way is dropped here, and a node
    // that is dialling in may still be refused. The other node has heard the name of the session, so the session gets a new one.
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

    // A node is asked for at one address, and a guest under its id says that it listens at another. The guest may be that node, with two addresses, or an
    // impostor. The node that listens at the address asked for says which, and frames wait until then.
    private int OpenBeside(LinkPeer guest, NodeAddress address, System.Net.IPEndPoint endPoint)
    {
        // If several nodes are asked for at one address, the address leads to the last one only.
        var peer = guest.Beside is { IsOver: false, NodeId: 0 } known && known.Address == address ? known
            : At(address) is { NodeId: 0 } there && (there.MeantId == 0 || there.MeantId == guest.NodeId) ? there
            : Add(address, endPoint, 0, asked: true);
        peer.MeantId = guest.NodeId;
        guest.Beside = peer;
        return AskFor(peer);
    }

    // No node answers that could say whether the guest under this id is the node that is meant. So the guest, which came first, is believed.
    private bool TryBelieve(LinkPeer peer)
    {
        if (peer is not { MeantId: not 0, NodeId: 0 } || !_byId.TryGetValue(peer.MeantId, out var guest) || guest.Phase != LinkPhase.Up) return false;
        // If the guest is held, it is also asked for at another address: the node there decides.
        if (!guest.IsHeld) guest.IsUnanswered = !guest.IsConfirmed;
        Alias(peer, guest);
        Release(guest, held: false);
        if (guest is { IsConfirmed: false, IsHeld: false }) ConfirmLater(guest);
        return true;
    }

    // The node that answers at the address has an id under which a guest dialled in: asks it whether it is that guest.
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
                // The word of the node here does not end the rival's link: the node at the address where the rival was asked for counts for more, and may be about to answer.
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
