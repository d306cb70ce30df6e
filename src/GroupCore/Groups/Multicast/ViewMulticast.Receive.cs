using System.Buffers.Binary;
using GroupCore.Groups.Buffers;
using GroupCore.Groups.Calls;
using GroupCore.Runtime;

namespace GroupCore.Groups.Multicast;

/// <summary>Receiving: a frame is checked as a whole, copied once into a slab and stored record by record.</summary>
internal sealed partial class ViewMulticast
{
    private const long SqueezeEvery = 8 << 20;
    private readonly List<(ushort Rank, uint Seq)> _positions = [];
    private MessageSlab? _receiveSlab;
    private MessageSlab? _oldSlab;
    private long _leftBehind;

    /// <summary>Multicasts of a member. While wedged they are refused (R1): the report has said what was received.</summary>
    public void OnData(int sender, ReadOnlySpan<byte> body, bool wedged)
    {
        if (wedged && _rules.R1RefuseDataWhenWedged) return;
        if (!TryStore(sender, body, [], out var refusal))
        {
            _node.Counters.Refuse(refusal);
            if (refusal == RefusalReason.Unexpected) _witness.AskForView();
        }
    }

    /// <summary>Stores the body of a Data frame, or the same part of a Forward, which may bring nothing beyond the cut. Changes nothing when it refuses the body.</summary>
    private bool TryStore(int sender, ReadOnlySpan<byte> body, ReadOnlySpan<uint> cut, out RefusalReason refusal)
    {
        refusal = RefusalReason.Malformed;
        if (body.Length < DataHead) return false;
        int rank = BinaryPrimitives.ReadUInt16LittleEndian(body), count = BinaryPrimitives.ReadUInt16LittleEndian(body[2..]);
        uint first = BinaryPrimitives.ReadUInt32LittleEndian(body[4..]);
        var records = body[DataHead..];
        if (count == 0 || rank >= _members) return false;
        var log = _logs[rank];
        // A forward may bring again what another one brought: only what follows is new.
        int skip = sender < 0 && first < log.Received ? (int)Math.Min(log.Received - first, (uint)count) : 0;
        if (!AreRecords(records, count, sender < 0 ? uint.MaxValue : MostDep, skip, log.IsOpen, out bool inTurn)) return false;
        if (sender >= 0 && rank != sender)
        {
            refusal = RefusalReason.NotEntitled;
            return false;
        }
        bool beyond = sender < 0 ? first + (long)count > cut[rank] || IsBeyondFlush(log) : _hold is { } hold ? hold.IsFull(rank) : log.Full;
        if (rank == _self || (first + skip != log.Received) || beyond)
        {
            refusal = RefusalReason.Unexpected;
            return false;
        }
        if (skip == count) return true;
        if (!inTurn)
        {
            refusal = RefusalReason.Malformed;
            return false;
        }
        var slab = RoomToReceive(records.Length);
        log = LogToFill(rank);
        int offset = slab.Used;
        records.CopyTo(slab.Bytes.AsSpan(offset));
        slab.Used += records.Length;
        for (int at = 0; count-- > 0;)
        {
            _ = MessageRecord.TryRead(records[at..], out var kind, out uint dep, out int length);
            if (skip > 0) skip--;
            else
            {
                log.Append(slab, offset + at, length, kind, dep);
                _hold?.Add(rank, length);
            }
            at += length;
            _unackedMessages++;
        }
        _unackedBytes += records.Length;
        _dirty = true;
        return true;
    }

    /// <summary>Bytes of the slabs that stored messages keep; for checks.</summary>
    public long KeptBytes => _logs.SelectMany(static log => log.Slabs).Distinct().Sum(static slab => slab.Bytes.LongLength);

    private MessageSlab RoomToReceive(int size)
    {
        if (_receiveSlab is { } slab)
        {
            if (slab.Free >= size) return slab;
            if (slab.Alone && slab.Bytes.Length >= size)
            {
                slab.Used = 0;
                return slab;
            }
            _leftBehind += slab.Bytes.Length;
            slab.Release(1);
            if (_leftBehind >= SqueezeEvery) Squeeze();
        }
        return _receiveSlab = _slabs.Rent(size);
    }

    /// <summary>
    /// One stored message keeps its whole slab, with all that came beside it. So after every <see cref="SqueezeEvery"/> bytes of full slabs, messages that were already here
    /// the last time are moved out of sparse slabs. The store takes at most four times what is stored plus twice <see cref="SqueezeEvery"/>, whatever is acknowledged.
    /// </summary>
    private void Squeeze()
    {
        _leftBehind = 0;
        // The dispatcher's holds are counted before a slab is released.
        _dispatcher.TakeHolds();
        foreach (var log in _logs) log.Squeeze(_slabs, ref _oldSlab);
    }

    /// <summary>
    /// The highest dep of an honest sender: it takes at most <see cref="GroupLimits.ReportPositions"/> positions beyond what it knows all to have closed, and of this member
    /// it knows what this one has acknowledged. The sequencer needs no such bound: it knows what it gave (<see cref="Sequence"/>). Forwarded messages are bounded by the cut.
    /// </summary>
    private uint MostDep => _self == _sequencer ? uint.MaxValue : _ackedOrder[_self] + GroupLimits.ReportPositions;

    /// <summary>
    /// Whether these are records, and whether, after the first <paramref name="skip"/>, parts of messages follow each other as they should, given whether the record
    /// before them left its message <paramref name="open"/>.
    /// </summary>
    private static bool AreRecords(ReadOnlySpan<byte> records, int count, uint mostDep, int skip, bool open, out bool inTurn)
    {
        inTurn = true;
        while (count-- > 0)
        {
            if (!MessageRecord.TryRead(records, out var kind, out uint dep, out int length) || dep > mostDep) return false;
            records = records[length..];
            if (skip-- > 0) continue;
            inTurn &= (kind & MessageKind.First) == MessageKind.None == open;
            open = (kind & MessageKind.Last) == MessageKind.None;
        }
        return records.IsEmpty;
    }

    /// <summary>Positions from the sequencer.</summary>
    public void OnOrder(int sender, ReadOnlySpan<byte> body, bool wedged)
    {
        if (wedged && _rules.R1RefuseDataWhenWedged) return;
        _positions.Clear();
        if (sender != _sequencer) _node.Counters.Refuse(RefusalReason.NotEntitled);
        else if (body.Length < 4 || !OrderRuns.TryRead(body[4..], _members, GroupLimits.OrderPositions, _positions)) _node.Counters.Refuse(RefusalReason.Malformed);
        else if (BinaryPrimitives.ReadUInt32LittleEndian(body) != _order.Length || _order.Count + _positions.Count > (2 * GroupLimits.OrderPositions) + (_hold?.Messages ?? 0)
            || _order.Length - _order.Stable + _positions.Count > GroupLimits.ReportPositions)
        {
            _node.Counters.Refuse(RefusalReason.Unexpected);
            _witness.AskForView();
        }
        else
        {
            foreach (var (rank, seq) in _positions) _order.Append(rank, seq);
            _dirty = true;
        }
    }
}
