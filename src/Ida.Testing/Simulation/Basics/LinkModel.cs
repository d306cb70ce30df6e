namespace Ida.Testing;

/// <summary>
/// How the simulated network carries what nodes write. Times are virtual. Time-outs and pauses of dials are those of production over <see cref="SimCarrier.Mesh"/>.
/// </summary>
public sealed record LinkModel
{
    /// <summary>Shortest one-way latency; default 50 µs.</summary>
    public TimeSpan MinLatency { get; init; } = TimeSpan.FromMicroseconds(50);

    /// <summary>Longest ordinary one-way latency, uniform between both; default 1 ms.</summary>
    public TimeSpan MaxLatency { get; init; } = TimeSpan.FromMilliseconds(1);

    /// <summary>Probability that a write takes <see cref="TailLatency"/> longer; default 0.5 %.</summary>
    public double TailChance { get; init; } = 0.005;

    /// <summary>How much longer a write of the tail takes; default 15 ms.</summary>
    public TimeSpan TailLatency { get; init; } = TimeSpan.FromMilliseconds(15);

    /// <summary>
    /// Probability that a write is lost; default 0. With this, <see cref="Duplication"/> or <see cref="Reordering"/> above 0 writes travel
    /// as datagrams that links repeat and put in order; otherwise as over TCP: in order, or the connection breaks.
    /// </summary>
    public double Loss { get; init; }

    /// <summary>Probability that a write arrives twice; default 0.</summary>
    public double Duplication { get; init; }

    /// <summary>Probability that a write takes up to <see cref="ReorderDelay"/> longer and is overtaken; default 0.</summary>
    public double Reordering { get; init; }

    /// <summary>Longest delay of a write that is overtaken; default 5 ms.</summary>
    public TimeSpan ReorderDelay { get; init; } = TimeSpan.FromMilliseconds(5);

    /// <summary>Bytes per second of each direction of each link; 0, the default, is unlimited.</summary>
    public long BytesPerSecond { get; init; }

    /// <summary>After how long a dial without an answer fails as unreachable; default 1 s.</summary>
    public TimeSpan ConnectTimeout { get; init; } = TimeSpan.FromSeconds(1);

    /// <summary>First pause before dialling again, growing fivefold up to <see cref="RedialMaximum"/>; default 10 ms.</summary>
    public TimeSpan RedialMinimum { get; init; } = TimeSpan.FromMilliseconds(10);

    /// <summary>Longest pause before dialling again; default 1 s.</summary>
    public TimeSpan RedialMaximum { get; init; } = TimeSpan.FromSeconds(1);

    /// <summary>Probability that a node that asks for a peer that has dialled in learns only some time later, at most <see cref="ConnectTimeout"/>, who the peer is.</summary>
    internal double UnsettledChance { get; init; }

    /// <summary>Whether writes are lost, doubled or overtaken.</summary>
    internal bool UsesDatagrams => Loss > 0 || Duplication > 0 || Reordering > 0;

    /// <summary>The first rule these values break, null for none.</summary>
    internal string? BrokenRule =>
        MinLatency < TimeSpan.Zero || MaxLatency < MinLatency ? "0 <= Link.MinLatency <= Link.MaxLatency"
        : TailChance is not (>= 0 and <= 1) || TailLatency < TimeSpan.Zero ? "Link.TailChance in 0..1 and Link.TailLatency >= 0"
        : Loss is not (>= 0 and < 1) || Duplication is not (>= 0 and <= 1) || Reordering is not (>= 0 and <= 1)
            ? "Link.Loss in 0..1, 1 excluded, and Link.Duplication and Link.Reordering in 0..1"
        : ReorderDelay < TimeSpan.Zero ? "Link.ReorderDelay >= 0"
        : BytesPerSecond < 0 ? "Link.BytesPerSecond >= 0"
        : ConnectTimeout <= TimeSpan.Zero ? "Link.ConnectTimeout > 0"
        : RedialMinimum <= TimeSpan.Zero || RedialMaximum < RedialMinimum ? "0 < Link.RedialMinimum <= Link.RedialMaximum"
        : null;
}
