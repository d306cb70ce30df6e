using System.Buffers.Binary;
using GroupCore.Basics;
using GroupCore.Groups.Multicast;
using GroupCore.Groups.PointToPoint;
using GroupCore.Groups.Shared;
using GroupCore.Membership;
using GroupCore.Runtime;
using GroupCore.Transport;
using GroupCore.Wire;

namespace GroupCore.Groups.Flush;

/// <summary>
/// A survivor's or leaver's part in the view change: <c>Normal → wedged → cut known → all held → acknowledged → installed</c>.
/// A higher proposal makes it start again at wedged. One object per view.
/// </summary>
/// <remarks>
/// Guarantees: initialised survivors deliver the same messages in the view that ends, and hold the same contributions of the layers.
/// Failure cases: any member or the leader dies → a higher proposal, fresh reports (R9); the proposal is never withdrawn, so a wedged
/// member always gets a next view. <see cref="FlushWatch"/> finds the members that hold the flush up.
/// Source: views-and-flush.md#the-normal-case, #fresh-reports-for-each-proposal.
/// </remarks>
internal sealed class FlushMember
{
    private const int EarlyFrameBytes = 64;
    private const int PartHead = 8 + 2 + 1;
    private const int MostPartBytes = PartHead + LayerFrames.MostHeadBytes + GroupLimits.ContributionBytes;
    private readonly IViewChange _group;
    private readonly INode _node;
    private readonly GroupRules _rules;
    private readonly View _view;
    private readonly ViewMulticast _multicast;
    private readonly PeerChannel _peers;
    private readonly Participants _takesPart;
    private ContributionParts _parts = new(0);
    private readonly List<(int Rank, FrameType Type, byte[] Body)> _early = [];
    private readonly List<(ulong Proposal, int Rank, int Sender, uint From, uint To)> _forwards = [];
    private readonly Dictionary<ulong, NodeAddress> _joiners = [];
    private readonly FlushWatch _watch;
    // By rank; made with the first frame.
    private long[] _earlyBytes = [];
    private long _earlyInAll;
    private IReadOnlyList<byte[]>? _own;
    private FlushLeader? _leader;
    private ulong _tail;

    public FlushMember(IViewChange group, ViewMulticast multicast, PeerChannel peers, View view)
    {
        (_group, _node, _rules, _multicast, _peers, _view) = (group, group.Node, group.Rules, multicast, peers, view);
        _takesPart = new(view);
        _watch = new(group, this, multicast, peers, view);
    }

    /// <summary>The proposal that wedged this member, null in normal operation.</summary>
    public Proposal? Proposal => _takesPart.Proposal;

    public ulong Wedge => _takesPart.Wedge;

    public FlushCut? Cut { get; private set; }

    public bool Acked { get; private set; }

    /// <summary>Rank of the flush leader: the lowest initialised survivor (<see cref="Proposal.LeaderIn"/>).</summary>
    public int Leader { get; private set; } = -1;

    /// <summary>Whether others say that they are in a view change that this member has not heard of.</summary>
    public bool IsBehind => _early.Count > 0;

    /// <summary>Whether the proposal names joiners.</summary>
    public bool HasJoiners => _joiners.Count > 0;

    /// <summary>Whether that node joins with the proposal.</summary>
    public bool IsJoiner(ulong node, NodeAddress address) => _joiners.TryGetValue(node, out var at) && at == address;

    /// <summary>Whether a member takes part in this flush.</summary>
    public bool TakesPart(int rank) => _takesPart[rank];

    /// <summary>Wedges, and reports afresh (R1, R9).</summary>
    public void Start(Proposal proposal)
    {
        if (Proposal is null) _group.BeginWedge();
        var oldCut = _rules.R9FreshReports ? null : Cut;
        (Cut, Acked, _leader) = (oldCut, false, null);
        _parts = new(_takesPart.Count);
        _takesPart.Begin(proposal);
        _joiners.Clear();
        foreach (var joiner in proposal.Joiners) _joiners[joiner.Id.Node] = joiner.Address;
        Leader = proposal.LeaderIn(_view);
        _peers.OnWedged(_takesPart);
        _group.Links.OnWedged(_takesPart);
        _group.OnWedged(proposal);
        _watch.Stop();
        if (!_takesPart[_group.Rank] || Leader < 0) return;
        if (Leader == _group.Rank) _leader = new(_group, this, _view, proposal, _takesPart);
        _watch.Start(_leader);
        _group.StartHooks(proposal);
        SendReport(proposal.Number);
        ReplayEarly();
        TryAck();
    }

    private void SendReport(ulong p)
    {
        var report = _multicast.Report(p);
        // Frozen: a layer that is attached while this member is wedged waits for the next view.
        _own ??= _group.Contribute();
        report.Parts = _own.Count;
        for (int part = 0; part < _own.Count; part++)
        {
            if (_leader is not null) _leader.OnContribution(_group.Rank, part, _own[part]);
            else SendPart(Leader, p, _group.Rank, part, _own[part]);
        }
        if (_leader is not null)
        {
            _leader.OnReport(report);
            return;
        }
        var frame = _group.Links.Frame(FrameType.Report, report.Size);
        report.Write(frame);
        _group.Links.SendTo(Leader);
    }

    /// <summary>What one layer of a member contributes: proposal u64, rank u16, part u8, head (<see cref="LayerFrames.WriteHead"/>), bytes.</summary>
    public void SendPart(int to, ulong p, int rank, int part, ReadOnlySpan<byte> contribution)
    {
        var frame = _group.Links.Frame(FrameType.CutPart, PartHead + contribution.Length);
        BinaryPrimitives.WriteUInt64LittleEndian(frame, p);
        BinaryPrimitives.WriteUInt16LittleEndian(frame[8..], (ushort)rank);
        frame[10] = (byte)part;
        contribution.CopyTo(frame[PartHead..]);
        _group.Links.SendTo(to);
    }

    /// <summary>A flush frame of a member of this view.</summary>
    public void OnFrame(int rank, FrameType type, ReadOnlySpan<byte> body)
    {
        if (body.Length < 8)
        {
            _node.Counters.Refuse(RefusalReason.Malformed);
            return;
        }
        ulong p = BinaryPrimitives.ReadUInt64LittleEndian(body);
        if (p > Wedge) Keep(rank, type, body);
        else if (type == FrameType.Pull) OnPull(p, rank, body);
        else if (p < Wedge) _node.Counters.Refuse(RefusalReason.StaleView);
        else if (!_takesPart[rank] || !_takesPart[_group.Rank]) _node.Counters.Refuse(RefusalReason.Unexpected);
        else Handle(p, rank, type, body);
    }

    private void Handle(ulong p, int rank, FrameType type, ReadOnlySpan<byte> body)
    {
        switch (type)
        {
            case FrameType.Report: OnReport(rank, body); break;
            case FrameType.CutPart: OnPart(rank, body); break;
            case FrameType.Cut: OnCut(p, rank, body); break;
            case FrameType.Forward: OnForward(rank, body); break;
            case FrameType.FlushAck: OnAck(rank, body); break;
            case FrameType.FlushWait: _watch.OnWait(rank, body); break;
            case FrameType.Pull: OnPull(p, rank, body); break;
            default: _node.Counters.Refuse(RefusalReason.UnknownType); break;
        }
    }

    private void Keep(int rank, FrameType type, ReadOnlySpan<byte> body)
    {
        // A frame costs more than its bytes. Each member has room of its own, so that no member can take all the room.
        int cost = body.Length + EarlyFrameBytes;
        if (_earlyBytes.Length == 0) _earlyBytes = new long[_takesPart.Count];
        if (_earlyBytes[rank] + cost > GroupLimits.EarlyBytesOfMember || _earlyInAll + cost > GroupLimits.EarlyBytesOf(_takesPart.Count))
        {
            _node.Counters.Refuse(RefusalReason.Unexpected);
            return;
        }
        _earlyBytes[rank] += cost;
        _earlyInAll += cost;
        _early.Add((rank, type, body.ToArray()));
    }

    private void ReplayEarly()
    {
        var early = _early.ToArray();
        _early.Clear();
        Array.Clear(_earlyBytes);
        _earlyInAll = 0;
        foreach (var (rank, type, body) in early)
        {
            long offences = _node.Counters.Offences;
            OnFrame(rank, type, body);
            if (_node.Counters.TakeOffences(offences)) _group.Links.Blame(rank);
        }
    }

    private void OnReport(int rank, ReadOnlySpan<byte> body)
    {
        var report = FlushReport.Read(body, _view.Members.Count);
        if (report is null) _node.Counters.Refuse(RefusalReason.Malformed);
        else if (report.Rank != rank) _node.Counters.Refuse(RefusalReason.NotEntitled);
        else if (_leader is null) _node.Counters.Refuse(RefusalReason.Unexpected);
        else _leader.OnReport(report);
    }

    private void OnPart(int from, ReadOnlySpan<byte> body)
    {
        var (rank, part) = body.Length < PartHead ? (-1, 0) : (BinaryPrimitives.ReadUInt16LittleEndian(body[8..]), body[10]);
        if (rank < 0 || rank >= _view.Members.Count || part >= GroupLimits.Layers || body.Length > MostPartBytes) _node.Counters.Refuse(RefusalReason.Malformed);
        else if (from == Leader && _leader is null && _takesPart[rank])
        {
            _parts[rank, part] = body[PartHead..].ToArray();
            _watch.OnLeader();
        }
        else if (_leader is not null && from == rank) _leader.OnContribution(rank, part, body[PartHead..].ToArray());
        else _node.Counters.Refuse(RefusalReason.Unexpected);
    }

    private void OnCut(ulong p, int rank, ReadOnlySpan<byte> body)
    {
        var cut = FlushCut.Read(body, _view.Members.Count);
        if (cut is null || !_multicast.Continues(cut)) _node.Counters.Refuse(RefusalReason.Malformed);
        else if (rank != Leader) _node.Counters.Refuse(RefusalReason.NotEntitled);
        else TakeCut(p, cut);
    }

    /// <summary>Takes the cut, and pulls from the holders whatever is missing here.</summary>
    public void TakeCut(ulong p, FlushCut cut)
    {
        if (Cut is not null) return;
        Cut = cut;
        for (int rank = 0; rank < _takesPart.Count; rank++) PullFrom(rank, p, cut);
        TryAck();
    }

    private void PullFrom(int holder, ulong p, FlushCut cut)
    {
        if (holder == _group.Rank) return;
        for (int s = 0; s < cut.Upto.Length; s++)
        {
            uint have = _multicast.ReceivedOf(s);
            if (have >= cut.Upto[s] || cut.Holder[s] != holder) continue;
            var frame = _group.Links.Frame(FrameType.Pull, 18);
            BinaryPrimitives.WriteUInt64LittleEndian(frame, p);
            BinaryPrimitives.WriteUInt16LittleEndian(frame[8..], (ushort)s);
            BinaryPrimitives.WriteUInt32LittleEndian(frame[10..], have);
            BinaryPrimitives.WriteUInt32LittleEndian(frame[14..], cut.Upto[s]);
            _group.Links.SendTo(holder);
        }
    }

    /// <summary>The link to a member is a new one: the flush sends it everything again, which may arrive twice without harm.</summary>
    public void OnRelinked(int rank)
    {
        if (Proposal is null || !_takesPart[rank] || !_takesPart[_group.Rank]) return;
        _leader?.OnRelinked(rank);
        if (Cut is not null) PullFrom(rank, Wedge, Cut);
        if (rank != Leader) return;
        if (Cut is null) SendReport(Wedge);
        if (Acked) SendAck();
    }

    /// <summary>At the leader, to which no CutPart of the cut is sent: takes a contribution for its own acknowledgement.</summary>
    public void TakeContribution(int rank, int part, ReadOnlyMemory<byte> bytes) => _parts[rank, part] = bytes;

    private void OnPull(ulong p, int rank, ReadOnlySpan<byte> body)
    {
        int sender = body.Length == 18 ? BinaryPrimitives.ReadUInt16LittleEndian(body[8..]) : -1;
        if (sender < 0 || sender >= _view.Members.Count) _node.Counters.Refuse(RefusalReason.Malformed);
        else if (Proposal is null) _node.Counters.Refuse(RefusalReason.Unexpected);
        else Forward(p, rank, sender, BinaryPrimitives.ReadUInt32LittleEndian(body[10..]), BinaryPrimitives.ReadUInt32LittleEndian(body[14..]));
    }

    private void Forward(ulong p, int rank, int sender, uint from, uint to)
    {
        uint next = _multicast.Forward(p, rank, sender, from, to);
        if (next >= to) return;
        // A member that asks again gets the rest only once.
        _forwards.RemoveAll(forward => forward.Rank == rank && forward.Sender == sender);
        _forwards.Add((p, rank, sender, next, to));
    }

    /// <summary>Notes the members for whom forwards wait because this node as a whole has no room for them; false if there are none.</summary>
    public bool Forwards(Span<WaitReason> reasons)
    {
        bool any = false;
        foreach (var forward in _forwards)
        {
            if (forward.Proposal != Wedge || !_group.Links.WaitsForNode(forward.Rank)) continue;
            any = true;
            if (reasons[forward.Rank] == WaitReason.None) reasons[forward.Rank] = WaitReason.Others;
        }
        return any;
    }

    /// <summary>A link has room again: forwards that wait for it go on.</summary>
    public void OnRoom(int rank)
    {
        _leader?.OnRoom();
        if (_forwards.Count == 0) return;
        var waiting = _forwards.ToArray();
        _forwards.Clear();
        foreach (var forward in waiting)
        {
            if (forward.Rank != rank) _forwards.Add(forward);
            else if (forward.Proposal == Wedge) Forward(forward.Proposal, rank, forward.Sender, forward.From, forward.To);
        }
    }

    /// <summary>Messages of a sender are taken only from the holder that the cut names: no other member was asked for them, and any other could make them up.</summary>
    private void OnForward(int rank, ReadOnlySpan<byte> body)
    {
        int sender = body.Length < 10 ? -1 : BinaryPrimitives.ReadUInt16LittleEndian(body[8..]);
        if (Cut is not { } cut || sender < 0) _node.Counters.Refuse(RefusalReason.Unexpected);
        else if (sender >= cut.Holder.Length) _node.Counters.Refuse(RefusalReason.Malformed);
        else if (cut.Holder[sender] != rank) _node.Counters.Refuse(RefusalReason.NotEntitled);
        else if (_multicast.OnForward(cut, body[8..])) TryAck();
    }

    private void OnAck(int rank, ReadOnlySpan<byte> body)
    {
        if (body.Length != 17 || body[8] > 1) _node.Counters.Refuse(RefusalReason.Malformed);
        else if (_leader is null) _node.Counters.Refuse(RefusalReason.Unexpected);
        else _leader.OnAck(rank, body[8] == 1, BinaryPrimitives.ReadUInt64LittleEndian(body[9..]));
    }

    /// <summary>Acknowledges once all of the cut and all contributions are here, no point-to-point message of this member is under way, and all hooks have ended (R7).</summary>
    public void TryAck()
    {
        if (Cut is null || Acked || Proposal is null || !_group.HooksEnded) return;
        if (_rules.R7PullsBeforeAck && !_multicast.Holds(Cut)) return;
        // After the acknowledgement the view may come, and its install would deliver all that is left at once.
        if (_multicast.IsCatchingUp) return;
        if (_rules.R7PeerMessagesBeforeAck && !_peers.IsQuiet) return;
        var hash = new Fnv64();
        foreach (var (rank, part) in Cut.Parts)
        {
            if (_parts[rank, part] is not { } bytes) return;
            hash.Add(rank);
            hash.Add(bytes.Span);
        }
        Acked = true;
        _tail = _multicast.TailHash(Cut, hash.Value);
        if (_leader is not null) _leader.OnAck(_group.Rank, _group.Initialised, _tail);
        else SendAck();
    }

    /// <summary>FlushAck: proposal u64, initialised u8, tail hash u64.</summary>
    private void SendAck()
    {
        var frame = _group.Links.Frame(FrameType.FlushAck, 17);
        BinaryPrimitives.WriteUInt64LittleEndian(frame, Wedge);
        frame[8] = _group.Initialised ? (byte)1 : (byte)0;
        BinaryPrimitives.WriteUInt64LittleEndian(frame[9..], _tail);
        _group.Links.SendTo(Leader);
    }

    /// <summary>What the members' layers contributed, in rank order; of one member in the order of its parts.</summary>
    public List<LayerContribution> Contributions()
    {
        var all = new List<LayerContribution>();
        if (Cut is null) return all;
        foreach (var (rank, part) in Cut.Parts)
            if (_parts[rank, part] is { } bytes) all.Add(new(_view.Members[rank].Id, bytes));
        return all;
    }

    /// <summary>A member that loads the state, or catches up after its load, says that it makes progress.</summary>
    public void OnLoading(int rank) => _watch.OnLoading(rank);

    /// <summary>The view is over.</summary>
    public void Close() => _watch.Close();

    /// <summary>Suspects a member of holding this one up, until the view is over.</summary>
    public void Suspect(int rank) => _watch.Suspect(rank);
}
