using System.Buffers.Binary;
using GroupCore.Groups.PointToPoint;
using GroupCore.Membership;
using GroupCore.Runtime;
using GroupCore.Wire;

namespace GroupCore.Groups.Views;

/// <summary>Frames out, tagged with slot and view, and frames in, by view and sender.</summary>
internal sealed partial class GroupProtocol
{
    private int[] _peers = [];
    private int[] _others = [];
    private RankMap _rankOf = RankMap.Empty;
    private int _frameLength;
    // By rank: whether the member has said that it is in this view.
    private bool[] _here = [];
    // By rank: whether the link is not known yet to be the member's, so that frames that came over it have no sender yet.
    private bool[] _unsettled = [];

    /// <summary>The body of the next frame; filled by the caller and given to one <c>SendTo</c> before the next.</summary>
    public Span<byte> Frame(FrameType type, int bodyLength)
    {
        var frame = Node.Links.Reserve(FrameHeader.Size + bodyLength);
        _frameLength = FrameHeader.Write(frame, type, Slot, (uint)View!.Id, bodyLength);
        return frame.Slice(FrameHeader.Size, bodyLength);
    }

    public void SendTo(int rank) => Node.Links.Send(_peers[rank], _frameLength);

    public void SendToOthers() => Node.Links.Send(_others, _frameLength);

    private void ConnectPeers(View view)
    {
        int count = view.Members.Count;
        int[] before = _peers;
        _peers = new int[count];
        _others = new int[count - 1];
        _relinked = new bool[count];
        (_firstForRoom, _hadRoom, _someHadRoom) = (new byte[count], new bool[count], false);
        _here = new bool[count];
        _unsettled = new bool[count];
        for (int rank = 0, other = 0; rank < count; rank++)
        {
            _peers[rank] = -1;
            _here[rank] = rank == Rank;
            if (rank == Rank) continue;
            var member = view.Members[rank];
            _others[other++] = _peers[rank] = Node.Links.Open(member.Address, member.Id.Node);
            Node.Links.Hold(_peers[rank]);
            _unsettled[rank] = !Node.Links.IsSettled(_peers[rank]);
            _here[rank] = !_unsettled[rank] && _host.Bindings.IsIn(_peers[rank], view.Group, view.Id);
        }
        _rankOf = new(_peers);
        Release(before);
    }

    // Releases the links of a view that is over, once the next one holds its own.
    private void Release(int[] peers)
    {
        foreach (int peer in peers)
            if (peer >= 0) Node.Links.Release(peer);
    }

    /// <summary>A link is up: it may be known now to be the member's, and then what came over it before counts as sent by that member.</summary>
    public void OnLinkUp(int peer)
    {
        if (View is null || IsOver || RankOfPeer(peer) is not (>= 0 and var rank) || !_unsettled[rank] || !Node.Links.IsSettled(peer)) return;
        Touch();
        _unsettled[rank] = false;
        bool here = !_here[rank] && _host.Bindings.IsIn(peer, View.Group, View.Id);
        _here[rank] |= here;
        CheckLost(View);
        if (_early.Holds(peer) || _strangers?.Holds(peer) == true) ReplayEarly(View);
        if (here) TellLayerOfRoom(rank);
    }

    private int RankOfPeer(int peer) => _rankOf[peer];

    /// <summary>Whether a member is known to be in this view. Until it is, it has to hold frames of this view, and cannot hold any number: so what no window bounds waits.</summary>
    public bool IsHere(int rank) => _here[rank];

    /// <summary>A peer says which view the frames that follow belong to.</summary>
    public void OnBound(int peer, ulong view)
    {
        if (View?.Id != view || IsOver || RankOfPeer(peer) is not (>= 0 and var rank)) return;
        Touch();
        if (_here[rank]) return;
        _here[rank] = true;
        TellLayerOfRoom(rank);
    }

    /// <summary>Tells every member which view the frames that follow on its link belong to.</summary>
    private void BindAll()
    {
        if (_others.Length == 0) return;
        BindTable.Write(Frame(FrameType.Bind, BindTable.Body), View!.Group, View.Id);
        SendToOthers();
    }

    /// <summary>A frame whose sender bound it to a view of this group. Untrusted.</summary>
    public void OnFrame(int peer, in FrameHeader header, ReadOnlySpan<byte> body, ulong view)
    {
        if (IsOver)
        {
            Node.Counters.Refuse(RefusalReason.StaleView);
            return;
        }
        Touch();
        if (View is null || view > View.Id)
        {
            // Answers are bound to no view, and no window bounds them.
            if (header.Type == FrameType.Reply && View is not null && RankOfPeer(peer) is >= 0 and var asked) Handle(asked, header.Type, body);
            else Keep(peer, header, body, view);
            return;
        }
        int rank = RankOfPeer(peer);
        if (view < View.Id && !AcceptsOld(peer, header, body, ref rank)) return;
        if (rank < 0) Node.Counters.Refuse(RefusalReason.WrongSender);
        else if (_unsettled[rank] && view == View.Id) Hold(_strangers ?? _early, peer, header, body, view);
        else Handle(rank, header.Type, body);
    }

    /// <summary>
    /// A sender that is neither a member nor a joiner of the proposal may be a member of a later view, or a stranger. Its frames are held apart, so that they push out no
    /// member's frames and never cost this member its place, as only lost frames of a member of an installed view do (<see cref="CheckLost"/>). A join that was given
    /// up may be taken over by another one, which needs the frames that came meanwhile.
    /// </summary>
    private void Keep(int peer, in FrameHeader header, ReadOnlySpan<byte> body, ulong view)
    {
        bool stranger = View is not null && RankOfPeer(peer) < 0 && !IsComing(peer);
        if (stranger && view > View!.Id + 64) Node.Counters.Refuse(RefusalReason.WrongSender);
        else Hold(stranger ? _strangers ??= new(GroupLimits.EarlyLeastBytes) : _early, peer, header, body, view);
    }

    // Only members and joiners of the proposal can be in the next view, and nobody is in it before this member has acknowledged the proposal.
    private bool IsComing(int peer) => Flush.HasJoiners && Flush.IsJoiner(Node.Links.NodeIdOf(peer), Node.Links.AddressOf(peer));

    private void Hold(EarlyFrames held, int peer, in FrameHeader header, ReadOnlySpan<byte> body, ulong view)
    {
        if (!held.TryAdd(Id ?? default, view, peer, header, body)) Node.Counters.Refuse(RefusalReason.Unexpected);
    }

    /// <summary>
    /// If a member of the view now installed sent more than could be held, this member leaves: only the other end of the link could send the lost frames again. Where it
    /// is not known yet whether the sender is that member, or another process in its name, this is judged when it is known.
    /// </summary>
    private void CheckLost(View view)
    {
        for (int rank = 0; rank < _peers.Length; rank++)
        {
            int peer = _peers[rank];
            if (peer < 0 || _unsettled[rank] || !(_early.IsLost(view.Group, view.Id, peer) || _strangers?.IsLost(view.Group, view.Id, peer) == true)) continue;
            Withdraw(new GroupOverloadedException(Name, GroupLimits.EarlyBytesOfMember), failed: true);
            break;
        }
        _early.Forget(view.Id);
        _strangers?.Forget(view.Id);
    }

    private void ReplayEarly(View view)
    {
        // A sender that is no member of this view is a stranger from now on. Before its first view a member knows no strangers.
        foreach (var frame in _early.Take(f => f.View > view.Id && RankOfPeer(f.Peer) < 0)) Keep(frame.Peer, frame.Header, frame.Body, frame.View);
        ReplayEarly(_early, view);
        ReplayEarly(_strangers, view);
    }

    private void ReplayEarly(EarlyFrames? early, View view)
    {
        if (early is null) return;
        // Answers count though their view is over; their sender, too, may not be known yet to be the member.
        foreach (var frame in early.Take(f => f.View <= view.Id && !(IsUnsettled(f.Peer) && (f.View == view.Id || f.Header.Type == FrameType.Reply))))
        {
            if (IsOver || (frame.View != view.Id && frame.Header.Type != FrameType.Reply)) continue;
            long malformed = Node.Counters.Malformed;
            OnFrame(frame.Peer, frame.Header, frame.Body, frame.View);
            if (Node.Counters.TakeMalformed(malformed)) Node.Links.Blame(frame.Peer);
        }
    }

    /// <summary>A frame that was kept was malformed: blames the member that sent it, not the sender of the frame that is handled now.</summary>
    public void Blame(int rank) => Node.Links.Blame(_peers[rank]);

    private bool IsUnsettled(int peer) => RankOfPeer(peer) is >= 0 and var rank && _unsettled[rank];

    /// <summary>Of a view that is over only answers to queries count. Everything else is refused (R11), except in the negative control.</summary>
    private bool AcceptsOld(int peer, in FrameHeader header, ReadOnlySpan<byte> body, ref int rank)
    {
        if (header.Type == FrameType.Reply && rank >= 0) return true;
        if (Node.Without == Rule.OldViewRefused && header.Type is >= FrameType.FirstLayer and <= FrameType.LastLayer) return rank >= 0;
        if (Node.Without == Rule.OldViewRefused && header.Type == FrameType.Peer)
        {
            // Counted as another member's message where its sender has no rank any more.
            rank = Math.Max(rank, 0);
            return true;
        }
        if (Node.Without == Rule.OldViewRefused && header.Type is FrameType.Data && body.Length >= 2)
        {
            rank = BinaryPrimitives.ReadUInt16LittleEndian(body);
            return rank < View!.Members.Count;
        }
        Node.Counters.Refuse(RefusalReason.StaleView);
        return false;
    }

    private void Handle(int rank, FrameType type, ReadOnlySpan<byte> body)
    {
        switch (type)
        {
            case FrameType.Data: Multicast.OnData(rank, body, IsWedged); break;
            case FrameType.Order: Multicast.OnOrder(rank, body, IsWedged); break;
            case FrameType.Ack: Multicast.OnAck(rank, body); break;
            case FrameType.Peer: Peers.OnPeer(rank, body); break;
            case FrameType.PeerAck: Peers.OnPeerAck(rank, body); break;
            case FrameType.Reply: Queries.OnReply(View!.Members[rank].Id, body); break;
            case FrameType.Report or FrameType.CutPart or FrameType.Cut or FrameType.Pull or FrameType.Forward or FrameType.FlushAck or FrameType.FlushWait: Flush.OnFrame(rank, type, body); break;
            case FrameType.StateAck when _giver is not null: _giver.OnAck(rank, body); break;
            case FrameType.StateOpen or FrameType.StateChunk or FrameType.StateEnd or FrameType.StateSign when _loader is not null: _loader.OnFrame(rank, type, body); break;
            case >= FrameType.FirstLayer and <= FrameType.LastLayer: OnLayerFrame(rank, type, body); break;
            default: Node.Counters.Refuse(RefusalReason.Unexpected); break;
        }
    }

    /// <summary>An answer from the worker; it may go out in any view (multicast.md#answers-may-cross-views). False while it waits for room.</summary>
    public bool Reply(ReplyOperation reply)
    {
        Touch();
        if (IsOver || View is null) return true;
        int rank = View.RankOf(reply.To), length = 9 + reply.Payload.Length;
        if (rank < 0) return true;
        if (length > GroupLimits.PeerBytes)
        {
            reply.Abort($"the reply has {reply.Payload.Length} bytes; at most {GroupLimits.PeerBytes - 9} are allowed");
            length = 9 + reply.Payload.Length;
        }
        if (rank == Rank)
        {
            Queries.OnReply(reply.To, reply.Query, reply.Status, reply.Payload.Written);
            return true;
        }
        if (RoomTo(rank) <= 0 && TryKeep(reply, rank)) return false;
        var frame = Frame(FrameType.Reply, 9 + reply.Payload.Length);
        BinaryPrimitives.WriteUInt64LittleEndian(frame, reply.Query);
        frame[8] = (byte)reply.Status;
        reply.Payload.Written.CopyTo(frame[9..]);
        SendTo(rank);
        return true;
    }

    /// <summary>Takes frames that arrived before this process knew the group.</summary>
    public void TakeEarly(EarlyFrames from, List<EarlyFrame> frames)
    {
        if (Id is { } id) _early.TakeLost(from, id);
        foreach (var frame in frames) OnFrame(frame.Peer, frame.Header, frame.Body, frame.View);
    }
}
