namespace Ida.Testing;

/// <summary>What happened to simulated sockets, for tests that ask whether a run had it.</summary>
internal enum SocketDeed
{
    /// <summary>A receive returned a part of what was there.</summary>
    ShortRead,

    /// <summary>A send took a part of what there was room for.</summary>
    ShortWrite,

    /// <summary>A send found no room for all.</summary>
    Full,

    /// <summary>A connection was reset, by the network or by an end that had not read all.</summary>
    Reset,

    /// <summary>A reset lost bytes that were on their way.</summary>
    LostBytes,

    /// <summary>A dial met one that comes from the host it goes to.</summary>
    CrossingDial,

    /// <summary>A dial got lost half-way.</summary>
    HalfDial,

    /// <summary>A dial threw: no descriptor, or no way.</summary>
    DialThrew,

    /// <summary>An accept failed: no descriptor, or no memory.</summary>
    AcceptFailed,

    /// <summary>The kernel of a node that was paused took a connection.</summary>
    DialledPaused,

    /// <summary>A bit of a write was flipped.</summary>
    Damaged,
}
