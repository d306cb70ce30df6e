using Oracle.Frames;

namespace Oracle.Log;

/// <summary>What the log does to the world.</summary>
internal interface ILogPort
{
    void Send(in Replica to, IFrame frame);

    /// <summary>Whether the link to a replica has room for more than control frames.</summary>
    bool HasRoom(in Replica to);

    /// <summary>Where the stream of the link to a replica ends now.</summary>
    LinkMark EndOf(in Replica to);

    /// <summary>Whether bytes before that end still wait for the replica in its link; false when that link is over.</summary>
    bool Holds(in Replica to, LinkMark end);

    /// <summary>
    /// Whether the other end of the link to a replica is confirmed to be it; else that is asked now. Who is not confirmed may be obeyed by nobody else,
    /// so it is given no vote where another can lead.
    /// </summary>
    bool IsConfirmed(in Replica other);

    /// <summary>Whether others have introduced that replica, which cannot be dialled from here.</summary>
    bool IsIntroduced(in Replica other);

    /// <summary>The role or the known leader changed.</summary>
    void OnRoleChanged();

    /// <summary>Entries were applied, or a read round was confirmed.</summary>
    void OnProgress();

    /// <summary>There is something to send at the end of this turn.</summary>
    void RequestTurn();
}
