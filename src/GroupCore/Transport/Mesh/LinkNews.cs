namespace GroupCore.Transport.Mesh;

/// <summary>Link events that observers are told.</summary>
internal enum LinkNews
{
    /// <summary>A connection is up.</summary>
    Up,

    /// <summary>A connection broke, could not be made, or the link is over.</summary>
    Fault,

    /// <summary>Bulk may be queued again.</summary>
    Room,
}
