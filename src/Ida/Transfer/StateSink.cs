using GroupCore.Runtime;
using Ida.Ordering;
using Ida.Shared;
using Ida.Wire;

namespace Ida.Transfer;

/// <summary>
/// A newcomer's side of the transfer: asks the lowest initialised member of its shard, takes ranges in their order, and asks out of turn for single
/// keys whose value a put needs. The sessions come at the end and make it initialised. After a view change it asks again; ranges that it has, which
/// the puts of the old view kept current, are not sent again. Source: dht-view-change.md#equal-ranges-are-not-sent-again, #newcomers-apply-puts-before-their-state.
/// </summary>
internal sealed class StateSink(DhtState state, DhtSender send, Participant participant) : IArrivingState
{
    private const int LookedAtPerAsk = 1024;
    private readonly Slice _slice = participant.Slice;
    private readonly LatePuts _late = participant.Late;
    private readonly Queue<Entry> _wanted = new();
    private readonly List<Entry> _asked = [];

    // The entries that are in one of these.
    private readonly HashSet<Entry> _unanswered = [];

    /// <summary>Digests of the table's entries, by range.</summary>
    private readonly ulong[] _digests = new ulong[EntryTable.Ranges];
    private int _sourceRank = -1, _range;
    private bool _writing;

    /// <summary>Forgets what transfers brought: the shard has changed, or the transfer is over.</summary>
    public void Forget() => Array.Clear(_digests);

    /// <summary>At the install: asks the source, which is never this member.</summary>
    public void Begin(int sourceRank)
    {
        (_sourceRank, _range, _writing) = (sourceRank, 0, false);
        ForgetWanted();
        var body = send.Room(EntryTable.Ranges * 8);
        StateCodec.WritePull(ref body, _digests);
        send.Send(sourceRank, DhtFrame.Pull, body.Length);
    }

    public void End()
    {
        _sourceRank = -1;
        ForgetWanted();
    }

    private void ForgetWanted()
    {
        _wanted.Clear();
        _asked.Clear();
        _unanswered.Clear();
        _unanswered.TrimExcess();
    }

    /// <summary>Number of keys that were asked for or will be.</summary>
    public int WantedCount => _wanted.Count + _asked.Count;

    /// <summary>Whether the whole range has arrived.</summary>
    public bool Has(int range) => range < _range;

    /// <summary>Changes an entry, and the digest of its range.</summary>
    public void Change(Entry entry, byte[]? value, ulong version)
    {
        _slice.BeforeChange(entry);
        ref ulong digest = ref _digests[EntryTable.RangeOf(entry.Hash)];
        if (entry.Value is not null) digest ^= EntryDigest.Of(entry.Key, entry.Version);
        if (value is not null) digest ^= EntryDigest.Of(entry.Key, version);
        _slice.Table.Sizes.Change(entry.Key, entry.Value, value);
        (entry.Value, entry.Version, entry.Clock) = (value, version, Math.Max(entry.Clock, version));
    }

    /// <summary>The value at the view change of this key is needed before its range arrives; for a removed key, only whether there was one.</summary>
    public void Want(Entry entry)
    {
        if (_unanswered.Add(entry)) _wanted.Enqueue(entry);
    }

    /// <summary>Asks for the wanted keys, one frame at a time.</summary>
    public void Ask()
    {
        if (_sourceRank < 0 || _asked.Count > 0 || _wanted.Count == 0) return;
        int bytes = 10;
        for (int i = 0; i < LookedAtPerAsk && _asked.Count < DhtLimits.FetchedKeys && _wanted.TryDequeue(out var entry); i++)
        {
            if (!_late.IsLate(entry) && !_late.IsMark(entry))
            {
                _unanswered.Remove(entry);
                continue;
            }
            _asked.Add(entry);
            bytes += entry.Key.Length + 6;
        }
        if (_asked.Count == 0) return;
        var body = send.Room(bytes);
        body.Var((ulong)_asked.Count);
        foreach (var entry in _asked) StateCodec.WriteWanted(ref body, entry.Key, value: _late.IsLate(entry));
        send.Send(_sourceRank, DhtFrame.Fetch, body.Length);
    }

    /// <summary>Takes answers for the first of the keys asked for, in their order; asks for the other keys again.</summary>
    public void OnFetched(int from, ref BodyReader body)
    {
        int count = body.Count(DhtLimits.FetchedKeys, 1);
        if (from != _sourceRank || body.Failed || count == 0 || count > _asked.Count)
        {
            state.Node.Counters.Refuse(RefusalReason.Unexpected);
            return;
        }
        int taken = 0;
        for (; taken < count; taken++)
        {
            StateCodec.ReadFetched(ref body, out bool present, out byte[]? value, out ulong version);
            var entry = _asked[taken];
            if (body.Failed || (present && value is null && _late.IsLate(entry)))
            {
                state.Node.Counters.Refuse(RefusalReason.Malformed);
                break;
            }
            _unanswered.Remove(entry);
            if (!Has(EntryTable.RangeOf(entry.Hash))) _late.Receive(entry, present, value, version);
        }
        for (; taken < _asked.Count; taken++) _wanted.Enqueue(_asked[taken]);
        _asked.Clear();
    }

    public void OnChunk(int from, ref BodyReader body)
    {
        int length = body.Remaining, range = StateCodec.ReadChunkHead(ref body, out bool first, out bool last);
        state.Counters.CountStateReceived(length);
        if (from != _sourceRank || body.Failed || range < _range || first == _writing || (_writing && range != _range))
        {
            state.Node.Counters.Refuse(RefusalReason.Unexpected);
            return;
        }
        // Ranges that the source left out are equal here and there.
        while (_range < range) _late.RangeArrived(_range++);
        _writing = true;
        if (first) _late.ClearRange(range);
        while (body.Remaining > 0)
        {
            StateCodec.ReadEntry(ref body, out var key, out var value, out ulong version);
            ulong place = body.Failed ? 0 : KeyIdentity.PlaceOf(key);
            if (body.Failed || EntryTable.RangeOf(place) != range)
            {
                state.Node.Counters.Refuse(RefusalReason.Malformed);
                return;
            }
            _late.Receive(key, place, version, value);
        }
        if (last)
        {
            _writing = false;
            _late.RangeArrived(_range++);
        }
        if (length > DhtLimits.FreeChunkBytes) Acknowledge(from);
    }

    /// <summary>
    /// More than any source with the same options remembers: for each member its bound, plus what is on the way and what merges on the way may store; and five times
    /// that for departed members.
    /// </summary>
    private long MostOutcomeBytes => (participant.Sessions.Members + 5L) * (state.Own.MaxOutcomeBytes + state.Own.MaxInFlightBytes + ((long)state.Own.MaxInFlight * DhtLimits.ValueBytes));

    /// <summary>Takes a piece of the sessions, the last part of the state. True when the state is whole.</summary>
    public bool OnEnd(int from, ref BodyReader body, out ulong viewChangeClock)
    {
        state.Counters.CountStateReceived(body.Remaining);
        bool last = StateCodec.ReadEndHead(ref body, out viewChangeClock);
        if (from != _sourceRank || body.Failed || _writing)
        {
            state.Node.Counters.Refuse(RefusalReason.Unexpected);
            return false;
        }
        while (_range < EntryTable.Ranges) _late.RangeArrived(_range++);
        if (participant.Sessions.OutcomeBytes > MostOutcomeBytes || !SessionCodec.Read(ref body, participant.Sessions, state.Rules, participant.DropAttempts))
        {
            state.Node.Counters.Refuse(RefusalReason.Malformed);
            return false;
        }
        if (!last)
        {
            Acknowledge(from);
            return false;
        }
        End();
        return true;
    }

    private void Acknowledge(int to)
    {
        _ = send.Room(1);
        send.Send(to, DhtFrame.ChunkAck, 0);
    }
}
