using System.Globalization;
using GroupCore.Platform;

namespace GroupCore.Tests.Runtime;

/// <summary>The clock of a node's loop goes on while the machine sleeps, since leases end meanwhile.</summary>
public sealed class HostClockTests
{
    /// <summary>
    /// The system's uptime is the time since its start, including all time in which it was suspended. The test tells the two clocks apart only if there was such time, or
    /// anywhere with <c>unshare --time --boottime 1000</c> before the runner.
    /// </summary>
    [Fact]
    public void The_clock_of_a_loop_counts_the_time_in_which_the_machine_was_suspended()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "Only Linux has two clocks.");
        // The uptime is told in hundredths of a second.
        const long Step = 10_000_000;
        long before = Uptime(), now = HostClock.Now(), after = Uptime();
        Assert.InRange(now, before, after + Step);
    }

    private static long Uptime() => (long)(decimal.Parse(File.ReadAllText("/proc/uptime").Split(' ')[0], CultureInfo.InvariantCulture) * 1_000_000_000);
}
