namespace GroupCore.Membership;

/// <summary>
/// What membership tells the group layer, inside turns. Events may repeat and proposals and installs may come out of order or with
/// gaps; the receiver drops what is old and calls <see cref="IMembership.Sync"/> for what is missing.
/// </summary>
internal interface IMembershipSink
{
    /// <summary>The state changed, or it is the same and <paramref name="reason"/> says something that a user should know, such as that no seed answers.</summary>
    void OnMembershipState(MembershipState state, string reason);

    /// <summary>A join was accepted; the view that contains this process follows as an install.</summary>
    void OnJoinAccepted(string name, GroupId group);

    /// <summary>A join or create was refused.</summary>
    void OnJoinRefused(string name, string reason);

    /// <summary>A view change begins, or begins again with a proposal that supersedes the one before.</summary>
    void OnPropose(Proposal proposal);

    /// <summary>A view was decided. Its proposal number names the flush that it ends; a leaver gets the view it is no longer in.</summary>
    void OnInstall(View view);

    /// <summary>The group is over: its last members have left, or its state was lost with its last initialised member.</summary>
    void OnGroupOver(GroupId group, string reason);
}
