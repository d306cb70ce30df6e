namespace GroupCore.Transport;

/// <summary>Where a link of a <see cref="TcpMesh"/> stands; see <see cref="LinkPhases"/> for what may follow what.</summary>
internal enum LinkPhase
{
    /// <summary>No connection: the next dial, or the return of a peer that is not dialled, is waited for.</summary>
    Down,

    /// <summary>A connection is being made.</summary>
    Dialling,

    /// <summary>A connection carries the session.</summary>
    Up,

    /// <summary>Over, and let go of by the mesh.</summary>
    Ended,
}
