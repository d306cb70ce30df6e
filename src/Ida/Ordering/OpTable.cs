namespace Ida.Ordering;

/// <summary>The attempts that a participant holds, by logical operation: those of one are chained, and nearly always there is one.</summary>
internal sealed class OpTable
{
    /// <summary>Attempts of one operation that may be held at a time: they are searched one by one.</summary>
    public const int MostAttempts = 32;

    private readonly Dictionary<OpId, OpRecord> _byId = [];

    public int Count { get; private set; }

    public OpRecord? Find(in OpKey key)
    {
        var op = _byId.GetValueOrDefault(key.Id);
        while (op is not null && op.Key != key) op = op.OtherAttempt;
        return op;
    }

    /// <summary>The attempts of an operation, one after the other by <see cref="OpRecord.OtherAttempt"/>.</summary>
    public OpRecord? AttemptsOf(OpId id) => _byId.GetValueOrDefault(id);

    public void Add(OpRecord op)
    {
        Count++;
        if (_byId.TryAdd(op.Key.Id, op)) return;
        op.OtherAttempt = _byId[op.Key.Id];
        _byId[op.Key.Id] = op;
    }

    public void Remove(OpRecord op)
    {
        if (!_byId.TryGetValue(op.Key.Id, out var first)) return;
        if (first == op)
        {
            if (op.OtherAttempt is { } next) _byId[op.Key.Id] = next;
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
        Count = 0;
    }
}
