using GroupCore.Membership;

namespace Oracle.State;

/// <summary>A group as the Oracle decided it.</summary>
internal sealed class GroupRecord(GroupId id, string name, GroupOptions options, int acceptors, View view)
{
    public GroupId Id { get; } = id;

    public string Name { get; } = name;

    public GroupOptions Options { get; } = options;

    /// <summary>How many of the first initialised members vouch for uniform delivery; 0: rule A5 is off.</summary>
    public int Acceptors { get; } = acceptors;

    public View View { get; set; } = view;

    public PendingProposal? Pending { get; set; }

    /// <summary>Who waits to join, in the order of the log.</summary>
    public List<JoinRequest> Queue { get; } = [];

    /// <summary>Members and coming members that want to leave.</summary>
    public SortedSet<ProcessId> Leavers { get; } = [];

    /// <summary>The latest installs, oldest first.</summary>
    public List<View> Installs { get; } = [view];

    /// <summary>Processes whose exclusion rule A5 refused.</summary>
    public SortedSet<ProcessId> Stalled { get; } = [];

    public int QueueIndexOf(ProcessId process) => Queue.FindIndex(request => request.Process == process);
}
