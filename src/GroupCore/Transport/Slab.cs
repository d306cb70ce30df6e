namespace GroupCore.Transport;

/// <summary>
/// A pinned block of bytes shared by slices. Counted by the loop alone, so the count is a plain integer: the slab goes back to its
/// pool with the last slice, which is when the last receiver has acknowledged its bytes.
/// </summary>
internal sealed class Slab(SlabPool pool, int sizeClass, int size, long number)
{
    private int _references;

    public byte[] Bytes { get; } = GC.AllocateUninitializedArray<byte>(size, pinned: true);

    public int SizeClass => sizeClass;

    /// <summary>At least 1, and different for each slab that its pool ever made.</summary>
    public long Number => number;

    /// <summary>Whether nobody but its writer holds it: then it may be filled from the start again.</summary>
    public bool IsHeldOnce => _references == 1;

    public void AddReference() => _references++;

    public void Release()
    {
        if (--_references == 0) pool.Return(this);
    }
}
