using System.Diagnostics.CodeAnalysis;
using System.Runtime.InteropServices;
using Ida.Interleavings.Scheduling;

namespace Ida.Interleavings.Seams;

/// <summary>The system calls of <c>ThreadSignal</c>: event descriptors, by number. A descriptor that is used after it was closed fails the schedule.</summary>
[SuppressMessage("Naming", "CA1720", Justification = "As the original")]
internal static unsafe class LibCSeam
{
    public const int NonBlocking = 1, CloseOnExec = 2, In = 1, Interrupted = 4;
    private const long Millisecond = 1_000_000;
    private const int InterruptedOneIn = 16;

    /// <summary>How many descriptors of a schedule are not closed.</summary>
    public static int OpenIn(Schedule schedule) => schedule.Things.TryGetValue(typeof(LibCSeam), out object? found) ? ((List<ulong?>)found).Count(static one => one is not null) : 0;

    public static int EventDescriptor(uint initial, int flags)
    {
        if (Lane.Current is null) return -1;
        var counts = Explored.Of<List<ulong?>>(typeof(LibCSeam));
        counts.Add(initial);
        return counts.Count - 1;
    }

    public static nint Write(int descriptor, void* from, nuint count)
    {
        Explored.Fence("write");
        Open(descriptor);
        Explored.Of<List<ulong?>>(typeof(LibCSeam))[descriptor] += *(ulong*)from;
        return (nint)count;
    }

    public static nint Read(int descriptor, void* to, nuint count)
    {
        Explored.Fence("read");
        Open(descriptor);
        var counts = Explored.Of<List<ulong?>>(typeof(LibCSeam));
        if (counts[descriptor] == 0) return -1;
        *(ulong*)to = counts[descriptor]!.Value;
        counts[descriptor] = 0;
        return (nint)count;
    }

    public static int Poll(Polled* polled, nuint count, int milliseconds)
    {
        int descriptor = polled->Descriptor;
        Open(descriptor);
        var counts = Explored.Of<List<ulong?>>(typeof(LibCSeam));
        // A signal of the operating system, once at most: each doubles what there is to explore.
        var interrupted = Explored.Of<Once>(typeof(Once));
        if (!interrupted.Done && Lane.Current!.Schedule.Happens(InterruptedOneIn))
        {
            interrupted.Done = true;
            Marshal.SetLastPInvokeError(Interrupted);
            return -1;
        }
        bool some = Explored.Wait(() => counts[descriptor] != 0, milliseconds < 0 ? long.MaxValue : milliseconds * Millisecond, "poll");
        Open(descriptor);
        return some ? 1 : 0;
    }

    public static void Close(int descriptor)
    {
        Explored.Fence("close");
        Open(descriptor);
        Explored.Of<List<ulong?>>(typeof(LibCSeam))[descriptor] = null;
    }

    private static void Open(int descriptor)
    {
        if (Explored.Of<List<ulong?>>(typeof(LibCSeam))[descriptor] is null) Lane.Current!.Schedule.Fail("A descriptor is used after it was closed");
    }

    internal sealed class Once
    {
        public bool Done;
    }

    internal struct Polled
    {
        public int Descriptor;
        public short Wanted;
    }
}
