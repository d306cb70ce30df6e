namespace GroupCore.Transport.Mesh;

/// <summary>What an acceptor answers to a Hello. Numbers are on the wire.</summary>
internal enum HelloStatus : byte
{
    /// <summary>The link is up, or a probe found what it expected.</summary>
    Accepted = 0,

    /// <summary>Only the id was asked for; a full Hello may follow on this connection.</summary>
    Identified = 1,

    /// <summary>
    /// Another connection between the two nodes is kept: the one that the node with the lower id dials, or one that is later than this Hello. Or the dialler's id
    /// belongs to another node, as far as is known here (links.md#nobody-takes-over-what-stands). The dialler tries again.
    /// </summary>
    Superseded = 2,

    /// <summary>The node that was meant is not here.</summary>
    Replaced = 3,

    /// <summary>The session that the dialler names is not known here.</summary>
    Forgotten = 4,

    /// <summary>Another cluster.</summary>
    WrongCluster = 5,

    /// <summary>No common wire version.</summary>
    WrongVersion = 6,

    /// <summary>The acceptor has as many peers as it takes, is being stopped, or has muted this dialler for a minute. The dialler tries again after 1 s.</summary>
    Full = 7,
}
