using System.Runtime.InteropServices;

namespace GroupCore.Platform;

/// <summary>
/// Wakes one thread; a signal that comes while no thread waits is kept. On Linux it is an event descriptor, with one system call per operation: an
/// <see cref="AutoResetEvent"/> wakes its waiter twice, once only to enter the lock of its condition.
/// </summary>
internal sealed unsafe class ThreadSignal : IDisposable
{
    private const long Millisecond = 1_000_000;
    private readonly int _descriptor = -1;
    private readonly AutoResetEvent? _event;

    /// <param name="portable">Uses what other systems use, even on Linux.</param>
    public ThreadSignal(bool portable = false)
    {
        if (OperatingSystem.IsLinux() && !portable) _descriptor = LibC.EventDescriptor(0, LibC.NonBlocking | LibC.CloseOnExec);
        if (_descriptor < 0) _event = new(false);
    }

    public void Set()
    {
        if (_event is not null) _event.Set();
        else if (OperatingSystem.IsLinux())
        {
            ulong one = 1;
            LibC.Write(_descriptor, &one, sizeof(ulong));
        }
    }

    /// <summary>False when the time passed first.</summary>
    public bool Wait(int milliseconds)
    {
        if (_event is not null) return Wait(_event, milliseconds);
        if (!OperatingSystem.IsLinux()) return false;
        var poll = new LibC.Polled { Descriptor = _descriptor, Wanted = (short)LibC.In };
        long end = milliseconds < 0 ? long.MaxValue : HostClock.Now() + (milliseconds * Millisecond);
        while (true)
        {
            int found = LibC.Poll(&poll, 1, milliseconds);
            ulong count;
            if (found > 0 && LibC.Read(_descriptor, &count, sizeof(ulong)) > 0) return true;
            // A POSIX signal ends a poll before its time.
            if (found == 0 || (found < 0 && Marshal.GetLastPInvokeError() != LibC.Interrupted)) return false;
            if (milliseconds >= 0) milliseconds = (int)Math.Max(0, (end - HostClock.Now() + Millisecond - 1) / Millisecond);
        }
    }

    // Ignores interrupts: they are meant for user code that ran on this thread and ended before they came.
    private static bool Wait(AutoResetEvent signal, int milliseconds)
    {
        while (true)
        {
            try
            {
                return signal.WaitOne(milliseconds);
            }
            catch (ThreadInterruptedException)
            {
            }
        }
    }

    public void Dispose()
    {
        _event?.Dispose();
        if (_descriptor >= 0 && OperatingSystem.IsLinux()) LibC.Close(_descriptor);
    }
}
