namespace GroupCore.Membership;

/// <summary>
/// What the group layer asks of membership. Implemented by the Oracle's client in each process, and by a script in tests of groups alone.
/// All calls are made inside turns; requests are retried by the implementation until answered, so they need no answer here beyond the
/// events of <see cref="IMembershipSink"/>.
/// </summary>
public interface IMembership
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
    /// Reports, as flush leader, that all survivors and leavers of <paramref name="proposal"/> acknowledged the flush;
    /// <paramref name="initialised"/> are those of them that hold the group's state.
    /// </summary>
    void CompleteView(GroupId group, ulong baseView, ulong proposal, IReadOnlyList<ProcessId> initialised);

    /// <summary>Reports evidence against a process; repeated until <see cref="Withdraw"/> or its exclusion.</summary>
    void Suspect(ProcessId subject, Suspicion evidence);

    /// <summary>Withdraws all evidence that this process reported against another.</summary>
    void Withdraw(ProcessId subject);

    /// <summary>Asks for installs and proposals later than what is known here; harmless at any time.</summary>
    void Sync(GroupId group, ulong view, ulong proposal);
}
