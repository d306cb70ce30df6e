namespace GroupCore.Groups.Buffers;

/// <summary>
/// Slabs that no group of a node uses at this moment; in turns only. The slab given back last is given out first, while it is in the caches. A
/// group holds a slab only as long as something in it is unstable or not handled, so groups at rest hold none.
/// </summary>
internal sealed class MessageSlabPool
{
    private const int Kept = 8;
    private readonly MessageSlab?[] _slabs = new MessageSlab?[Kept];
    private int _count;

    /// <summary>A slab with room for at least <paramref name="size"/> bytes, held by the caller.</summary>
    public MessageSlab Rent(int size)
    {
        if (size > MessageSlab.Size || _count == 0) return MessageSlab.Rent(Math.Max(MessageSlab.Size, size));
        var slab = _slabs[--_count]!;
        _slabs[_count] = null;
        slab.Used = 0;
        return slab;
    }

    /// <summary>Gives a slab back if only the caller holds it; then it is null.</summary>
    public void GiveBack(ref MessageSlab? slab)
    {
        if (slab is not { Alone: true }) return;
        if (_count == Kept || slab.Bytes.Length != MessageSlab.Size) slab.Release(1);
        else _slabs[_count++] = slab;
        slab = null;
    }
}
