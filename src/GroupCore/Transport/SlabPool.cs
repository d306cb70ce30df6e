namespace GroupCore.Transport;

/// <summary>
/// Slabs of one loop in four sizes: 16 KiB for what waits for one stranger, 64 KiB for ordinary frames and receive buffers, 256 KiB and 1 MiB
/// for large frames. Keeps a bounded number of free slabs.
/// </summary>
internal sealed class SlabPool
{
    public const int SmallBytes = 64 << 10;
    public const int MediumBytes = 256 << 10;
    private const long FreeBytes = 16L << 20;
    private readonly Stack<Slab>[] _free = [new(), new(), new(), new()];
    private long _made;

    /// <summary>Bytes of the slabs in use.</summary>
    public long RentedBytes { get; private set; }

    /// <summary>A slab of at least <paramref name="size"/> bytes, at most <see cref="LinkLimits.FrameBytes"/>, held once by the caller.</summary>
    public Slab Rent(int size)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThan(size, LinkLimits.FrameBytes);
        int sizeClass = size <= LinkLimits.StrangerBytes ? 0 : size <= SmallBytes ? 1 : size <= MediumBytes ? 2 : 3;
        if (!_free[sizeClass].TryPop(out var slab)) slab = new(this, sizeClass, SizeOf(sizeClass), ++_made);
        slab.AddReference();
        RentedBytes += slab.Bytes.Length;
        return slab;
    }

    internal void Return(Slab slab)
    {
        RentedBytes -= slab.Bytes.Length;
        var free = _free[slab.SizeClass];
        if ((long)free.Count * slab.Bytes.Length < FreeBytes) free.Push(slab);
    }

    private static int SizeOf(int sizeClass) => sizeClass switch { 0 => LinkLimits.StrangerBytes, 1 => SmallBytes, 2 => MediumBytes, _ => LinkLimits.FrameBytes };
}
