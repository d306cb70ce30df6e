namespace GroupCore.Membership;

/// <summary>
/// What the group layer asks of membership. Implemented by the Oracle's client in each process, and by a script in tests of groups alone.
/// All calls are made inside turns; the implementation repeats requests until they are answered, so they have no answer here beyond the
/// events of <see cref="IMembershipSink"/>.
/// </summary>
internal interface IMembership
{
    /// <summary>This process; incarnation 0 until registered.</summary>
    ProcessId Self { get; }

    /// <summary>Where it stands with the primary partition.</summary>
    MembershipState State { get; }

    /// <summary>Until when (clock of the node, nanoseconds) no view without this process can be installed under StrictPrimary.</summary>
    long LeaseUntil { get; }

    /// <summary>Sets the one receiver of events.</summary>
    void Attach(IMembershipSink sink);

    /// <summary>Joins the group of that name, creating it when there is none.</summary>
    void Join(string name, GroupOptions options, string tag);

    /// <summary>Creates a group with a full member list in one entry; the processes must be registered (oracle.md#a-group-with-its-whole-list-is-one-entry).</summary>
    void Create(string name, GroupOptions options, IReadOnlyList<ProcessId> members);

    /// <summary>Leaves a group.</summary>
    void Leave(GroupId group);

    /// <summary>Asks for a view with the same members, to agree on something at that view change.</summary>
    void RequestView(GroupId group);

    /// <summary>
    /// Says, as the flush leader, that all survivors and leavers of <paramref name="proposal"/> acknowledged the cut, so the view can be decided.
    /// <paramref name="initialised"/> lists those of them that hold the group's state.
    /// </summary>
    void CompleteView(GroupId group, ulong baseView, ulong proposal, IReadOnlyList<ProcessId> initialised);

    /// <summary>Suspects a process on this evidence: the Oracle is told again and again, until <see cref="Withdraw"/> or the process's exclusion.</summary>
    void Suspect(ProcessId subject, Suspicion evidence);

    /// <summary>Withdraws what <see cref="Suspect"/> said of a process; what membership itself has observed of the process still holds.</summary>
    void Withdraw(ProcessId subject);

    /// <summary>Asks for installs and proposals later than what is known here; harmless at any time.</summary>
    void Sync(GroupId group, ulong view, ulong proposal);
}
