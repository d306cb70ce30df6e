using System.Buffers.Binary;
using GroupCore.Basics;
using GroupCore.Groups.Calls;
using GroupCore.Groups.Shared;
using GroupCore.Wire;

namespace GroupCore.Groups.Multicast;

/// <summary>The end of the view: what the flush needs to know of the messages, and the last deliveries. Source: views-and-flush.md#the-cut-is-closed,
/// #the-last-deliveries-wait-for-the-install.</summary>
internal sealed partial class ViewMulticast
{
    /// <summary>Sends out everything that this member originated or sequenced before it is wedged; after that it originates nothing.</summary>
    public void BeforeWedge()
    {
        EmitRun();
        Sequence();
        // What is delivered now came from members, and not from the replica whose proposal this frame may be.
        long offences = _node.Counters.Offences;
        Progress();
        _ = _node.Counters.TakeOffences(offences);
    }

    /// <summary>What is here now, for the report.</summary>
    public FlushReport Report(ulong proposal)
    {
        var report = new FlushReport(proposal, _self, _initialised, _members) { OrderBase = _order.Stable, OrderClosed = _order.Closed };
        for (uint x = _order.Stable; x != _order.Length; x++) report.Order.Add(_order[x]);
        for (int s = 0; s < _members; s++)
        {
            var log = _logs[s];
            (report.Received[s], report.Closed[s]) = (log.Received, log.Closed);
            uint dep = 0;
            for (uint seq = log.Closed; seq != log.Received; seq++)
                if (log[seq].Dep > dep) report.AddPoint(s, seq, dep = log[seq].Dep);
        }
        return report;
    }

    /// <summary>
    /// Whether the order of the cut continues what is known here; an honest leader sends no other. The cut's order may begin below what is dropped here, as a member may
    /// report less than it has acknowledged.
    /// </summary>
    public bool Continues(FlushCut cut) => cut.OrderFrom <= _order.Length && cut.OrderLength >= _order.Base;

    /// <summary>Whether all of the cut is here.</summary>
    public bool Holds(FlushCut cut)
    {
        for (int s = 0; s < _members; s++)
            if (_logs[s].Received < cut.Upto[s]) return false;
        return true;
    }

    public uint ReceivedOf(int sender) => _logs[sender].Received;

    /// <summary>
    /// Sends what is held of <paramref name="sender"/> in [from, to) to a member, in frames of a bounded size, while its link has room.
    /// Returns where the rest begins; <paramref name="to"/> when nothing is left.
    /// </summary>
    public uint Forward(ulong proposal, int toMember, int sender, uint from, uint to)
    {
        var log = _logs[sender];
        uint end = to;
        from = Math.Max(from, log.Base);
        to = Math.Min(to, log.Received);
        while (from < to)
        {
            if (_links.RoomTo(toMember) <= 0) return from;
            int bytes = 0, count = 0;
            while (from + (uint)count < to && count < ushort.MaxValue && (count == 0 || bytes + log[from + (uint)count].Length <= GroupLimits.ForwardBytes))
                bytes += log[from + (uint)count++].Length;
            var frame = _links.Frame(FrameType.Forward, 8 + DataHead + bytes);
            BinaryPrimitives.WriteUInt64LittleEndian(frame, proposal);
            BinaryPrimitives.WriteUInt16LittleEndian(frame[8..], (ushort)sender);
            BinaryPrimitives.WriteUInt16LittleEndian(frame[10..], (ushort)count);
            BinaryPrimitives.WriteUInt32LittleEndian(frame[12..], from);
            for (int at = 8 + DataHead; count-- > 0; from++)
            {
                log[from].Record.CopyTo(frame[at..]);
                at += log[from].Length;
            }
            _links.SendTo(toMember);
        }
        return end;
    }

    /// <summary>Messages that another member held arrive; they are delivered at the end of the turn. The cut and what members may store bound them, not the window.</summary>
    public bool OnForward(FlushCut cut, ReadOnlySpan<byte> body)
    {
        if (TryStore(-1, body, cut.Upto, out var refusal)) return true;
        _node.Counters.Refuse(refusal);
        return false;
    }

    /// <summary>
    /// Whether more of a sender is here than an honest flush can leave: twice what one member may have stored, which is the bound of <see cref="SenderLog.Full"/>
    /// plus one frame plus a joiner's backlog.
    /// </summary>
    private bool IsBeyondFlush(SenderLog log)
    {
        long backlog = _group.HostOptions.MaxJoinBacklogBytes;
        return log.Count >= 2 * (GroupLimits.StoredMessages + ushort.MaxValue + (backlog / GroupLimits.Cost(0))) || log.Bytes >= 2 * (GroupLimits.StoredBytes + Transport.LinkLimits.FrameBytes + backlog);
    }

    /// <summary>The message at a position: from the cut if the cut carries that position, else as known here.</summary>
    private (ushort Rank, uint Seq) PositionIn(FlushCut cut, uint position) => position >= cut.OrderFrom ? cut.Records[(int)(position - cut.OrderFrom)] : _order[position];

    /// <summary>Visits the messages that the cut leaves without a position, in their order: by sender rank, then sequence number.</summary>
    private void ForTail<TState>(FlushCut cut, TState state, Action<TState, int, uint> visit)
    {
        Span<uint> ordered = stackalloc uint[_members];
        for (int s = 0; s < _members; s++) ordered[s] = _logs[s].OrderedDelivered;
        for (uint x = _order.Delivered; x < cut.OrderLength; x++)
        {
            var (rank, seq) = PositionIn(cut, x);
            ordered[rank] = Math.Max(ordered[rank], seq + 1);
        }
        for (int s = 0; s < _members; s++)
        {
            var log = _logs[s];
            uint to = Math.Min(cut.Upto[s], log.Received);
            for (uint seq = Math.Max(ordered[s], log.Base); seq < to; seq++)
                if (log[seq].TakesPosition) visit(state, s, seq);
        }
    }

    /// <summary>A hash over what this member would deliver by the cut: unless it is equal at all members, the flush does not end.</summary>
    public ulong TailHash(FlushCut cut, ulong contributions)
    {
        var hash = new Fnv64();
        hash.Add(contributions);
        hash.Add(cut.OrderLength);
        for (int s = 0; s < _members; s++) hash.Add(cut.Upto[s]);
        ForTail(cut, hash, static (hash, s, seq) => hash.Add(((ulong)s << 32) | seq));
        return hash.Value;
    }

    /// <summary>The last deliveries of the view: what is left of the cut, the order prefix, the tail.</summary>
    public void DeliverCut(FlushCut cut)
    {
        if (!_initialised) return;
        long offences = _node.Counters.Offences;
        var tail = new List<(int Sender, uint Seq)>();
        ForTail(cut, tail, static (tail, s, seq) => tail.Add((s, seq)));
        _order.Truncate(cut.OrderLength);
        while (_order.Length < cut.OrderLength)
        {
            var (rank, seq) = PositionIn(cut, _order.Length);
            _order.Append(rank, seq);
        }
        for (int s = 0; s < _members; s++) Pass(s, Math.Max(_logs[s].Passed, Math.Min(cut.Upto[s], _logs[s].Received)), bounded: false);
        while (_order.Delivered < _order.Length)
        {
            var (rank, seq) = _order[_order.Delivered++];
            if (_logs[rank].Passed > seq) DeliverOrdered(rank, seq);
        }
        _order.Closed = _order.Length;
        foreach (var (sender, seq) in tail) DeliverOrdered(sender, seq);
        // As at the end of a turn, nobody is blamed: the frame being handled came from another member, and a forwarded message need not come from its sender.
        _ = _node.Counters.TakeOffences(offences);
    }

    /// <summary>Gives everything back; stability waits complete, since the next view is installed. With a reason they fail instead.</summary>
    public void Close(Exception? reason)
    {
        _over = true;
        _slow?.Close();
        _dispatcher.TakeHolds();
        foreach (var log in _logs) log.Clear();
        if (Unstable > 0) _calls.ReturnCredit(Unstable);
        Unstable = 0;
        _sendSlab?.Release(1);
        _receiveSlab?.Release(1);
        _oldSlab?.Release(1);
        (_sendSlab, _receiveSlab, _oldSlab) = (null, null, null);
        FailStabilityWaits(reason);
        // Only a member that is out of the group has calls left here: the flush delivers a survivor's own messages.
        FailOrdered(reason ?? new NotMemberException(_view.Name, "the view ended before this message was delivered"));
    }

    /// <summary>
    /// The node ends, or the group is over for callers while this member still takes part until a view without it. Calls that wait fail; nothing else happens.
    /// </summary>
    public void Abandon(Exception reason)
    {
        FailStabilityWaits(reason);
        FailOrdered(reason);
    }

    private void FailOrdered(Exception reason)
    {
        while (_ownOrdered.TryDequeue(out var own)) Fail(own.Call, reason);
    }

    private void Fail(SendOperation call, Exception reason)
    {
        call.Error = reason;
        _node.Complete(call);
    }
}
