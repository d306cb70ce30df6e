using System.Diagnostics.CodeAnalysis;

namespace GroupCore.Groups.PointToPoint;

/// <summary>
/// By receiver: messages of the current view that wait for room on the link or in the receiver's window. Messages to one receiver
/// hold up no others.
/// </summary>
internal sealed class RoomQueues<T>(int members)
{
    private Queue<T>?[] _waiting = [];
    private long[] _sent = [];

    public int Count { get; private set; }

    public int CountOf(int rank) => Count > 0 ? _waiting[rank]?.Count ?? 0 : 0;

    /// <summary>How many have gone out to a receiver after a wait.</summary>
    public long SentTo(int rank) => _sent.Length > 0 ? _sent[rank] : 0;

    public void Add(int rank, T call)
    {
        if (_waiting.Length == 0) (_waiting, _sent) = (new Queue<T>?[members], new long[members]);
        (_waiting[rank] ??= new()).Enqueue(call);
        Count++;
    }

    public bool TryPeek(int rank, [MaybeNullWhen(false)] out T next)
    {
        next = default;
        return Count > 0 && _waiting[rank] is { } queue && queue.TryPeek(out next);
    }

    public bool TryDequeue(int rank, [MaybeNullWhen(false)] out T next)
    {
        if (!TryPeek(rank, out next)) return false;
        _waiting[rank]!.Dequeue();
        _sent[rank]++;
        Count--;
        return true;
    }

    /// <summary>Releases its memory when it is empty.</summary>
    public void Trim()
    {
        if (Count == 0) Array.Clear(_waiting);
    }

    /// <summary>Takes all messages, once they do not go out any more.</summary>
    public IEnumerable<T> TakeAll()
    {
        for (int rank = 0; rank < _waiting.Length; rank++)
            while (TryDequeue(rank, out var next)) yield return next;
    }
}
