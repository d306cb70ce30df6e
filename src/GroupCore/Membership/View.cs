namespace GroupCore.Membership;

/// <summary>
/// A view: the agreed rank list of a group at one step of its history. Members install the same views in the same order.
/// Source: views-and-flush.md#state.
/// </summary>
public sealed class View
{
    private readonly Dictionary<ProcessId, int> _rankOf = [];

    /// <summary>A view with everything that the Oracle decided about it.</summary>
    public View(GroupId group, string name, ulong id, ulong proposal, GroupOptions options, IReadOnlyList<ViewMember> members,
        IReadOnlyList<ProcessId> joined, IReadOnlyList<ProcessId> left, IReadOnlyList<ProcessId> failed, IReadOnlyList<Move> moved)
    {
        (Group, Name, Id, Proposal, Options, Members, Joined, Left, Failed, Moved) = (group, name, id, proposal, options, members, joined, left, failed, moved);
        for (int rank = 0; rank < members.Count; rank++) _rankOf[members[rank].Id] = rank;
    }

    /// <summary>The group.</summary>
    public GroupId Group { get; }

    /// <summary>Its name.</summary>
    public string Name { get; }

    /// <summary>1 for the first view of a group, then one more each time.</summary>
    public ulong Id { get; }

    /// <summary>The number of the proposal that led here: an index of the Oracle's log.</summary>
    public ulong Proposal { get; }

    /// <summary>The group's options.</summary>
    public GroupOptions Options { get; }

    /// <summary>Members by rank.</summary>
    public IReadOnlyList<ViewMember> Members { get; }

    /// <summary>Processes that joined with this view, in rank order.</summary>
    public IReadOnlyList<ProcessId> Joined { get; }

    /// <summary>Members of the previous view that left of their own will.</summary>
    public IReadOnlyList<ProcessId> Left { get; }

    /// <summary>Members of the previous view that the Oracle excluded, whether they really failed or only seemed to.</summary>
    public IReadOnlyList<ProcessId> Failed { get; }

    /// <summary>Survivors whose rank has changed.</summary>
    public IReadOnlyList<Move> Moved { get; }

    /// <summary>The rank of a process, −1 when it is no member.</summary>
    public int RankOf(ProcessId id) => _rankOf.TryGetValue(id, out int rank) ? rank : -1;

    /// <summary>The lowest-ranked initialised member: sequencer, giver of the state and, where it survives, flush leader; −1 when there is none.</summary>
    public int Coordinator
    {
        get
        {
            for (int rank = 0; rank < Members.Count; rank++)
                if (Members[rank].Initialised) return rank;
            return -1;
        }
    }

    /// <summary>Name, id and members.</summary>
    public override string ToString() => $"{Name} view {Id}: [{string.Join(", ", Members.Select(m => m.Address))}]";
}
