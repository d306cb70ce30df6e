namespace GroupCore.Transport;

/// <summary>What an acceptor answers to a Hello. Numbers are on the wire.</summary>
internal enum HelloStatus : byte
{
    /// <summary>The link is up, or a probe found what it expected.</summary>
    Accepted = 0,

    /// <summary>Only the id was asked for; a full Hello may follow on this connection.</summary>
    Identified = 1,

    /// <summary>Another connection or session between the two nodes is kept; of two dials that cross, the one of the lower id.</summary>
    Superseded = 2,

    /// <summary>The node that was meant is not here.</summary>
    Replaced = 3,

    /// <summary>The session that the dialler means is not known here.</summary>
    Forgotten = 4,

    /// <summary>Another cluster.</summary>
    WrongCluster = 5,

    /// <summary>No common wire version.</summary>
    WrongVersion = 6,

    /// <summary>The acceptor has as many peers as it takes, or the dialler is muted.</summary>
    Full = 7,
}
