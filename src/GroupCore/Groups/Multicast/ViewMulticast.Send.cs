using System.Buffers.Binary;
using GroupCore.Groups.Buffers;
using GroupCore.Groups.Calls;
using GroupCore.Runtime;
using GroupCore.Wire;

namespace GroupCore.Groups.Multicast;

/// <summary>Sending: records are written once into a slab, and what a turn wrote leaves as one run, the same bytes for every member.</summary>
internal sealed partial class ViewMulticast
{
    /// <summary>Sender rank u16, count u16, first sequence number u32.</summary>
    internal const int DataHead = 8;
    private MessageSlab? _sendSlab;
    private int _runStart;
    private int _runCount;
    private uint _runFirst;
    private uint _orderEmitted;
    private bool _sequencePaused;
    private int _sequenceFrom;

    /// <summary>What this member sent that is not stable yet, as <see cref="GroupLimits.Cost"/> counts it.</summary>
    public long Unstable { get; private set; }

    /// <summary>Whether a record of that many bytes may be sent now. Links are asked for room once for each run, which is at most a slab.</summary>
    public bool MaySend(int bytes) => Unstable + GroupLimits.Cost(bytes) <= GroupLimits.Window && !_logs[_self].Full && _logs[_self].Received < MostRecords && ((_runCount > 0 && _sendSlab!.Free >= bytes) || _links.MayBeginRun());

    /// <summary>Originates one record.</summary>
    public void Append(MessageKind kind, uint handler, ReadOnlySpan<byte> payload)
    {
        int size = MessageRecord.HeadOf(kind) + payload.Length;
        var slab = RoomFor(size);
        if (_runCount == 0)
        {
            _links.OnRun();
            _runStart = slab.Used;
            _runFirst = _logs[_self].Received;
        }
        int offset = slab.Used;
        uint dep = MessageRecord.HeadOf(kind) == 12 ? _order.Delivered : 0;
        MessageRecord.Write(slab.Bytes.AsSpan(offset), kind, handler, dep, payload);
        slab.Used += size;
        LogToFill(_self).Append(slab, offset, size, kind, dep);
        Unstable += GroupLimits.Cost(size);
        _runCount++;
        _dirty = true;
        if (_runCount == ushort.MaxValue) EmitRun();
    }

    /// <summary>The call of the ordered message just appended completes when that message is delivered here.</summary>
    public void AwaitOrdered(SendOperation call) => _ownOrdered.Enqueue((_logs[_self].Received - 1, call));

    private MessageSlab RoomFor(int size)
    {
        if (_sendSlab is { } slab)
        {
            if (slab.Free >= size) return slab;
            EmitRun();
            if (slab.Alone && slab.Bytes.Length >= size)
            {
                slab.Used = 0;
                return slab;
            }
            slab.Release(1);
        }
        return _sendSlab = _slabs.Rent(size);
    }

    private bool MaySequence => _order.Count < GroupLimits.OrderPositions && _order.Length < MostRecords;

    private void EmitRun()
    {
        if (_runCount == 0) return;
        int length = _sendSlab!.Used - _runStart;
        if (_members > 1)
        {
            var frame = _links.Frame(FrameType.Data, DataHead + length);
            BinaryPrimitives.WriteUInt16LittleEndian(frame, (ushort)_self);
            BinaryPrimitives.WriteUInt16LittleEndian(frame[2..], (ushort)_runCount);
            BinaryPrimitives.WriteUInt32LittleEndian(frame[4..], _runFirst);
            _sendSlab.Bytes.AsSpan(_runStart, length).CopyTo(frame[DataHead..]);
            _links.SendToOthers();
        }
        _runCount = 0;
    }

    /// <summary>
    /// At the sequencer: gives positions to what arrived in this turn, sender by sender, and sends them as one frame of runs. If there are too few positions, the next
    /// round begins with the first sender that did not get all of its own; otherwise the senders before it would take each position that becomes free.
    /// </summary>
    private void Sequence()
    {
        if (_self != _sequencer) return;
        _sequencePaused = false;
        int first = _sequenceFrom;
        _sequenceFrom = 0;
        for (int i = 0; i < _members; i++)
        {
            int s = (first + i) % _members;
            var log = _logs[s];
            if (log.Sequenced < log.Base) log.Sequenced = log.Base;
            for (; log.Sequenced != log.Received && MaySequence && !log.IsPassedOver; log.Sequenced++)
            {
                ref var message = ref log[log.Sequenced];
                if (!message.TakesPosition) continue;
                if (message.Dep > _order.Length) PassOver(s);
                else _order.Append(s, log.Sequenced);
            }
            if (_sequencePaused || log.Sequenced == log.Received || log.IsPassedOver) continue;
            (_sequencePaused, _sequenceFrom) = (true, s);
        }
        if (_order.Length == _orderEmitted) return;
        if (_members > 1)
        {
            int size = 4 + OrderRuns.SizeOf(_order, _orderEmitted, _order.Length);
            var frame = _links.Frame(FrameType.Order, size);
            BinaryPrimitives.WriteUInt32LittleEndian(frame, _orderEmitted);
            OrderRuns.Write(frame[4..], _order, _orderEmitted, _order.Length);
            _links.SendToOthers();
        }
        _orderEmitted = _order.Length;
    }

    /// <summary>
    /// Gives nothing more of a sender a position in this view. Its message counts on positions that were not given here, so no member can have delivered them: the sender
    /// lies, and only the sequencer can tell. If the message got a position it would never be closed, and would hold up all behind it for ever.
    /// </summary>
    private void PassOver(int sender)
    {
        _logs[sender].IsPassedOver = true;
        _node.Counters.Refuse(RefusalReason.Unexpected);
        _witness.SuspectForGood(sender);
    }
}
