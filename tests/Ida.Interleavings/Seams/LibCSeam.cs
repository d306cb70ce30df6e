using System.Diagnostics.CodeAnalysis;

namespace Ida.Interleavings.Seams;

/// <summary>The system calls of <c>ThreadSignal</c>: event descriptors, by number.</summary>
[SuppressMessage("Naming", "CA1720", Justification = "As the original")]
internal static unsafe class LibCSeam
{
    public const int NonBlocking = 1, CloseOnExec = 2, In = 1;
    private const long Millisecond = 1_000_000;

    public static int EventDescriptor(uint initial, int flags)
    {
        if (Scheduling.Lane.Current is null) return -1;
        var counts = Explored.Of<List<ulong>>(typeof(LibCSeam));
        counts.Add(initial);
        return counts.Count - 1;
    }

    public static nint Write(int descriptor, void* from, nuint count)
    {
        Explored.Fence("write");
        Explored.Of<List<ulong>>(typeof(LibCSeam))[descriptor] += *(ulong*)from;
        return (nint)count;
    }

    public static nint Read(int descriptor, void* to, nuint count)
    {
        Explored.Fence("read");
        var counts = Explored.Of<List<ulong>>(typeof(LibCSeam));
        if (counts[descriptor] == 0) return -1;
        *(ulong*)to = counts[descriptor];
        counts[descriptor] = 0;
        return (nint)count;
    }

    public static int Poll(Polled* polled, nuint count, int milliseconds)
    {
        int descriptor = polled->Descriptor;
        var counts = Explored.Of<List<ulong>>(typeof(LibCSeam));
        return Explored.Wait(() => counts[descriptor] > 0, milliseconds < 0 ? long.MaxValue : milliseconds * Millisecond, "poll") ? 1 : 0;
    }

    public static void Close(int descriptor)
    {
    }

    internal struct Polled
    {
        public int Descriptor;
        public short Wanted;
    }
}
