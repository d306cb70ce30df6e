using System.Runtime.InteropServices;
using System.Runtime.Versioning;

namespace GroupCore.Platform;

/// <summary>System calls of the runtime; arguments are blittable, so a call costs no marshalling.</summary>
[SupportedOSPlatform("linux")]
internal static unsafe partial class LibC
{
    public const int WouldBlock = 11, Interrupted = 4, InProgress = 115, Refused = 111, InUse = 98, Aborted = 103, NoSuchProcess = 3, TooManyOpen = 24, TooManyOpenInSystem = 23;
    public const int Stream = 1, NonBlocking = 0x800, CloseOnExec = 0x80000;
    public const int SocketLevel = 1, ReuseAddress = 2, Error = 4, KeepAlive = 9, TcpLevel = 6, NoDelay = 1, KeepAliveIdle = 4, KeepAliveInterval = 5, KeepAliveQuestions = 6, UserTimeout = 18;
    public const int VersionSixLevel = 41, VersionSixOnly = 26;
    public const int DontWait = 0x40, NoSignal = 0x4000;
    public const int Add = 1, Delete = 2;
    public const int BootTime = 7;
    public const uint In = 1, Out = 4, Err = 8, Hup = 0x10, ReadHup = 0x2000, Edge = 0x80000000;

    [StructLayout(LayoutKind.Sequential)]
    public struct IoVector
    {
        public byte* Base;
        public nuint Length;
    }

    [StructLayout(LayoutKind.Sequential)]
    public struct Message
    {
        public void* Name;
        public uint NameLength;
        public IoVector* Vectors;
        public nuint Count;
        public void* Control;
        public nuint ControlLength;
        public int Flags;
    }

    [StructLayout(LayoutKind.Sequential)]
    public struct Polled
    {
        public int Descriptor;
        public short Wanted;
        public short Found;
    }

    [StructLayout(LayoutKind.Sequential)]
    private struct Time
    {
        public nint Seconds;
        public nint Nanoseconds;
    }

    /// <summary>What a clock of the system shows, in nanoseconds; false when the system has no clock of that number.</summary>
    public static bool TryReadClock(int clock, out long nanoseconds)
    {
        Time time;
        bool read = GetTime(clock, &time) == 0;
        nanoseconds = read ? (time.Seconds * 1_000_000_000L) + time.Nanoseconds : 0;
        return read;
    }

    [LibraryImport("libc", EntryPoint = "socket", SetLastError = true)]
    public static partial int Socket(int family, int type, int protocol);

    [LibraryImport("libc", EntryPoint = "bind", SetLastError = true)]
    public static partial int Bind(int socket, byte* address, uint length);

    [LibraryImport("libc", EntryPoint = "listen", SetLastError = true)]
    public static partial int Listen(int socket, int backlog);

    [LibraryImport("libc", EntryPoint = "getsockname", SetLastError = true)]
    public static partial int GetSocketName(int socket, byte* address, uint* length);

    [LibraryImport("libc", EntryPoint = "getpeername", SetLastError = true)]
    public static partial int GetPeerName(int socket, byte* address, uint* length);

    [LibraryImport("libc", EntryPoint = "connect", SetLastError = true)]
    public static partial int Connect(int socket, byte* address, uint length);

    [LibraryImport("libc", EntryPoint = "accept4", SetLastError = true)]
    public static partial int Accept(int socket, byte* address, uint* length, int flags);

    [LibraryImport("libc", EntryPoint = "setsockopt", SetLastError = true)]
    public static partial int SetOption(int socket, int level, int name, int* value, uint length);

    [LibraryImport("libc", EntryPoint = "getsockopt", SetLastError = true)]
    public static partial int GetOption(int socket, int level, int name, int* value, uint* length);

    [LibraryImport("libc", EntryPoint = "recv", SetLastError = true)]
    public static partial nint Receive(int socket, byte* to, nuint length, int flags);

    [LibraryImport("libc", EntryPoint = "sendmsg", SetLastError = true)]
    public static partial nint Send(int socket, Message* message, int flags);

    [LibraryImport("libc", EntryPoint = "kill", SetLastError = true)]
    public static partial int Kill(int process, int signal);

    [LibraryImport("libc", EntryPoint = "close", SetLastError = true)]
    public static partial int Close(int descriptor);

    [LibraryImport("libc", EntryPoint = "epoll_create1", SetLastError = true)]
    public static partial int EpollCreate(int flags);

    [LibraryImport("libc", EntryPoint = "epoll_ctl", SetLastError = true)]
    public static partial int EpollControl(int poll, int operation, int descriptor, byte* what);

    [LibraryImport("libc", EntryPoint = "epoll_wait", SetLastError = true)]
    public static partial int EpollWait(int poll, byte* events, int most, int milliseconds);

    [LibraryImport("libc", EntryPoint = "poll", SetLastError = true)]
    public static partial int Poll(Polled* descriptors, nuint count, int milliseconds);

    [LibraryImport("libc", EntryPoint = "eventfd", SetLastError = true)]
    public static partial int EventDescriptor(uint value, int flags);

    [LibraryImport("libc", EntryPoint = "read", SetLastError = true)]
    public static partial nint Read(int descriptor, void* to, nuint length);

    [LibraryImport("libc", EntryPoint = "write", SetLastError = true)]
    public static partial nint Write(int descriptor, void* from, nuint length);

    // The call returns at once and never waits for the collector: leaving the transition out spares most of what a call costs.
    [LibraryImport("libc", EntryPoint = "clock_gettime")]
    [SuppressGCTransition]
    private static partial int GetTime(int clock, Time* time);
}
