namespace Ida.Coordination;

/// <summary>
/// Counts the operations that have given their share back, in all and by the member for which they wait: for room, for the view, or for an
/// answer. An operation that waits for several members counts for the one found last. One operation that is large by itself counts no bytes:
/// otherwise other operations would be refused because of it, or it because of them.
/// </summary>
internal sealed class ParkedOperations
{
    private const int MostOfOne = 3;

    // Indexed by rank in this view.
    private (int Ops, long Bytes)[] _of = [];
    private ClientOperation? _large;

    public int Count { get; private set; }

    /// <summary>Bytes of all but the large operation.</summary>
    public long Bytes { get; private set; }

    public bool HasLarge => _large is not null;

    public void Add(ClientOperation op, int rank, bool large)
    {
        if (large) _large ??= op;
        Count++;
        Bytes += BytesOf(op);
        Attribute(op, rank);
    }

    public void Remove(ClientOperation op)
    {
        Count--;
        Bytes -= BytesOf(op);
        Attribute(op, -1);
        if (op == _large) _large = null;
    }

    /// <summary>Whether an operation has more bytes than may wait for one member when nothing else waits.</summary>
    public static bool IsLarge(long bytes, long most) => bytes > MostOfOne * (most - bytes);

    /// <summary>The operation now waits for this member; −1 for none.</summary>
    public void Attribute(ClientOperation op, int rank)
    {
        if (op.Awaits == rank) return;
        CountFor(op.Awaits, -1, -BytesOf(op));
        op.Awaits = rank;
        CountFor(rank, 1, BytesOf(op));
    }

    /// <summary>
    /// Whether the operations that wait for a member, with one more, take at most three times what they leave for all others: so even if a member
    /// takes or answers nothing, operations on other members have room to wait.
    /// </summary>
    public bool LeavesEnough(int rank, long bytes, long opsLeft, long bytesLeft)
    {
        var of = rank < _of.Length ? _of[rank] : default;
        return of.Ops + 1 <= MostOfOne * opsLeft && of.Bytes + bytes <= MostOfOne * bytesLeft;
    }

    private long BytesOf(ClientOperation op) => op == _large ? 0 : op.Charge;

    private void CountFor(int rank, int ops, long bytes)
    {
        if (rank < 0) return;
        if (rank >= _of.Length) Array.Resize(ref _of, rank + 1);
        _of[rank] = (_of[rank].Ops + ops, _of[rank].Bytes + bytes);
    }
}
