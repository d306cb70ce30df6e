using System.Globalization;

namespace Ida.Perf.Macro.Measuring;

/// <summary>What the garbage collector has done so far in this process.</summary>
internal readonly record struct MemoryUse(long AllocatedBytes, int Collections, double PauseMs)
{
    public static MemoryUse Now => new(GC.GetTotalAllocatedBytes(), GC.CollectionCount(0), GC.GetTotalPauseDuration().TotalMilliseconds);

    /// <summary>Resident memory of a process, shared pages included, from <c>/proc</c>.</summary>
    public static long ResidentBytes(int process) =>
        long.Parse(File.ReadAllText($"/proc/{process}/statm").Split(' ')[1], CultureInfo.InvariantCulture) * Environment.SystemPageSize;

    public static MemoryUse operator -(MemoryUse to, MemoryUse from) =>
        new(to.AllocatedBytes - from.AllocatedBytes, to.Collections - from.Collections, to.PauseMs - from.PauseMs);
}
