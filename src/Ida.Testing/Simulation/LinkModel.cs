namespace Ida.Testing;

/// <summary>How the simulated network carries what nodes write. Times are virtual.</summary>
public sealed record LinkModel
{
    /// <summary>Shortest one-way latency; default 50 µs.</summary>
    public TimeSpan MinLatency { get; init; } = TimeSpan.FromMicroseconds(50);

    /// <summary>Longest ordinary one-way latency, uniform between both; default 1 ms.</summary>
    public TimeSpan MaxLatency { get; init; } = TimeSpan.FromMilliseconds(1);

    /// <summary>Probability that a write takes <see cref="TailLatency"/> longer; default 0.5 %.</summary>
    public double TailChance { get; init; } = 0.005;

    /// <summary>What a write of the tail takes longer; default 15 ms.</summary>
    public TimeSpan TailLatency { get; init; } = TimeSpan.FromMilliseconds(15);

    /// <summary>Probability that a write is lost once and repeated after <see cref="RetransmitDelay"/>, holding up what follows it; default 0.</summary>
    public double Loss { get; init; }

    /// <summary>What a lost write costs; default 200 ms.</summary>
    public TimeSpan RetransmitDelay { get; init; } = TimeSpan.FromMilliseconds(200);

    /// <summary>Bytes per second of each direction of each link; 0, the default, is unlimited.</summary>
    public long BytesPerSecond { get; init; }

    /// <summary>After how long a dial without an answer fails as unreachable; default 1 s.</summary>
    public TimeSpan ConnectTimeout { get; init; } = TimeSpan.FromSeconds(1);

    /// <summary>First pause before dialling again, doubled up to <see cref="RedialMaximum"/>; default 20 ms.</summary>
    public TimeSpan RedialMinimum { get; init; } = TimeSpan.FromMilliseconds(20);

    /// <summary>Longest pause before dialling again; default 500 ms.</summary>
    public TimeSpan RedialMaximum { get; init; } = TimeSpan.FromMilliseconds(500);

    /// <summary>The first rule these values break, null for none.</summary>
    internal string? BrokenRule =>
        MinLatency < TimeSpan.Zero || MaxLatency < MinLatency ? "0 <= Link.MinLatency <= Link.MaxLatency"
        : TailChance is not (>= 0 and <= 1) || TailLatency < TimeSpan.Zero ? "Link.TailChance in 0..1 and Link.TailLatency >= 0"
        : Loss is not (>= 0 and < 1) || RetransmitDelay < TimeSpan.Zero ? "Link.Loss in 0..1, 1 excluded, and Link.RetransmitDelay >= 0"
        : BytesPerSecond < 0 ? "Link.BytesPerSecond >= 0"
        : ConnectTimeout <= TimeSpan.Zero ? "Link.ConnectTimeout > 0"
        : RedialMinimum <= TimeSpan.Zero || RedialMaximum < RedialMinimum ? "0 < Link.RedialMinimum <= Link.RedialMaximum"
        : null;
}
