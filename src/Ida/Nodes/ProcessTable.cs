using System.Globalization;
using System.Runtime.InteropServices;
using GroupCore.Platform;
using Oracle;

namespace Ida.Nodes;

/// <summary>The process table of this machine: a process is gone when it is a zombie, when its number is certainly free, or
/// when its number belongs to a process that started at another time. A process that cannot be looked at is not gone.</summary>
internal sealed class ProcessTable(string entries = ProcessTable.Entries) : IProcessProbe
{
    private const string Entries = "/proc";

    /// <summary>
    /// Names this machine's process table: the boot and the namespace of process numbers, so that two containers of one host are not taken
    /// for each other. Empty where that cannot be told; then no process is proved dead by its number.
    /// </summary>
    public static string Host { get; } = Describe();

    /// <summary>When this process started, in the unit of <see cref="TryFind"/>.</summary>
    public static long OwnStart { get; } = TryFind(Environment.ProcessId, out long? start) ? start ?? 0 : 0;

    public bool IsGone(int processNumber, long start) => Host.Length > 0 && start != 0 && processNumber > 0
        && (TryFind(processNumber, out long? found, entries) ? found != start : IsFree(processNumber));

    /// <summary>When the process of that number started, null for a zombie, which runs no more; false when its entry cannot be read.</summary>
    internal static bool TryFind(int processNumber, out long? start, string entries = Entries)
    {
        start = null;
        try
        {
            string stat = File.ReadAllText(string.Create(CultureInfo.InvariantCulture, $"{entries}/{processNumber}/stat"));
            string[] fields = stat[Math.Min(stat.Length, stat.LastIndexOf(')') + 2)..].Split(' ');
            if (fields[0] is "Z" or "X") return true;
            if (fields.Length < 20 || !long.TryParse(fields[19], NumberStyles.None, CultureInfo.InvariantCulture, out long found)) return false;
            start = found;
            return true;
        }
        catch (Exception error) when (error is IOException or UnauthorizedAccessException)
        {
            // The process may have ended, or be hidden from this user, or this process may be out of descriptors: that proves nothing.
            return false;
        }
    }

    /// <summary>Whether the system says that no process has this number. It needs no descriptor and sees hidden processes too.</summary>
    private static bool IsFree(int processNumber) =>
        OperatingSystem.IsLinux() && LibC.Kill(processNumber, 0) != 0 && Marshal.GetLastPInvokeError() == LibC.NoSuchProcess;

    private static string Describe()
    {
        if (!OperatingSystem.IsLinux()) return "";
        try
        {
            string boot = File.ReadAllText("/proc/sys/kernel/random/boot_id").Trim();
            string names = new FileInfo("/proc/self/ns/pid").LinkTarget ?? "";
            return names.Length == 0 ? "" : $"{boot}/{names}";
        }
        catch (Exception error) when (error is IOException or UnauthorizedAccessException)
        {
            return "";
        }
    }
}
