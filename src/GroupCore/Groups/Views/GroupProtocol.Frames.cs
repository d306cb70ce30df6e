using GroupCore.Membership;
using GroupCore.Runtime;
using GroupCore.Wire;

namespace GroupCore.Groups.Views;

/// <summary>Frames in, by view and sender.</summary>
internal sealed partial class GroupProtocol
{
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
            if (header.Type == FrameType.Reply && View is not null && Links.RankOf(peer) is >= 0 and var asked) Handle(asked, header.Type, body);
            else Keep(peer, header, body, view);
            return;
        }
        int rank = Links.RankOf(peer);
        if (view < View.Id && !AcceptsOld(header, rank)) return;
        if (rank < 0) Node.Counters.Refuse(RefusalReason.WrongSender);
        else if (Links.IsUnsettled(rank) && view == View.Id) Hold(_strangers ?? _early, peer, header, body, view);
        else Handle(rank, header.Type, body);
    }

    /// <summary>
    /// Keeps a frame for a later view. A sender that is neither a member nor a joiner of the proposal may be a member of a later view, or a stranger. Its frames are held
    /// apart, so that they push out no member's frames and never cost this member its place: only lost frames of a member of an installed view do that
    /// (<see cref="CheckLost"/>). A join that was given up may be taken over by another one, which needs the frames that came meanwhile.
    /// </summary>
    private void Keep(int peer, in FrameHeader header, ReadOnlySpan<byte> body, ulong view)
    {
        bool stranger = View is not null && Links.RankOf(peer) < 0 && !IsComing(peer);
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
    /// If a member of the view now installed sent more than could be held, this member leaves: only the other end of the link could send the lost frames again. As long as
    /// it is not known whether the sender is that member, or another process in its name, nothing is decided.
    /// </summary>
    private void CheckLost(View view)
    {
        for (int rank = 0; rank < view.Members.Count; rank++)
        {
            int peer = Links.PeerOf(rank);
            if (peer < 0 || Links.IsUnsettled(rank) || !(_early.IsLost(view.Group, view.Id, peer) || _strangers?.IsLost(view.Group, view.Id, peer) == true)) continue;
            Withdraw(new GroupOverloadedException(Name, GroupLimits.EarlyBytesOfMember), failed: true);
            break;
        }
        _early.Forget(view.Id);
        _strangers?.Forget(view.Id);
    }

    private void ReplayEarly(View view)
    {
        // A sender that is no member of this view is a stranger from now on. Before its first view a member knows no strangers.
        foreach (var frame in _early.Take(f => f.View > view.Id && Links.RankOf(f.Peer) < 0)) Keep(frame.Peer, frame.Header, frame.Body, frame.View);
        ReplayEarly(_early, view);
        ReplayEarly(_strangers, view);
    }

    private void ReplayEarly(EarlyFrames? early, View view)
    {
        if (early is null) return;
        // Answers count though their view is over; but like other frames they wait until their sender is known to be the member.
        foreach (var frame in early.Take(f => f.View <= view.Id && !(IsUnsettled(f.Peer) && (f.View == view.Id || f.Header.Type == FrameType.Reply))))
        {
            if (IsOver || (frame.View != view.Id && frame.Header.Type != FrameType.Reply)) continue;
            long offences = Node.Counters.Offences;
            OnFrame(frame.Peer, frame.Header, frame.Body, frame.View);
            if (Node.Counters.TakeOffences(offences)) Node.Links.Blame(frame.Peer);
        }
    }

    private bool IsUnsettled(int peer) => Links.RankOf(peer) is >= 0 and var rank && Links.IsUnsettled(rank);

    /// <summary>Whether a frame of a view that is over is taken: only answers to queries are. The negative control takes all.</summary>
    private bool AcceptsOld(in FrameHeader header, int rank)
    {
        if ((header.Type == FrameType.Reply && rank >= 0) || !Rules.OldViewRefused) return true;
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
            case FrameType.StateAck: Offer.OnAck(rank, body); break;
            case FrameType.StateOpen or FrameType.StateChunk or FrameType.StateEnd or FrameType.StateSign when _loader is not null: _loader.OnFrame(rank, type, body); break;
            case >= FrameType.FirstLayer and <= FrameType.LastLayer when Layers.Of(type) is { } port: port.OnFrame(rank, type, body); break;
            default: Node.Counters.Refuse(RefusalReason.Unexpected); break;
        }
    }

    /// <summary>Takes frames that arrived before this process knew the group.</summary>
    public void TakeEarly(EarlyFrames from, List<EarlyFrame> frames)
    {
        if (Id is { } id) _early.TakeLost(from, id);
        foreach (var frame in frames) OnFrame(frame.Peer, frame.Header, frame.Body, frame.View);
    }
}
