namespace GroupCore.Transport;

/// <summary>
/// Slabs of one loop in three sizes; 64 KiB for ordinary frames and receive buffers, 256 KiB and 1 MiB for large frames.
/// Keeps a bounded number of free ones.
/// </summary>
internal sealed class SlabPool
{
    public const int SmallBytes = 64 << 10;
    private const int MediumBytes = 256 << 10;
    private const long FreeBytes = 16L << 20;
    private readonly Stack<Slab>[] _free = [new(), new(), new()];

    /// <summary>A slab of at least <paramref name="size"/> bytes, at most <see cref="LinkLimits.FrameBytes"/>, held once by the caller.</summary>
    public Slab Rent(int size)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThan(size, LinkLimits.FrameBytes);
        int sizeClass = size <= SmallBytes ? 0 : size <= MediumBytes ? 1 : 2;
        if (!_free[sizeClass].TryPop(out var slab)) slab = new(this, sizeClass, SizeOf(sizeClass));
        slab.AddReference();
        return slab;
    }

    internal void Return(Slab slab)
    {
        var free = _free[slab.SizeClass];
        if ((long)free.Count * slab.Bytes.Length < FreeBytes) free.Push(slab);
    }

    private static int SizeOf(int sizeClass) => sizeClass switch { 0 => SmallBytes, 1 => MediumBytes, _ => LinkLimits.FrameBytes };
}
