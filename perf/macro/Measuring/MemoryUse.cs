namespace Ida.Perf.Macro.Measuring;

/// <summary>What the garbage collector did so far in this process.</summary>
internal readonly record struct MemoryUse(long AllocatedBytes, int Collections, double PauseMs)
{
    public static MemoryUse Now => new(GC.GetTotalAllocatedBytes(), GC.CollectionCount(0), GC.GetTotalPauseDuration().TotalMilliseconds);

    public static MemoryUse operator -(MemoryUse to, MemoryUse from) =>
        new(to.AllocatedBytes - from.AllocatedBytes, to.Collections - from.Collections, to.PauseMs - from.PauseMs);
}
