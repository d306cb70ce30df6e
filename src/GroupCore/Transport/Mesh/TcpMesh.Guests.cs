using GroupCore.Runtime;

namespace GroupCore.Transport.Mesh;

/// <content>Guests: peers that dialled in and that this node never asked for, or no longer needs. A guest that nobody vouches for is a stranger.</content>
internal sealed partial class TcpMesh
{
    private const long VouchTime = 60_000 * Millisecond;
    private bool _vouchesEnd, _seeksRoom;
    private long _seekAt;

    public void Hold(int peer)
    {
        if (Find(peer) is { } held) held.Holds++;
    }

    public void Release(int peer)
    {
        if (Find(peer) is not { IsOver: false } released || --released.Holds > 0 || !released.IsOpened) return;
        (released.IsOpened, released.Attempt) = (false, 0);
        // A sender without a hold opens the peer again before the vouch ends. Until then the released link gives its place to no newcomer: newcomers wait.
        released.VouchedUntil = _node.Now + VouchTime;
        BecomeGuest(released);
        WeighAgain(released.VouchedUntil + 1);
        if (released.Phase == LinkPhase.Down) Redial(released, ForgetAfter);
    }

    private void BecomeGuest(LinkPeer peer)
    {
        peer.Place = _guests.Count;
        _guests.Add(peer);
        Weigh(peer);
    }

    private void AskedFor(LinkPeer peer)
    {
        peer.IsOpened = true;
        LeaveGuests(peer);
        Weigh(peer);
    }

    // Decides whether the peer is a stranger. Called for each frame that is queued, and when a vouch begins or ends, among others.
    private void Weigh(LinkPeer peer)
    {
        bool foreign = peer.Place >= 0 && peer.VouchedUntil < _node.Now;
        if (peer.Session.IsForeign == foreign) return;
        peer.Session.IsForeign = foreign;
        if (peer.Connection is { } connection) CountInput(connection);
        // Bytes that no longer count for the node are room for links that wait.
        if (foreign) Reopen();
    }

    private void WeighAgain(long at)
    {
        if (!_vouchesEnd) _timers.Set(at, new VouchesEnd(this), 0);
        _vouchesEnd = true;
    }

    // Weighs also guests to which nothing is sent any more: when a vouch ends, queued bytes no longer count for the node and must keep to the limit of a stranger.
    private void WeighGuests()
    {
        _vouchesEnd = false;
        long next = long.MaxValue;
        // Backwards: a link that ends is replaced in the list by the last one, which has been weighed already.
        for (int i = _guests.Count - 1; i >= 0; i--)
        {
            var guest = _guests[i];
            Weigh(guest);
            if (guest.Session.HoldsTooMuch) Fail(guest, LinkFault.Overflow);
            else if (!guest.Session.IsForeign) next = Math.Min(next, guest.VouchedUntil + 1);
        }
        while (_guests.Count > _mostGuests && TryDisplace(static _ => true))
        {
        }
        if (next < long.MaxValue) WeighAgain(next);
        BoundStrangersInput();
    }

    private void SeekRoom(long delay)
    {
        if (_seeksRoom) return;
        _seeksRoom = true;
        _seekAt = _node.Now + delay;
        _timers.Set(_seekAt, new RoomSearch(this), 0);
    }

    private void SeekRoom()
    {
        _seeksRoom = false;
        int most = _node.Now - _seekAt > LinkBacklog.SeekEvery ? 0 : LinkBacklog.MostAtOnce;
        for (int i = 0; i < most && _backlog.IsSought && RoomGiver() is { } giver; i++) Fail(giver, LinkFault.Rejected);
        if (_backlog.IsSought) SeekRoom(LinkBacklog.SeekEvery);
    }

    // The link that frees the most room, so that few links end.
    private LinkPeer? RoomGiver()
    {
        LinkPeer? most = null;
        for (int number = _peers.Next(0); number >= 0; number = _peers.Next(number + 1))
        {
            if (_peers[number] is { } peer && LinkBacklog.Gives(peer.Session, peer.Holds, peer.HeardAt, _node.Now) && (most is null || peer.Session.Backlog > most.Session.Backlog)) most = peer;
        }
        return most;
    }

    private void LeaveGuests(LinkPeer peer)
    {
        if (peer.Place < 0) return;
        var last = _guests[^1];
        (_guests[peer.Place], last.Place) = (last, peer.Place);
        _guests.RemoveAt(_guests.Count - 1);
        peer.Place = -1;
    }

    private bool TryMakePlace() => _numbers < _mostGuestNumbers && (_guests.Count < _mostGuests || TryDisplace(static _ => true));

    private static bool Connected(LinkPeer guest) => guest.Connection is not null;

    // Looks at all guests, but only when a newcomer finds no place, no descriptor is left for a connection, or unfinished frames of strangers take too many bytes.
    private bool TryDisplace(Func<LinkPeer, bool> which)
    {
        if (MostSilent(guest => guest.VouchedUntil < _node.Now && which(guest)) is not { } silent) return false;
        Displace(silent);
        return true;
    }

    private LinkPeer? MostSilent(Func<LinkPeer, bool> which)
    {
        LinkPeer? silent = null;
        foreach (var guest in _guests)
            if (which(guest) && (silent is null || guest.HeardAt < silent.HeardAt)) silent = guest;
        return silent;
    }

    private void Displace(LinkPeer guest)
    {
        _node.Counters.Refuse(RefusalReason.Displaced);
        Fail(guest, LinkFault.Rejected);
    }

    private sealed class VouchesEnd(TcpMesh mesh) : ITimerTarget
    {
        public void OnTimer(long token) => mesh.WeighGuests();
    }

    private sealed class RoomSearch(TcpMesh mesh) : ITimerTarget
    {
        public void OnTimer(long token) => mesh.SeekRoom();
    }
}
