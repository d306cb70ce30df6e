using Ida.Shared;

namespace Ida.Ordering;

/// <summary>The attempts that a participant holds, by logical operation. Attempts of one operation are chained; nearly always there is only one.</summary>
internal sealed class RecordTable
{
    /// <summary>Attempts of one operation that may be held at a time: they are searched one by one.</summary>
    public const int MostAttempts = 32;

    private readonly Dictionary<OperationId, ParticipantRecord> _byId = [];

    // A cache of the last operation looked up, with its first attempt: a proposal looks its operation up six times, a commit four times.
    private OperationId _last;
    private ParticipantRecord? _first;

    public int Count { get; private set; }

    public ParticipantRecord? Find(in AttemptId key)
    {
        var op = AttemptsOf(key.Id);
        while (op is not null && op.Key != key) op = op.OtherAttempt;
        return op;
    }

    /// <summary>The attempts of an operation, one after the other by <see cref="ParticipantRecord.OtherAttempt"/>.</summary>
    public ParticipantRecord? AttemptsOf(in OperationId id)
    {
        if (id != _last) (_last, _first) = (id, _byId.GetValueOrDefault(id));
        return _first;
    }

    public void Add(ParticipantRecord op)
    {
        op.OtherAttempt = AttemptsOf(op.Key.Id);
        _first = _byId[op.Key.Id] = op;
        Count++;
    }

    public void Remove(ParticipantRecord op)
    {
        if (AttemptsOf(op.Key.Id) is not { } first) return;
        if (first == op)
        {
            _first = op.OtherAttempt;
            if (_first is not null) _byId[op.Key.Id] = _first;
            else _byId.Remove(op.Key.Id);
        }
        else
        {
            while (first.OtherAttempt is { } other && other != op) first = other;
            if (first.OtherAttempt is null) return;
            first.OtherAttempt = op.OtherAttempt;
        }
        op.OtherAttempt = null;
        Count--;
    }

    public void Clear()
    {
        _byId.Clear();
        _first = null;
        Count = 0;
    }
}
