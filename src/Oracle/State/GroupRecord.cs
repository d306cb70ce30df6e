using GroupCore.Membership;

namespace Oracle.State;

/// <summary>A group as the Oracle decided it.</summary>
internal sealed class GroupRecord(GroupId id, string name, GroupOptions options, int acceptors, View view)
{
    public GroupId Id { get; } = id;

    public string Name { get; } = name;

    public GroupOptions Options { get; } = options;

    /// <summary>How many of the first initialised members are acceptors, which make delivery uniform; 0: rule A5 is off.</summary>
    public int Acceptors { get; } = acceptors;

    public View View { get; set; } = view;

    public PendingProposal? Pending { get; set; }

    /// <summary>Processes that wait to join, in the order of the log.</summary>
    public List<JoinRequest> Queue { get; } = [];

    /// <summary>Members and joiners that want to leave.</summary>
    public SortedSet<ProcessId> Leavers { get; } = [];

    /// <summary>The latest installs, oldest first.</summary>
    public List<View> Installs { get; } = [view];

    /// <summary>Bytes of the members of each kept view; the last of them is <see cref="View"/>.</summary>
    public List<long> InstallBytes { get; } = [Sizes.Of(view)];

    /// <summary>Bytes of the processes in <see cref="Queue"/>, each counted as a member.</summary>
    public long QueueBytes { get; set; }

    /// <summary>Bytes that <see cref="OracleState.Bytes"/> counts for this group now.</summary>
    public long Counted { get; set; }

    /// <summary>The most bytes that the group can take in the saved state until another process asks to join.</summary>
    public long Bytes => Sizes.Group(Name, Math.Max(InstallBytes[^1] + QueueBytes, InstallBytes.Max()));

    /// <summary>Processes whose exclusion rule A5 refused.</summary>
    public SortedSet<ProcessId> Stalled { get; } = [];

    public int QueueIndexOf(ProcessId process) => Queue.FindIndex(request => request.Process == process);
}
