using System.Buffers.Binary;
using GroupCore.Groups.Calls;
using GroupCore.Runtime;
using GroupCore.Wire;

namespace GroupCore.Groups.Multicast;

/// <summary>
/// Acknowledgements, stability, window and FlushAsync: multicast.md#acknowledge-when-it-is-worth-a-frame, #only-stable-messages-are-dropped, #one-window-for-each-sender,
/// #a-stability-wait-includes-the-order. An Ack names only what changed since the last one. It leaves at
/// most once per turn: after 64 messages, 256 KB or 10 ms, or at once when asked for; without traffic there is none.
/// </summary>
internal sealed partial class ViewMulticast : ITimerTarget
{
    private const int AckHead = 7;
    private const byte AnswerFlag = 1;
    private const byte LoadingFlag = 2;
    private const long CatchUp = 1;
    private readonly AckTable _acks;
    private readonly uint[] _ackedOrder;
    private readonly StabilityRounds _stability = new();
    private int _unackedMessages;
    private int _unackedBytes;
    private bool _ackTimer;
    private bool _ackDue;
    private bool _answerAck;
    private bool _askAck;
    private bool _acksMoved;
    private long _signDue;

    /// <summary>What a member has acknowledged of a sender; of its own messages a member holds everything.</summary>
    private uint AckOf(int member, int sender) => member == sender && member != _self ? uint.MaxValue : _acks[member, sender];

    /// <summary>flags u8 (1: answer at once, 2: a load makes progress and nothing is acknowledged), order closed u32, count u16, then rank u16 and closed u32 each.</summary>
    public void OnAck(int member, ReadOnlySpan<byte> body)
    {
        int count = body.Length < AckHead ? -1 : BinaryPrimitives.ReadUInt16LittleEndian(body[5..]);
        if (count < 0 || body.Length != AckHead + (6 * count))
        {
            _node.Counters.Refuse(RefusalReason.Malformed);
            return;
        }
        for (int i = 0; i < count; i++)
        {
            int sender = BinaryPrimitives.ReadUInt16LittleEndian(body[(AckHead + (6 * i))..]);
            uint closed = BinaryPrimitives.ReadUInt32LittleEndian(body[(AckHead + 2 + (6 * i))..]);
            if (sender < _members && sender != member && (sender != _self || closed <= _logs[_self].Received)) continue;
            _node.Counters.Refuse(RefusalReason.Malformed);
            return;
        }
        for (int i = 0; i < count; i++)
        {
            ref uint acked = ref _acks.At(member, BinaryPrimitives.ReadUInt16LittleEndian(body[(AckHead + (6 * i))..]));
            acked = Math.Max(acked, BinaryPrimitives.ReadUInt32LittleEndian(body[(AckHead + 2 + (6 * i))..]));
        }
        _ackedOrder[member] = Math.Max(_ackedOrder[member], BinaryPrimitives.ReadUInt32LittleEndian(body[1..]));
        _answerAck |= (body[0] & AnswerFlag) != 0;
        if ((body[0] & LoadingFlag) != 0 && MayLoad(member)) OnLoading(member);
        _acksMoved = true;
    }

    private void OnLoading(int member)
    {
        _slow?.OnLoading(member);
        _witness.OnLoading(member);
    }

    /// <summary>Whether a member has no state, or may still be catching up with what it held: believed for a time only, as nobody else knows how far its handlers are.</summary>
    private bool MayLoad(int member) => !_view.Members[member].Initialised || _node.Now - _begun < GroupLimits.CatchUpNanoseconds;

    /// <summary>The 10 ms after which even little is acknowledged are over; or this member goes on catching up with what it held.</summary>
    void ITimerTarget.OnTimer(long token)
    {
        if (_over) return;
        if (token == CatchUp) _dirty = true;
        else (_ackTimer, _ackDue) = (false, true);
        // The acknowledgement leaves at the end of this turn; an idle group has no other reason for one.
        _group.Touch();
    }

    private void Acknowledge()
    {
        if (_over) return;
        // With a full dispatcher nothing more is acknowledged, so that no window opens further.
        if (_dispatcher.Full)
        {
            SignLoading();
            ArmAckTimer();
            return;
        }
        if (_hold is { StopsAcks: true }) SignLoading();
        if (_acks[_self, _self] != _logs[_self].Closed)
        {
            _acks.At(_self, _self) = _logs[_self].Closed;
            _acksMoved = true;
        }
        bool behind = IsBehind();
        if (!behind && !_answerAck && !_askAck) return;
        if (_members > 1 && !_answerAck && !_askAck && !_ackDue && _unackedMessages < GroupLimits.AckMessages && _unackedBytes < GroupLimits.AckBytes)
        {
            ArmAckTimer();
            return;
        }
        SendAck();
        if (IsBehind()) ArmAckTimer();
    }

    /// <summary>Whether something is closed here that the others do not know of.</summary>
    private bool IsBehind()
    {
        if (_ackedOrder[_self] != _order.Closed) return true;
        for (int s = 0; s < _members; s++)
            if (s != _self && _acks[_self, s] != _logs[s].Closed) return true;
        return false;
    }

    /// <summary>
    /// How far this member acknowledges the order. It stops while more positions are unstable to its knowledge than the sequencer gives beyond what all have acknowledged;
    /// so the sequencer never gives more than <see cref="OnOrder"/> takes, however late others' acknowledgements come here.
    /// Source: multicast.md#unstable-positions-are-bounded.
    /// </summary>
    private uint OrderToAck => _order.Length - _order.Stable > GroupLimits.OrderPositions ? _ackedOrder[_self] : _order.Closed;

    private void SendAck()
    {
        int count = 0;
        uint order = OrderToAck;
        for (int s = 0; s < _members; s++)
            if (MayAck(s)) count++;
        bool asked = _answerAck || _askAck;
        _ackDue = _answerAck = false;
        if (count == 0 && !asked && _ackedOrder[_self] == order) return;
        var frame = _members > 1 ? _links.Frame(FrameType.Ack, AckHead + (6 * count)) : default;
        for (int s = 0, at = AckHead; s < _members; s++)
        {
            if (!MayAck(s)) continue;
            uint closed = _logs[s].Closed;
            _acks.At(_self, s) = closed;
            _hold?.Acknowledge(s);
            BinaryPrimitives.WriteUInt16LittleEndian(frame[at..], (ushort)s);
            BinaryPrimitives.WriteUInt32LittleEndian(frame[(at + 2)..], closed);
            at += 6;
        }
        _ackedOrder[_self] = order;
        if (_members > 1)
        {
            frame[0] = _askAck ? AnswerFlag : (byte)0;
            BinaryPrimitives.WriteUInt32LittleEndian(frame[1..], order);
            BinaryPrimitives.WriteUInt16LittleEndian(frame[5..], (ushort)count);
            _links.SendToOthers();
        }
        _unackedMessages = 0;
        _unackedBytes = 0;
        _askAck = false;
        _acksMoved = true;
    }

    /// <summary>Tells the others every second that the load of this member makes progress, if it does.</summary>
    private void SignLoading()
    {
        if (_node.Now < _signDue || !_witness.LoadMoved()) return;
        _signDue = _node.Now + GroupLimits.StateSignNanoseconds;
        SendLoading();
    }

    /// <summary>Tells the others that the load of this member makes progress, without acknowledging anything more.</summary>
    public void SendLoading()
    {
        if (_members == 1) return;
        var frame = _links.Frame(FrameType.Ack, AckHead);
        frame[0] = LoadingFlag;
        BinaryPrimitives.WriteUInt32LittleEndian(frame[1..], _ackedOrder[_self]);
        BinaryPrimitives.WriteUInt16LittleEndian(frame[5..], 0);
        _links.SendToOthers();
    }

    private bool MayAck(int sender) => sender != _self && _acks[_self, sender] != _logs[sender].Closed && !(_hold?.StopsAcks ?? _logs[sender].StopsAcks);

    private void ArmAckTimer()
    {
        if (_ackTimer) return;
        _ackTimer = true;
        _node.SetTimer(_node.Now + GroupLimits.AckNanoseconds, this, 0);
    }

    /// <summary>Drops what every member holds and this one has delivered, and opens this member's window.</summary>
    private void ReleaseStable()
    {
        // A member that catches up has acknowledged messages before it delivers them, so they can be dropped without another acknowledgement.
        if (!_acksMoved && !IsCatchingUp) return;
        for (int s = 0; s < _members; s++)
        {
            uint stable = _acks.Stable(s, _self);
            if (stable <= _logs[s].Base) continue;
            long cost = _logs[s].DropBelow(stable);
            if (s != _self || cost == 0) continue;
            Unstable -= cost;
            _calls.ReturnCredit(cost);
            // In this turn the waiting calls have already been looked at, and perhaps nothing else causes another turn.
            if (_queue.Count > 0) _group.Touch();
        }
        uint order = uint.MaxValue;
        for (int q = 0; q < _members; q++) order = Math.Min(order, _ackedOrder[q]);
        _order.DropBelow(order);
        if (!_sequencePaused || !MaySequence) return;
        // The messages that get these positions are here already, and perhaps nothing else arrives that causes another turn.
        _dirty = true;
        _group.Touch();
    }

    /// <summary>Takes a call that completes when all others hold what this member sent and delivered so far, and the positions it delivered.</summary>
    public void AddStabilityWait(StabilityWait call)
    {
        _askAck |= _stability.Add(call, _logs, _self, _rules.FlushOrderPart ? _order.Delivered : 0);
        _acksMoved = true;
        _dirty = true;
    }

    /// <summary>Rounds of acknowledgements that callers of FlushAsync wait for.</summary>
    public int StabilityRoundsOpen => _stability.Count;

    /// <summary>Removes calls whose callers do not wait any more.</summary>
    public void RemoveCancelled() => _stability.RemoveCancelled();

    private void CompleteStabilityWaits()
    {
        if (!_acksMoved) return;
        _acksMoved = false;
        while (_stability.TryPeek(out var need, out uint order) && IsStable(need, order))
            foreach (var call in _stability.Dequeue()) _node.Complete(call);
    }

    private void FailStabilityWaits(Exception? reason)
    {
        while (_stability.Count > 0)
        {
            foreach (var call in _stability.Dequeue())
            {
                call.Error = reason;
                _node.Complete(call);
            }
        }
    }

    private bool IsStable(ReadOnlySpan<uint> need, uint order)
    {
        for (int q = 0; q < _members; q++)
        {
            if (q == _self) continue;
            if (_ackedOrder[q] < order) return false;
            for (int s = 0; s < _members; s++)
                if (AckOf(q, s) < need[s]) return false;
        }
        return true;
    }
}
