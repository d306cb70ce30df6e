using System.Diagnostics;
using System.Runtime.InteropServices;

namespace Ida.Perf.Macro.Measuring;

/// <summary>The machine's monotonic clock in nanoseconds. All processes share it, so a time means the same in each of them.</summary>
internal static partial class Clock
{
    public const long Second = 1_000_000_000;
    public const long Millisecond = 1_000_000;
    private const int Monotonic = 1;
    private const int Absolute = 1;

    public static long Now => Stopwatch.GetTimestamp();

    /// <summary>Sleeps with the kernel's precision of some 50 µs; <c>Thread.Sleep</c> is coarser.</summary>
    public static void SleepUntil(long time)
    {
        while (Now < time)
        {
            var until = new TimeSpec { Seconds = (nint)(time / Second), Nanoseconds = (nint)(time % Second) };
            _ = Sleep(Monotonic, Absolute, until, 0);
        }
    }

    /// <summary>Waits without blocking a thread, to the millisecond.</summary>
    public static async Task UntilAsync(long time)
    {
        for (long left; (left = time - Now) > 0;) await Task.Delay(TimeSpan.FromMilliseconds(Math.Max(1, left / Millisecond)));
    }

    [LibraryImport("libc", EntryPoint = "clock_nanosleep")]
    private static partial int Sleep(int clock, int flags, in TimeSpec request, nint remain);

    [StructLayout(LayoutKind.Sequential)]
    private struct TimeSpec
    {
        public nint Seconds;
        public nint Nanoseconds;
    }
}
