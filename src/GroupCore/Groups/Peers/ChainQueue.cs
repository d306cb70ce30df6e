using GroupCore.Groups.Multicast;

namespace GroupCore.Groups.Peers;

/// <summary>
/// By receiver: messages that handlers of this view's messages sent and that are under way (R13), but wait for room on the link. Links get
/// room from the receivers' loops and not from their handlers, so these waits end whatever waits for whom.
/// </summary>
internal sealed class ChainQueue(int members)
{
    private Queue<(SendOperation Call, uint Id)>?[] _waiting = [];
    private long[] _sent = [];

    public int Count { get; private set; }

    public bool HasAny(int rank) => Count > 0 && _waiting[rank] is { Count: > 0 };

    /// <summary>How many have gone out to a receiver after a wait.</summary>
    public long SentTo(int rank) => _sent.Length > 0 ? _sent[rank] : 0;

    public void Add(int rank, SendOperation call, uint id)
    {
        if (_waiting.Length == 0) (_waiting, _sent) = (new Queue<(SendOperation, uint)>?[members], new long[members]);
        (_waiting[rank] ??= new()).Enqueue((call, id));
        Count++;
    }

    public bool TryDequeue(int rank, out (SendOperation Call, uint Id) next)
    {
        next = default;
        if (!HasAny(rank)) return false;
        next = _waiting[rank]!.Dequeue();
        _sent[rank]++;
        Count--;
        return true;
    }

    /// <summary>Takes all of them, when the view is over for this member.</summary>
    public List<SendOperation> TakeAll()
    {
        var calls = new List<SendOperation>(Count);
        for (int rank = 0; rank < _waiting.Length; rank++)
            while (TryDequeue(rank, out var next)) calls.Add(next.Call);
        return calls;
    }
}
