namespace Ida.Testing;

/// <summary>What carries the frames of simulated nodes.</summary>
public enum SimCarrier
{
    /// <summary>Sessions in memory, without sockets: the fastest, and the only one that loses, doubles and reorders single writes.</summary>
    Memory,

    /// <summary>The TCP mesh of production over simulated sockets: handshakes, crossing dials, short reads and writes, full buffers, resets.</summary>
    Mesh,
}
