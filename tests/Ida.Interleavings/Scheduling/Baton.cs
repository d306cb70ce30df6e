using System.Runtime.InteropServices;

namespace Ida.Interleavings.Scheduling;

/// <summary>
/// The thread that takes the baton may run; a baton that was given is kept until then. On Linux it is a blocking event descriptor: a switch between two threads of one core then costs two
/// system calls.
/// </summary>
internal sealed unsafe partial class Baton : IDisposable
{
    private readonly int _descriptor = OperatingSystem.IsLinux() ? EventDescriptor(0, 0) : -1;
    private readonly SemaphoreSlim? _semaphore;

    public Baton()
    {
        if (_descriptor < 0) _semaphore = new(0);
    }

    // The descriptor lasts as long as its thread, which ends with the process.
    public void Dispose() => _semaphore?.Dispose();

    public void Give()
    {
        ulong one = 1;
        if (_semaphore is not null) _semaphore.Release();
        else _ = Write(_descriptor, &one, sizeof(ulong));
    }

    public void Take()
    {
        ulong count;
        if (_semaphore is not null) _semaphore.Wait();
        else while (Read(_descriptor, &count, sizeof(ulong)) < 0);
    }

    /// <summary>Lets the calling thread run on one core only: a thread that hands the baton to another core waits for that core to wake.</summary>
    public static void StayOn(int core)
    {
        if (!OperatingSystem.IsLinux()) return;
        byte* mask = stackalloc byte[128];
        new Span<byte>(mask, 128).Clear();
        mask[core / 8 % 128] = (byte)(1 << (core % 8));
        _ = SetAffinity(0, 128, mask);
    }

    [LibraryImport("libc", EntryPoint = "eventfd")]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static partial int EventDescriptor(uint initial, int flags);

    [LibraryImport("libc", EntryPoint = "read")]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static partial nint Read(int descriptor, void* to, nuint count);

    [LibraryImport("libc", EntryPoint = "write")]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static partial nint Write(int descriptor, void* from, nuint count);

    [LibraryImport("libc", EntryPoint = "sched_setaffinity")]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static partial int SetAffinity(int thread, nuint size, byte* mask);
}
