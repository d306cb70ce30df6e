using GroupCore.Groups.PointToPoint;
using GroupCore.Runtime;
using GroupCore.Wire;

namespace GroupCore.Groups.Views;

/// <summary>
/// What this group asks of the links to its members: room for bulk, and another link where one was lost. Data, state, answers and what a
/// flush forwards wait for room; order, acknowledgements and the flush itself do not.
/// </summary>
internal sealed partial class GroupProtocol
{
    // By rank in this view.
    private Queue<ReplyOperation>?[] _replies = [];
    private int _repliesWaiting;
    private long _replyCostWaiting;
    private bool[] _relinked = [];
    private const int WhoWantRoom = 5;
    private byte[] _firstForRoom = [];
    // By rank: whether the link had room since the last run of multicasts, while the next one waited.
    private bool[] _hadRoom = [];
    private bool _someHadRoom;

    /// <summary>Bytes of bulk that may be sent to a member now; without any, <see cref="OnRoom"/> tells when.</summary>
    public long RoomTo(int rank) => rank == Rank ? long.MaxValue : Node.Links.Room(_peers[rank]);

    /// <summary>Bytes that another member has taken from its link.</summary>
    public long TakenBy(int rank) => Node.Links.Taken(_peers[rank]);

    /// <summary>
    /// Whether a run of multicasts may be sent to all others: each link has room, or had some since the last run, which other frames took while this run
    /// waited for other links. Links that are filled independently, each as fast as it goes, hardly ever have room in the same turn.
    /// </summary>
    public bool MayBeginRun()
    {
        for (int i = 0; i < _others.Length; i++)
            if (Node.Links.Room(_others[i]) <= 0 && !(_hadRoom[i < Rank ? i : i + 1] && Node.Links.MayExceed(_others[i]))) return false;
        return true;
    }

    /// <summary>A run of multicasts begins: room that links had before counts no more.</summary>
    public void OnRun()
    {
        if (!_someHadRoom) return;
        _hadRoom.AsSpan().Clear();
        _someHadRoom = false;
    }

    /// <summary>
    /// A link has room again: what waits for it goes on. Answers, a joiner's state, the layer, multicasts and messages to one member take turns at being
    /// first: each of them may have more to send than the link takes for as long as the load lasts, and the first one may take all the room.
    /// </summary>
    public void OnRoom(int peer)
    {
        if (View is null || IsOver || RankOfPeer(peer) is not (>= 0 and var rank)) return;
        Touch();
        Flush.OnRoom(rank);
        if (_calls.Count > 0) _hadRoom[rank] = _someHadRoom = true;
        int first = _firstForRoom[rank];
        _firstForRoom[rank] = (byte)((first + 1) % WhoWantRoom);
        for (int i = first; i < first + WhoWantRoom; i++)
        {
            switch (i % WhoWantRoom)
            {
                case 0: SendReplies(rank); break;
                case 1: _giver?.OnRoom(rank); break;
                case 2: TellLayerOfRoom(rank); break;
                case 3: DrainCalls(); break;
                default: Peers.SendWaiting(); break;
            }
        }
    }

    private void TellLayerOfRoom(int rank)
    {
        if (!IsWedged && !IsOver) _layer?.OnRoom(rank);
    }

    /// <summary>A link is over, a member's or a stranger's: drops frames held under its number, which will never have a sender.</summary>
    public void DropEarly(int peer)
    {
        _early.Drop(peer, Node.Counters);
        _strangers?.Drop(peer, Node.Counters);
    }

    /// <summary>
    /// The link to a member is over although both live, and what was on it is lost. Over a new link the flush of a view with the same members brings the multicasts,
    /// and a layer issues its work again; until then none of its frames passes between the two. Lost point-to-point messages are never acknowledged, for which the
    /// flush suspects the member; queries whose answers were lost end here. After a second loss in one view the member is suspected at once.
    /// </summary>
    public void OnLinkLost(int peer)
    {
        if (View is null || IsOver || RankOfPeer(peer) is not (>= 0 and var rank)) return;
        Touch();
        var member = View.Members[rank];
        int again = Node.Links.Open(member.Address, member.Id.Node);
        Node.Links.Hold(again);
        Node.Links.Release(peer);
        (_peers[rank], _others[rank < Rank ? rank : rank - 1]) = (again, again);
        _rankOf = new(_peers);
        // Nothing came over the new link yet, and none of its frames is delivered before it is settled.
        _unsettled[rank] = false;
        BindTable.Write(Frame(FrameType.Bind, BindTable.Body), View.Group, View.Id);
        SendTo(rank);
        Peers.OnLinkLost(rank);
        _giver?.OnLinkLost(rank);
        Queries.OnLinkLost(member.Id, View.Id);
        if (_relinked[rank]) Flush.Suspect(rank);
        _relinked[rank] = true;
        if (IsWedged) Flush.OnRelinked(rank);
        else Membership.RequestView(View.Group);
    }

    /// <summary>
    /// Whether frames of the layer to or from a member were lost in this view. A layer counts on every earlier frame being there, so none
    /// is sent or taken any more. Both ends check this: perhaps only the sender noticed, in the view before the receiver's.
    /// </summary>
    private bool HasGap(int rank) => _relinked[rank] && Node.Without != Rule.NoFrameBehindAGap;

    // False when too many answers wait: then this one becomes a refusal, which is small and does not wait.
    private bool TryKeep(ReplyOperation reply, int rank)
    {
        long cost = GroupLimits.Cost(reply.Payload.Length);
        if (_replyCostWaiting + cost > GroupLimits.QueuedBytes)
        {
            reply.Abort($"{_repliesWaiting} answers wait at this member, which are as many as {GroupLimits.QueuedBytes} bytes");
            return false;
        }
        if (_replies.Length == 0) _replies = new Queue<ReplyOperation>?[_peers.Length];
        (_replies[rank] ??= new()).Enqueue(reply);
        _repliesWaiting++;
        _replyCostWaiting += cost;
        return true;
    }

    private void SendReplies(int rank)
    {
        if (_repliesWaiting == 0 || _replies[rank] is not { } waiting) return;
        while (RoomTo(rank) > 0 && waiting.TryDequeue(out var reply))
        {
            _repliesWaiting--;
            _replyCostWaiting -= GroupLimits.Cost(reply.Payload.Length);
            reply.Run();
        }
    }

    /// <summary>There is another view, or none: answers that wait look for their receivers again.</summary>
    private void SendReplies()
    {
        var replies = _replies;
        // Also where no answer waits: the ranks are those of a view that is over.
        (_replies, _repliesWaiting, _replyCostWaiting) = ([], 0, 0);
        foreach (var waiting in replies)
            while (waiting is not null && waiting.TryDequeue(out var reply)) reply.Run();
    }
}
