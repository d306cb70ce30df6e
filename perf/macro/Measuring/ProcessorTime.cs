using System.Globalization;

namespace Ida.Perf.Macro.Measuring;

/// <summary>Processor time so far, in seconds, of some processes and of the machine.</summary>
internal readonly record struct ProcessorTime(double Own, double Busy, double All)
{
    private const double TicksPerSecond = 100;

    public static ProcessorTime Read(IEnumerable<int> processes)
    {
        double own = 0;
        foreach (int process in processes)
        {
            string path = $"/proc/{process}/stat";
            if (File.Exists(path)) own += OfProcess(File.ReadAllText(path));
        }
        var (busy, all) = OfMachine(File.ReadLines("/proc/stat").First());
        return new(own, busy, all);
    }

    /// <summary>Share of the machine's processor time that other processes used between two readings.</summary>
    public static double OthersShare(ProcessorTime from, ProcessorTime to) =>
        Math.Max(0, (to.Busy - from.Busy - (to.Own - from.Own)) / (to.All - from.All));

    /// <summary>User and system time of a line of <c>/proc/PID/stat</c>; the name in it may hold spaces and brackets.</summary>
    public static double OfProcess(string stat)
    {
        string[] fields = stat[(stat.LastIndexOf(')') + 2)..].Split(' ');
        return (Ticks(fields[11]) + Ticks(fields[12])) / TicksPerSecond;
    }

    /// <summary>Busy and total time from the first line of <c>/proc/stat</c>: cpu user nice system idle iowait irq softirq steal.</summary>
    public static (double Busy, double All) OfMachine(string line)
    {
        string[] fields = line.Split(' ', StringSplitOptions.RemoveEmptyEntries);
        double all = 0;
        for (int i = 1; i <= 8; i++) all += Ticks(fields[i]);
        return ((all - Ticks(fields[4]) - Ticks(fields[5])) / TicksPerSecond, all / TicksPerSecond);
    }

    private static double Ticks(string field) => long.Parse(field, CultureInfo.InvariantCulture);
}
