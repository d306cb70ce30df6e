using Ida.Shared;

namespace Ida.Ordering;

/// <summary>
/// The attempts that a participant holds: by put, and in order of arrival. Records are pooled. What is held tells whether a put under an id is another put, or the same put
/// placed otherwise. Source: dht-order.md#records-stay-until-the-commit-is-everywhere.
/// </summary>
internal sealed class HeldRecords(DhtCounters counters)
{
    private const int MostRecords = 4096, MostPooledUses = 65_536;
    private readonly RecordTable _byPut = new();
    private readonly Stack<ParticipantRecord> _pool = [];
    private ParticipantRecord? _newest;
    private int _pooledUses;

    /// <summary>Operations held, oldest first.</summary>
    public ParticipantRecord? Oldest { get; private set; }

    public int Count => _byPut.Count;

    /// <summary>Bytes that all held puts take in a contribution.</summary>
    public long UnsettledBytes { get; private set; }

    public ParticipantRecord? Find(in AttemptId key) => _byPut.Find(key);

    /// <summary>The attempts at an operation, one after the other by <see cref="ParticipantRecord.OtherAttempt"/>.</summary>
    public ParticipantRecord? AttemptsOf(in OperationId id) => _byPut.AttemptsOf(id);

    /// <summary>Whether an attempt at the put is held. A read under its id does not count: only a lying member sends one.</summary>
    public bool HoldsPut(OperationId id)
    {
        for (var attempt = _byPut.AttemptsOf(id); attempt is not null; attempt = attempt.OtherAttempt)
            if (attempt.Kind.Changes) return true;
        return false;
    }

    /// <summary>
    /// Whether another put is held under the same id. Any two puts of one shard meet at its initialised members, so of two with different pairs
    /// at most one is held by all its participants, and only that one can be committed.
    /// </summary>
    public bool HoldsOtherPairs(ParticipantRecord op)
    {
        for (var other = _byPut.AttemptsOf(op.Key.Id); other is not null; other = other.OtherAttempt)
            if (other.Kind.Changes && !PutPayload.SamePairs(other.Payload, op.Payload)) return true;
        return false;
    }

    /// <summary>Whether the put to which the id was given is held: only its attempts carry no hash of their pairs.</summary>
    public bool HoldsFirst(OperationId id)
    {
        for (var attempt = _byPut.AttemptsOf(id); attempt is not null; attempt = attempt.OtherAttempt)
            if (attempt.Kind.Changes && attempt.Key.Payload == 0) return true;
        return false;
    }

    public ParticipantRecord New()
    {
        if (!_pool.TryPop(out var record)) return new(counters);
        _pooledUses -= record.Uses.Length;
        return record;
    }

    public void Add(ParticipantRecord op)
    {
        op.Move(RecordPhase.Proposed);
        _byPut.Add(op);
        op.Older = _newest;
        if (_newest is null) Oldest = op; else _newest.Newer = op;
        _newest = op;
        if (op.Kind.Changes) UnsettledBytes += SizeOf(op);
    }

    /// <summary>The attempt is over: its record leaves the table.</summary>
    public void Remove(ParticipantRecord op)
    {
        if (!op.Move(RecordPhase.Free)) return;
        LeaveTable(op);
        Recycle(op);
    }

    /// <summary>
    /// Once executed, stable and settled, a record leaves the table; a flush does not ask for reads. While uses of it wait for values (<see cref="LatePuts"/>), it does not go back to the pool.
    /// </summary>
    public void DropIfSettled(ParticipantRecord op)
    {
        if (op.Phase != RecordPhase.Finished || (op.Kind.Changes && !op.Settled)) return;
        if (op.LateUses == 0) Remove(op);
        else if (op.Move(RecordPhase.Late)) LeaveTable(op);
    }

    private void LeaveTable(ParticipantRecord op)
    {
        _byPut.Remove(op);
        if (op.Older is null) Oldest = op.Newer; else op.Older.Newer = op.Newer;
        if (op.Newer is null) _newest = op.Older; else op.Newer.Older = op.Older;
        op.Older = op.Newer = null;
        if (op.Kind.Changes) UnsettledBytes -= SizeOf(op);
    }

    /// <summary>Bytes of the record in a contribution.</summary>
    private static int SizeOf(ParticipantRecord op) => 68 + 3 * op.SlotCount;

    /// <summary>A record that is not in the table goes back to the pool.</summary>
    public void Recycle(ParticipantRecord op)
    {
        op.Reset();
        // A put of thousands of keys is rare, and its record large: the pool keeps few of these.
        if (_pool.Count >= MostRecords || _pooledUses + op.Uses.Length > MostPooledUses) return;
        _pooledUses += op.Uses.Length;
        _pool.Push(op);
    }

    /// <summary>The end of a view takes back every record, in whatever phase.</summary>
    public void Clear()
    {
        for (ParticipantRecord? op = Oldest, next; op is not null; op = next)
        {
            next = op.Newer;
            Recycle(op);
        }
        _byPut.Clear();
        Oldest = _newest = null;
        UnsettledBytes = 0;
    }

    /// <summary>No view follows: keeps none for later.</summary>
    public void ForgetFree()
    {
        _pool.Clear();
        _pool.TrimExcess();
        _pooledUses = 0;
    }
}
