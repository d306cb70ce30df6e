namespace Ida.Scenarios;

/// <summary>Checks now and then that this process holds not much more memory and descriptors than after its warm-up.</summary>
internal sealed class FlatMemory
{
    private const int WarmUp = 2, Every = 5;
    private const long MostBytes = 32L << 20;
    private const int MostDescriptors = 64;
    private long _memory, _first, _last;
    private int _descriptors, _batches;

    /// <summary>To be called after each batch: null, or what grew.</summary>
    public string? Grown()
    {
        if (++_batches % Every != 0) return null;
        long memory = GC.GetTotalMemory(forceFullCollection: true);
        int descriptors = OperatingSystem.IsLinux() ? Directory.GetFileSystemEntries("/proc/self/fd").Length : 0;
        _last = memory;
        if (_first == 0) _first = memory;
        if (_batches <= WarmUp * Every)
        {
            (_memory, _descriptors) = (Math.Max(_memory, memory), Math.Max(_descriptors, descriptors));
            return null;
        }
        if (memory > _memory + MostBytes) return $"memory grew from {_memory >> 20} to {memory >> 20} MiB";
        return descriptors > _descriptors + MostDescriptors ? $"descriptors grew from {_descriptors} to {descriptors}" : null;
    }

    public override string ToString() => $"memory {_first >> 10} KiB at first, {_last >> 10} KiB at last";
}
