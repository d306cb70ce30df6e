using System.Globalization;
using Oracle;

namespace Ida.Nodes;

/// <summary>The process table of this machine: a process is gone when its number is free or belongs to one that started at another time.</summary>
internal sealed class ProcessTable : IProcessProbe
{
    /// <summary>
    /// Names this machine's process table: the boot and the namespace of process numbers, so that two containers of one host are not taken
    /// for each other. Empty where that cannot be told; then nobody is proved dead by process number.
    /// </summary>
    public static string Host { get; } = Describe();

    /// <summary>When the own process started, in the unit of <see cref="StartOf"/>.</summary>
    public static long OwnStart { get; } = StartOf(Environment.ProcessId) ?? 0;

    public bool IsGone(int processNumber, long start) => Host.Length > 0 && start != 0 && StartOf(processNumber) is var found && (found is null || found != start);

    // A zombie has ended: its sockets are closed and it runs no more.
    private static long? StartOf(int processNumber)
    {
        try
        {
            string stat = File.ReadAllText(string.Create(CultureInfo.InvariantCulture, $"/proc/{processNumber}/stat"));
            string[] fields = stat[(stat.LastIndexOf(')') + 2)..].Split(' ');
            return fields[0] is "Z" or "X" ? null : long.Parse(fields[19], CultureInfo.InvariantCulture);
        }
        catch (Exception error) when (error is FileNotFoundException or DirectoryNotFoundException)
        {
            return null;
        }
        catch (IOException)
        {
            // The process ended while its entry was read.
            return null;
        }
    }

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
