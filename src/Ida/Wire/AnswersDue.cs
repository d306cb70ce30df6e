namespace Ida.Wire;

/// <summary>
/// Answers that wait with their question, by asker. They go out in order as its link takes them, and end with the view. Bounded, because
/// each asker bounds what it asks for (<see cref="DhtOptions.MaxInFlight"/>, <see cref="DhtOptions.MaxInFlightBytes"/>), and because a
/// member refuses more questions when <see cref="IsFull"/>.
/// </summary>
internal sealed class AnswersDue(DhtOptions options)
{
    private Queue<DueAnswer>?[] _of = [];
    private long _bytes;
    private int _count;

    /// <summary>Whether no more questions are taken.</summary>
    public bool IsFull => _count >= options.MaxOperations || _bytes >= 4 * options.MaxInFlightBytes;

    public bool HasAny(int rank) => _count > 0 && rank < _of.Length && _of[rank] is { Count: > 0 };

    public void Add(int rank, DueAnswer answer)
    {
        if (rank >= _of.Length) Array.Resize(ref _of, rank + 1);
        (_of[rank] ??= new()).Enqueue(answer);
        _count++;
        _bytes += answer.Bytes;
    }

    public bool TryTake(int rank, out DueAnswer answer)
    {
        answer = null!;
        if (!HasAny(rank)) return false;
        answer = _of[rank]!.Dequeue();
        _count--;
        _bytes -= answer.Bytes;
        return true;
    }

    /// <summary>The view is over.</summary>
    public void Clear()
    {
        _of = [];
        (_count, _bytes) = (0, 0);
    }
}
