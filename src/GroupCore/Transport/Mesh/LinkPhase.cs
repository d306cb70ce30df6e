namespace GroupCore.Transport.Mesh;

/// <summary>Where a link of a <see cref="TcpMesh"/> stands; see <see cref="LinkPhases"/> for what may follow what.</summary>
internal enum LinkPhase
{
    /// <summary>No connection: the link waits for its next dial, or for the return of a peer that is not dialled.</summary>
    Down,

    /// <summary>A connection is being made.</summary>
    Dialling,

    /// <summary>A connection carries the session.</summary>
    Up,

    /// <summary>Over: the mesh has let go of it.</summary>
    Ended,
}
