using GroupCore.Membership;
using GroupCore.Runtime;
using GroupCore.Wire;

namespace GroupCore.Groups.Shared;

/// <summary>
/// The links to the members of the current view, by rank: frames out, tagged with slot and view; which members are known to be in the view; and room for bulk. Data,
/// state, answers and what a flush forwards wait for room; order, acknowledgements and the flush itself do not. On the loop; lives as long as the membership.
/// </summary>
internal sealed class ViewLinks(INode node, ushort slot)
{
    private int[] _peers = [];
    private int[] _others = [];
    private RankMap _rankOf = RankMap.Empty;
    private View? _view;
    private int _self = -1;
    private int _frameLength;
    // By rank: whether the member has said that it is in this view.
    private bool[] _here = [];
    // By rank: whether the link is not known yet to be the member's, so that frames that came over it have no sender yet.
    private bool[] _unsettled = [];
    // By rank: whether this view needs the link.
    private bool[] _held = [];
    // By rank: whether a link to the member was lost in this view.
    private bool[] _relinked = [];
    // By rank: whether the link had room since the last run of multicasts, while the next one waited.
    private bool[] _hadRoom = [];
    private bool _someHadRoom;

    /// <summary>The body of the next frame; filled by the caller and given to one <c>SendTo</c> before the next.</summary>
    public Span<byte> Frame(FrameType type, int bodyLength)
    {
        var body = Reserve(bodyLength);
        Head(type, bodyLength);
        return body;
    }

    /// <summary>Room for the body of the next frame, whose type and length <see cref="Head"/> says once it is written.</summary>
    public Span<byte> Reserve(int mostBody) => node.Links.Reserve(FrameHeader.Size + mostBody)[FrameHeader.Size..];

    /// <summary>Writes the header before the first bytes of the reserved room: they are the body.</summary>
    public void Head(FrameType type, int bodyLength) => _frameLength = FrameHeader.Write(node.Links.Reserved(FrameHeader.Size + bodyLength), type, slot, (uint)_view!.Id, bodyLength);

    public void SendTo(int rank) => node.Links.Send(_peers[rank], _frameLength);

    public void SendTo(ReadOnlySpan<int> ranks)
    {
        Span<int> peers = stackalloc int[ranks.Length];
        for (int i = 0; i < ranks.Length; i++) peers[i] = _peers[ranks[i]];
        node.Links.Send(peers, _frameLength);
    }

    public void SendToOthers() => node.Links.Send(_others, _frameLength);

    /// <summary>Opens the links to the members of the next view, then gives up those of the view before.</summary>
    /// <param name="view">The next view.</param>
    /// <param name="self">This member's rank in it.</param>
    /// <param name="isIn">Whether a peer has said that it is in that view.</param>
    public void Connect(View view, int self, Predicate<int> isIn)
    {
        int count = view.Members.Count;
        var (before, heldBefore) = (_peers, _held);
        (_view, _self) = (view, self);
        _peers = new int[count];
        _others = new int[count - 1];
        _relinked = new bool[count];
        (_hadRoom, _someHadRoom) = (new bool[count], false);
        (_here, _held, _unsettled) = (new bool[count], new bool[count], new bool[count]);
        for (int rank = 0, other = 0; rank < count; rank++)
        {
            _peers[rank] = -1;
            _here[rank] = rank == self;
            if (rank == self) continue;
            var member = view.Members[rank];
            _others[other++] = _peers[rank] = node.Links.Open(member.Address, member.Id.Node);
            node.Links.Hold(_peers[rank]);
            _held[rank] = true;
            _unsettled[rank] = !node.Links.IsSettled(_peers[rank]);
            _here[rank] = !_unsettled[rank] && isIn(_peers[rank]);
        }
        _rankOf = new(_peers);
        Release(before, heldBefore);
    }

    /// <summary>The membership is over.</summary>
    public void Close() => Release(_peers, _held);

    // Releases the links of a view that is over, once the next one holds its own.
    private void Release(int[] peers, bool[] held)
    {
        for (int rank = 0; rank < peers.Length; rank++)
            if (held[rank]) node.Links.Release(peers[rank]);
    }

    /// <summary>
    /// Gives up the links to members that take no part in the flush. Nothing has to reach them any more, and what is queued for a member that has gone must not take the room
    /// that the flush needs: the view would not end.
    /// </summary>
    public void OnWedged(Participants flush)
    {
        for (int rank = 0; rank < _held.Length; rank++)
        {
            if (flush[rank] || !_held[rank]) continue;
            _held[rank] = false;
            node.Links.Release(_peers[rank]);
        }
    }

    /// <summary>Whether this view still needs the link to another member.</summary>
    public bool IsHeld(int rank) => _held[rank];

    /// <summary>The rank behind a link, −1 for none.</summary>
    public int RankOf(int peer) => _rankOf[peer];

    /// <summary>The link to a member, −1 for this one.</summary>
    public int PeerOf(int rank) => _peers[rank];

    /// <summary>Whether a member is known to be in this view. Until then it has to hold frames of this view, and can hold only so many: so what no window bounds waits.</summary>
    public bool IsHere(int rank) => _here[rank];

    /// <summary>A member is known to be in this view; false if that was known before.</summary>
    public bool TryMeet(int rank) => !_here[rank] && (_here[rank] = true);

    /// <summary>Whether the link is not known yet to be the member's, so that frames that came over it have no sender yet.</summary>
    public bool IsUnsettled(int rank) => _unsettled[rank];

    /// <summary>Looks whether an unsettled link is the member's by now; true when what came over it before counts as sent by the member from here on.</summary>
    public bool TrySettle(int rank)
    {
        if (!_unsettled[rank] || !node.Links.IsSettled(_peers[rank])) return false;
        _unsettled[rank] = false;
        return true;
    }

    /// <summary>The link to a member is over although both live: opens another one. What was on it is lost, which <see cref="MarkLost"/> notes for the rest of the view.</summary>
    public void Relink(int rank)
    {
        var member = _view!.Members[rank];
        int again = node.Links.Open(member.Address, member.Id.Node);
        node.Links.Hold(again);
        node.Links.Release(_peers[rank]);
        (_peers[rank], _others[rank < _self ? rank : rank - 1]) = (again, again);
        _rankOf = new(_peers);
        // Nothing came over the new link yet, and none of its frames is delivered before it is settled.
        _unsettled[rank] = false;
    }

    /// <summary>Whether a link to a member was lost in this view, and with it perhaps frames to it and from it.</summary>
    public bool HasLost(int rank) => _relinked[rank];

    public void MarkLost(int rank) => _relinked[rank] = true;

    /// <summary>A kept frame of a member was malformed: blames that member, not the sender of the frame that is being handled.</summary>
    public void Blame(int rank) => node.Links.Blame(_peers[rank]);

    /// <summary>Bytes of bulk that may be sent to a member now; without any, an event of the link tells when.</summary>
    public long RoomTo(int rank) => rank == _self ? long.MaxValue : node.Links.Room(_peers[rank]);

    /// <summary>Whether there is no room to another member because this node as a whole has none.</summary>
    public bool WaitsForNode(int rank) => node.Links.WaitsForNode(_peers[rank]);

    /// <summary>Bytes that another member has taken from its link.</summary>
    public long TakenBy(int rank) => node.Links.Taken(_peers[rank]);

    /// <summary>
    /// Whether a run of multicasts may be sent to all others: each link has room, or had some since the last run, which other frames took while this run
    /// waited for other links. Links that are filled independently, each as fast as it goes, hardly ever have room in the same turn.
    /// </summary>
    public bool MayBeginRun()
    {
        for (int i = 0; i < _others.Length; i++)
            if (node.Links.Room(_others[i]) <= 0 && !(_hadRoom[i < _self ? i : i + 1] && node.Links.MayExceed(_others[i]))) return false;
        return true;
    }

    /// <summary>A run of multicasts begins: room that links had before no longer counts.</summary>
    public void OnRun()
    {
        if (!_someHadRoom) return;
        _hadRoom.AsSpan().Clear();
        _someHadRoom = false;
    }

    /// <summary>A link has room while a run of multicasts waits.</summary>
    public void NoteRoom(int rank) => _hadRoom[rank] = _someHadRoom = true;
}
