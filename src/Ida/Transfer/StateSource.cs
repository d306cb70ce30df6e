using System.Buffers;
using Ida.Ordering;
using Ida.Shared;
using Ida.Wire;

namespace Ida.Transfer;

/// <summary>
/// Sends the state of the shard, as it was when the view was installed, to newcomers, range by range while operations go on.
/// Source: dht-view-change.md#decided-puts-come-before-the-snapshot, #outcomes-travel-with-the-state.
/// </summary>
/// <remarks>
/// Nothing is copied at the install: the participant keeps what changes meanwhile (<see cref="ViewSnapshot"/>). The same holds for outcomes: those acknowledged meanwhile are kept.
/// A chunk ends with the entry that takes it to <see cref="DhtLimits.ChunkBytes"/>; up to <see cref="DhtLimits.ChunkCredit"/> chunks per newcomer are on the way. A range that, by its digest, the newcomer already
/// has from a transfer of an earlier view is not sent again.
/// </remarks>
internal sealed class StateSource(DhtState state, DhtSender send, Participant participant)
{
    private const int ScannedPerTurn = 20_000;
    private readonly List<Feed> _feeds = [];
    private readonly ViewSnapshot _snapshot = participant.Slice.Snapshot;
    private readonly List<Entry> _scratch = [];
    private readonly List<(bool Present, byte[]? Value, ulong Version)> _fetched = [];
    private readonly ArrayBufferWriter<byte> _piece = new();
    private SessionTableCut? _sessions;
    private ulong _viewChangeClock;

    /// <summary>Whether a transfer is under way, or entries wait to be looked at after one.</summary>
    public bool HasWork => _feeds.Count > 0 || _snapshot.HasWork;

    /// <summary>At the install, after the decided operations: this member is the source of its shard's newcomers.</summary>
    public void Open(ulong viewChangeClock)
    {
        _snapshot.Open();
        _viewChangeClock = viewChangeClock;
        _sessions = new(participant.Sessions, state.View);
    }

    /// <summary>Ends the snapshot: at the next view change, or when there are no newcomers left.</summary>
    public void Close()
    {
        _snapshot.Close();
        _feeds.Clear();
        _sessions?.End();
        _sessions = null;
    }

    /// <summary>The slice is gone, and no later turn would release anything: drops everything.</summary>
    public void Forget()
    {
        Close();
        _snapshot.Forget();
        _scratch.Clear();
        _scratch.TrimExcess();
    }

    /// <summary>Goes on where the bound of a turn was reached; removes entries that only a snapshot needed, a bounded number at a time.</summary>
    public void Tick()
    {
        for (int i = _feeds.Count - 1; i >= 0; i--) SendChunks(_feeds[i]);
        _snapshot.LookOver(participant.Slice);
    }

    /// <summary>A newcomer asks for the state, with the digests of the ranges that it holds.</summary>
    public void OnPull(int from, ref BodyReader body)
    {
        var digests = new ulong[EntryTable.Ranges];
        StateCodec.ReadPull(ref body, digests);
        if (body.Failed || !_snapshot.IsOpen || !state.Initialised || state.Map!.SlotOfRank(from) is not (>= 0 and var slot) || state.Map.ShardOfSlot(slot) != state.Shard
            || _feeds.Exists(one => one.Rank == from))
        {
            state.Node.Counters.Refuse(GroupCore.Runtime.RefusalReason.Unexpected);
            return;
        }
        var feed = new Feed(from, digests);
        _feeds.Add(feed);
        SendChunks(feed);
    }

    public void OnAck(int from)
    {
        if (_feeds.Find(one => one.Rank == from) is not { Credit: < DhtLimits.ChunkCredit } feed) return;
        feed.Credit++;
        SendChunks(feed);
    }

    /// <summary>
    /// A newcomer cannot wait for the ranges of some keys: answers for the first keys, until they have the size of a chunk, as soon as there is room.
    /// A newcomer asks one question at a time, so one is kept. A newcomer that was sent the whole state waits for no answer.
    /// </summary>
    public void OnFetch(int from, ref BodyReader body)
    {
        var question = body;
        int count = body.Count(DhtLimits.FetchedKeys, 2);
        if (count == 0 || !_snapshot.IsOpen || !state.Initialised || state.Map!.SlotOfRank(from) is not (>= 0 and var slot) || state.Map.ShardOfSlot(slot) != state.Shard || state.Map.IsInitialised(slot))
        {
            state.Node.Counters.Refuse(GroupCore.Runtime.RefusalReason.Unexpected);
            return;
        }
        if (state.Port.Room(from) <= 0)
        {
            if (_feeds.Find(one => one.Rank == from) is not { } feed) return;
            if (feed.Question is null) feed.Question = question.Bytes(question.Remaining).ToArray();
            else state.Node.Counters.Refuse(GroupCore.Runtime.RefusalReason.Unexpected);
            return;
        }
        _fetched.Clear();
        int size = 10;
        for (int i = 0; i < count && !body.Failed && size < DhtLimits.ChunkBytes; i++)
        {
            var key = StateCodec.ReadWanted(ref body, out bool whole);
            if (body.Failed) break;
            var (value, version) = participant.Slice.Table.Find(key, KeyIdentity.PlaceOf(key)) is { } entry ? _snapshot.Of(entry) : (null, 0);
            _fetched.Add((value is not null, whole ? value : null, version));
            size += StateCodec.FetchedBytes + (whole && value is not null ? value.Length : 0);
        }
        if (body.Failed)
        {
            state.Node.Counters.Refuse(GroupCore.Runtime.RefusalReason.Malformed);
            return;
        }
        var to = send.Room(size);
        to.Var((ulong)_fetched.Count);
        foreach (var (present, value, version) in _fetched) StateCodec.WriteFetched(ref to, present, value, version);
        _fetched.Clear();
        state.Counters.CountStateBytes(to.Length);
        send.Send(from, DhtFrame.Fetched, to.Length);
    }

    private void SendChunks(Feed feed)
    {
        feed.Scanned = 0;
        while (MaySend(feed) && feed.Range < EntryTable.Ranges && feed.Scanned < ScannedPerTurn) SendSome(feed);
        if (feed.Range < EntryTable.Ranges) return;
        while (MaySend(feed) && !feed.Completed) SendSessions(feed);
    }

    private bool MaySend(Feed feed) => feed.Credit > 0 && state.Port.Room(feed.Rank) > 0;

    /// <summary>A newcomer's link has room again.</summary>
    public void OnRoom(int rank)
    {
        if (_feeds.Find(one => one.Rank == rank) is not { } feed) return;
        if (feed.Question is { } question)
        {
            feed.Question = null;
            var body = new BodyReader(question);
            OnFetch(rank, ref body);
        }
        SendChunks(feed);
    }

    private bool EveryoneInitialised()
    {
        foreach (ushort slot in state.Map!.Members(state.Shard))
            if (!state.Map.IsInitialised(slot)) return false;
        return true;
    }

    /// <summary>A newcomer became initialised: if it was the last, the snapshot is over.</summary>
    public void OnReady()
    {
        if (_snapshot.IsOpen && EveryoneInitialised()) Close();
    }

    /// <summary>Sends the next chunk, or nothing if the newcomer already holds the range.</summary>
    private void SendSome(Feed feed)
    {
        if (feed.Position == 0)
        {
            participant.Slice.Table.CopyRange(feed.Range, _scratch);
            feed.Entries.Clear();
            ulong digest = 0;
            foreach (var entry in _scratch)
            {
                if (_snapshot.Of(entry) is not ({ } value, var version)) continue;
                feed.Entries.Add((entry.Key, value, version));
                digest ^= EntryDigest.Of(entry.Key, version);
            }
            feed.Scanned += _scratch.Count;
            if (digest == feed.Digests[feed.Range])
            {
                feed.Range++;
                return;
            }
        }
        int size = 8, end = feed.Position;
        while (end < feed.Entries.Count && (end == feed.Position || size < DhtLimits.ChunkBytes))
        {
            var (key, value, _) = feed.Entries[end++];
            size += key.Length + value.Length + StateCodec.EntryBytes;
        }
        var body = send.Room(size);
        bool last = end == feed.Entries.Count;
        StateCodec.WriteChunkHead(ref body, feed.Range, first: feed.Position == 0, last);
        for (int i = feed.Position; i < end; i++)
        {
            var (key, value, version) = feed.Entries[i];
            StateCodec.WriteEntry(ref body, key, value, version);
        }
        state.Counters.CountStateBytes(body.Length);
        send.Send(feed.Rank, DhtFrame.Chunk, body.Length);
        feed.Position = last ? 0 : end;
        if (last) feed.Range++;
        if (body.Length > DhtLimits.FreeChunkBytes) feed.Credit--;
    }

    private void SendSessions(Feed feed)
    {
        _piece.ResetWrittenCount();
        feed.Completed = SessionCodec.Write(_sessions!, ref feed.Sessions, _piece, DhtLimits.ChunkBytes);
        var body = send.Room(_piece.WrittenCount + 9);
        StateCodec.WriteEndHead(ref body, feed.Completed, _viewChangeClock);
        body.Raw(_piece.WrittenSpan);
        state.Counters.CountStateBytes(body.Length);
        send.Send(feed.Rank, DhtFrame.StateEnd, body.Length);
        if (feed.Completed) _feeds.Remove(feed);
        else feed.Credit--;
    }

    private sealed class Feed(int rank, ulong[] digests)
    {
        public readonly int Rank = rank;
        public readonly ulong[] Digests = digests;

        /// <summary>The entries of the range as they were at the view change.</summary>
        public readonly List<(byte[] Key, byte[] Value, ulong Version)> Entries = [];
        public SessionPlace Sessions;

        /// <summary>A question for single values that waits for room on the link.</summary>
        public byte[]? Question;
        public bool Completed;
        public int Range, Position, Scanned, Credit = DhtLimits.ChunkCredit;
    }
}
