using System.Diagnostics;

namespace GroupCore.Platform;

/// <summary>The clock of a node's loop, in nanoseconds from a moment that is the same for all nodes of a host.</summary>
/// <remarks>
/// It also counts while the machine is suspended: a process that wakes must see that its lease is over, since the other processes have gone on.
/// On Linux the clock behind <see cref="Stopwatch"/> stands still meanwhile, so CLOCK_BOOTTIME, which does not, is read instead: no system call either, and
/// the same cost (35 ns each, on a virtual machine). On Windows the stopwatch itself counts on; elsewhere (macOS) it does not. No clock counts while the host
/// stops a virtual machine without telling it.
/// </remarks>
internal static class HostClock
{
    private static readonly bool s_boot = OperatingSystem.IsLinux() && LibC.TryReadClock(LibC.BootTime, out _);

    public static long Now()
    {
        if (OperatingSystem.IsLinux() && s_boot && LibC.TryReadClock(LibC.BootTime, out long now)) return now;
        return Stopwatch.Frequency == 1_000_000_000
            ? Stopwatch.GetTimestamp()
            : (long)((Int128)Stopwatch.GetTimestamp() * 1_000_000_000 / Stopwatch.Frequency);
    }
}
