namespace Ida.Coordination;

/// <summary>
/// How much has given its share back, in all and by the member that it waits for: for room, for the view, or for an answer. An operation may
/// wait for several members; it counts for the one that was found last. One that is large by itself counts no bytes, or the others would be
/// refused for its sake, or it for theirs.
/// </summary>
internal sealed class ParkedOps
{
    private const int MostOfOne = 3;

    // By rank in this view.
    private (int Ops, long Bytes)[] _of = [];
    private ClientOp? _large;

    public int Count { get; private set; }

    /// <summary>Those of all but the large one.</summary>
    public long Bytes { get; private set; }

    public bool HasLarge => _large is not null;

    public void Add(ClientOp op, int rank, bool large)
    {
        if (large) _large ??= op;
        Count++;
        Bytes += BytesOf(op);
        Attribute(op, rank);
    }

    public void Remove(ClientOp op)
    {
        Count--;
        Bytes -= BytesOf(op);
        Attribute(op, -1);
        if (op == _large) _large = null;
    }

    /// <summary>Whether it has more than may wait for one member where nothing else waits.</summary>
    public static bool IsLarge(long bytes, long most) => bytes > MostOfOne * (most - bytes);

    /// <summary>It waits for this member now; for none with −1.</summary>
    public void Attribute(ClientOp op, int rank)
    {
        if (op.Awaits == rank) return;
        CountFor(op.Awaits, -1, -BytesOf(op));
        op.Awaits = rank;
        CountFor(rank, 1, BytesOf(op));
    }

    /// <summary>
    /// Whether what waits for a member, with one operation more, is at most three times what that leaves for all else: so a member that takes
    /// or says nothing does not cost operations on others their place to wait.
    /// </summary>
    public bool LeavesEnough(int rank, long bytes, long opsLeft, long bytesLeft)
    {
        var of = rank < _of.Length ? _of[rank] : default;
        return of.Ops + 1 <= MostOfOne * opsLeft && of.Bytes + bytes <= MostOfOne * bytesLeft;
    }

    private long BytesOf(ClientOp op) => op == _large ? 0 : op.Charge;

    private void CountFor(int rank, int ops, long bytes)
    {
        if (rank < 0) return;
        if (rank >= _of.Length) Array.Resize(ref _of, rank + 1);
        _of[rank] = (_of[rank].Ops + ops, _of[rank].Bytes + bytes);
    }
}
