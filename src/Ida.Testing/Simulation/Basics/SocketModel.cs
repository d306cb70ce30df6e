namespace Ida.Testing;

/// <summary>What simulated sockets do beyond what the network does to them. Chances are in 0 … 1.</summary>
internal sealed record SocketModel
{
    /// <summary>Chance of a receive to return a part of what is there.</summary>
    public double ShortRead { get; init; } = 0.1;

    /// <summary>Chance of a send to take a part of what there is room for.</summary>
    public double ShortWrite { get; init; } = 0.05;

    /// <summary>Share of the directions of connections whose buffers hold <see cref="LeastBuffer"/> to eight times as much; those of the others hold 128 KiB to 4 MiB.</summary>
    public double SmallBuffers { get; init; } = 0.1;

    /// <summary>Bytes of the smallest buffers. A round trip carries that much: with 16 KiB, some 10 MB/s, which is more than the least that links must carry.</summary>
    public int LeastBuffer { get; init; } = 16 << 10;

    /// <summary>Chance of a send to have the connection reset after it.</summary>
    public double Reset { get; init; }

    /// <summary>Chance of a dial to get lost half-way, in one of several ways.</summary>
    public double HalfDial { get; init; }

    /// <summary>Chance of a dial to throw at once: no descriptor, or no way.</summary>
    public double DialThrows { get; init; }

    /// <summary>Chance of an accept to fail: no descriptor, or no memory.</summary>
    public double AcceptFails { get; init; }

    /// <summary>Most sockets of a node, the listening one included.</summary>
    public int Descriptors { get; init; } = int.MaxValue;

    /// <summary>All of these at once, for use with faults of links and of processes.</summary>
    public static SocketModel Rough { get; } = new()
    {
        ShortRead = 0.25, ShortWrite = 0.15, SmallBuffers = 0.5, Reset = 0.0005, HalfDial = 0.05, DialThrows = 0.02, AcceptFails = 0.05,
    };

    /// <summary>Whether connections and dials may get lost by bad luck alone.</summary>
    public bool MayFail => Reset > 0 || HalfDial > 0 || DialThrows > 0 || AcceptFails > 0;

    /// <summary>The first rule these values break, null for none.</summary>
    public string? BrokenRule =>
        ((ReadOnlySpan<double>)[ShortRead, ShortWrite, SmallBuffers, Reset, HalfDial, DialThrows, AcceptFails]).ContainsAnyExceptInRange(0, 1) ? "chances of sockets in 0..1"
        : LeastBuffer < 1 ? "Sockets.LeastBuffer >= 1"
        : Descriptors < 2 ? "Sockets.Descriptors >= 2"
        : null;
}
