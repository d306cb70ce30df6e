using System.Runtime.InteropServices;

namespace Ida.Process.Tests.Processes;

/// <summary>Signals to processes that a test started.</summary>
internal static partial class Signals
{
    public const int Interrupt = 2;
    public const int Kill = 9;
    public const int Terminate = 15;
    public const int Continue = 18;
    public const int Stop = 19;

    public static void Send(int processId, int signal) => Assert.Equal(0, kill(processId, signal));

    /// <summary>To all processes of the group that this process leads, as a terminal does at Ctrl-C.</summary>
    public static void SendToGroup(int leader, int signal) => Send(-leader, signal);

    [LibraryImport("libc")]
    private static partial int kill(int processId, int signal);
}
