using GroupCore.Runtime;
using Ida.Ordering;
using Ida.Wire;

namespace Ida.Transfer;

/// <summary>
/// A newcomer's side of the transfer: asks the lowest full member of its shard, writes ranges, and becomes full with the sessions at the
/// end. After a view change it asks again, for what it lacks of the new boundary. Source: ida 4.4.
/// </summary>
internal sealed class StateSink(DhtState state, DhtSender send, Participant participant)
{
    private readonly List<Entry> _scratch = [];
    private readonly List<byte> _head = [];
    private readonly ulong[] _digests = new ulong[EntryTable.Ranges];
    private int _sourceRank = -1, _range;
    private bool _writing;

    /// <summary>Forgets what earlier transfers brought: the shard is another.</summary>
    public void Forget() => Array.Clear(_digests);

    /// <summary>At the install: asks the source, which cannot be this member.</summary>
    public void Begin(int sourceRank)
    {
        (_sourceRank, _range, _writing) = (sourceRank, 0, false);
        _head.Clear();
        var body = send.Room(EntryTable.Ranges * 8);
        foreach (ulong digest in _digests) body.U64(digest);
        send.Send(sourceRank, DhtFrame.Pull, body.Length);
    }

    public void End() => _sourceRank = -1;

    public void OnChunk(int from, ref BodyReader body)
    {
        int length = body.Remaining, range = body.U8(), flags = body.U8();
        bool first = (flags & 1) != 0;
        if (from != _sourceRank || range < _range || first == _writing || (_writing && range != _range))
        {
            state.Node.Counters.Refuse(RefusalReason.Unexpected);
            return;
        }
        _range = range;
        _writing = true;
        if (first)
        {
            participant.ClearRange(range, _scratch);
            _digests[range] = 0;
        }
        while (body.Remaining > 0)
        {
            var key = body.Blob(DhtLimits.KeyBytes);
            ulong version = body.Var();
            var value = body.Blob(DhtLimits.ValueBytes);
            bool whole = !body.Failed && key.Length >= KeyIdentity.MapBytes;
            ulong hash = whole ? StableHash.Of(key) : 0;
            if (!whole || EntryTable.RangeOf(hash) != range)
            {
                state.Node.Counters.Refuse(RefusalReason.Malformed);
                return;
            }
            var entry = participant.EntryAt(key, hash);
            (entry.Value, entry.Version, entry.Clock) = (value.ToArray(), version, Math.Max(entry.Clock, version));
            _digests[range] ^= EntryDigest.Of(key, version);
        }
        if ((flags & 2) != 0)
        {
            _range++;
            _writing = false;
        }
        if (length > DhtLimits.FreeChunkBytes) Acknowledge(from);
    }

    /// <summary>Sessions, the last part. True when the state is whole.</summary>
    public bool OnEnd(int from, ref BodyReader body, out ulong boundaryClock)
    {
        bool last = body.U8() != 0;
        boundaryClock = body.U64();
        if (from != _sourceRank || body.Failed || _writing || boundaryClock > Participant.MaxTime)
        {
            state.Node.Counters.Refuse(RefusalReason.Unexpected);
            return false;
        }
        _head.AddRange(body.Bytes(body.Remaining));
        if (!last)
        {
            Acknowledge(from);
            return false;
        }
        if (!SessionCodec.Read(System.Runtime.InteropServices.CollectionsMarshal.AsSpan(_head), participant.Sessions, state.Without))
        {
            state.Node.Counters.Refuse(RefusalReason.Malformed);
            return false;
        }
        _head.Clear();
        _sourceRank = -1;
        Array.Clear(_digests);
        return true;
    }

    private void Acknowledge(int to)
    {
        _ = send.Room(1);
        send.Send(to, DhtFrame.ChunkAck, 0);
    }
}
