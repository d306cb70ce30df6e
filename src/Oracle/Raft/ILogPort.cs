namespace Oracle.Raft;

/// <summary>What the log needs from outside.</summary>
internal interface ILogPort
{
    void Send(in Replica to, IFrame frame);

    /// <summary>Whether the link to a replica has room for more than control frames.</summary>
    bool HasRoom(in Replica to);

    /// <summary>The current end of the stream on the link to a replica.</summary>
    LinkMark EndOf(in Replica to);

    /// <summary>Whether bytes before that end still wait in the link to the replica; false when that link has ended.</summary>
    bool Holds(in Replica to, LinkMark end);

    /// <summary>
    /// Whether the other end of the link to a replica is confirmed to be that replica; if not, starts a check. Other processes might not believe a replica that
    /// is not confirmed, so it gets no vote where another replica can lead.
    /// </summary>
    bool IsConfirmed(in Replica other);

    /// <summary>Whether other replicas have introduced this replica, which cannot be dialled from here.</summary>
    bool IsIntroduced(in Replica other);

    /// <summary>The role or the known leader changed.</summary>
    void OnRoleChanged();

    /// <summary>Entries were applied, a saved state was taken over, a read round was confirmed, or a learner took more of the log.</summary>
    void OnProgress();

    /// <summary>The log has something to send at the end of this turn.</summary>
    void RequestTurn();
}
