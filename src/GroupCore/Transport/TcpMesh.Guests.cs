using GroupCore.Runtime;

namespace GroupCore.Transport;

/// <content>Guests: peers that dialled in and that this node never asked for. Strangers, as long as nobody vouches for them.</content>
internal sealed partial class TcpMesh
{
    private const long VouchTime = 60_000 * Millisecond;

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

    // A vouch ends without a sound: so this is asked with each frame that is queued.
    private void Weigh(LinkPeer peer) => peer.Session.IsForeign = peer.Place >= 0 && peer.VouchedUntil < _node.Now;

    private void LeaveGuests(LinkPeer peer)
    {
        if (peer.Place < 0) return;
        var last = _guests[^1];
        (_guests[peer.Place], last.Place) = (last, peer.Place);
        _guests.RemoveAt(_guests.Count - 1);
        peer.Place = -1;
    }

    private bool TryMakePlace() => _guests.Count < _mostGuests || TryDisplace(static _ => true);

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
}
