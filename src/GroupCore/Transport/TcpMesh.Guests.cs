using GroupCore.Runtime;

namespace GroupCore.Transport;

/// <content>Guests: peers that dialled in and that this node never asked for, or does not need any more. Strangers, as long as nobody vouches for them.</content>
internal sealed partial class TcpMesh
{
    private const long VouchTime = 60_000 * Millisecond;
    private bool _vouchesEnd;

    public void Hold(int peer)
    {
        if (Find(peer) is { } held) held.Holds++;
    }

    public void Release(int peer)
    {
        if (Find(peer) is not { IsOver: false } released || --released.Holds > 0 || !released.IsOpened) return;
        (released.IsOpened, released.Attempt) = (false, 0);
        // Who sends over it without a hold opens it again before the vouch ends. It does not end what stands that there is no place: newcomers wait.
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

    // Asked with each frame that is queued, and when a vouch ends.
    private void Weigh(LinkPeer peer)
    {
        bool foreign = peer.Place >= 0 && peer.VouchedUntil < _node.Now;
        if (peer.Session.IsForeign == foreign) return;
        peer.Session.IsForeign = foreign;
        if (peer.Connection is { } connection) CountInput(connection);
        // What does not count for the node any more is room for those that wait.
        if (foreign) Reopen();
    }

    private void WeighAgain(long at)
    {
        if (!_vouchesEnd) _timers.Set(at, new VouchesEnd(this), 0);
        _vouchesEnd = true;
    }

    // Also where nothing is sent any more: what waits does not count for the node from when nobody vouches for who does not take it, and is no more than for any stranger.
    private void WeighGuests()
    {
        _vouchesEnd = false;
        long next = long.MaxValue;
        // One that ends gives its place to one that was looked at.
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

    // All are looked at, but only when a newcomer finds no place, there is no descriptor for a connection, or frames in their midst hold too much.
    private bool TryDisplace(Func<LinkPeer, bool> which)
    {
        LinkPeer? silent = null;
        foreach (var guest in _guests)
        {
            if (guest.VouchedUntil >= _node.Now || !which(guest)) continue;
            if (silent is null || guest.HeardAt < silent.HeardAt) silent = guest;
        }
        if (silent is null) return false;
        _node.Counters.Refuse(RefusalReason.Displaced);
        Fail(silent, LinkFault.Rejected);
        return true;
    }

    private sealed class VouchesEnd(TcpMesh mesh) : ITimerTarget
    {
        public void OnTimer(long token) => mesh.WeighGuests();
    }
}
