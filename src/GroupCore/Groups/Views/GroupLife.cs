using GroupCore.Runtime;

namespace GroupCore.Groups.Views;

/// <summary>
/// The phase of a membership, and which phase may follow which. A forbidden step is a defect of this library: in tests it throws; otherwise it is counted
/// and not taken (<see cref="NodeCounters.Forbid"/>).
/// </summary>
internal sealed class GroupLife(NodeCounters counters, string name)
{
    private volatile GroupPhase _phase;

    public GroupPhase Phase => _phase;

    /// <summary>Whether this member was asked to leave, and is still a member.</summary>
    public bool IsGoing => _phase is GroupPhase.HandingOver or GroupPhase.Leaving;

    /// <summary>Whether this member holds the group's state, for the others and for its callers.</summary>
    public bool HasState => _phase is GroupPhase.Member or GroupPhase.HandingOver or GroupPhase.Leaving;

    public static bool MayFollow(GroupPhase from, GroupPhase to) => from switch
    {
        GroupPhase.Joining => to is GroupPhase.Loading or GroupPhase.Member or GroupPhase.Abandoned or GroupPhase.Over,
        GroupPhase.Abandoned => to is GroupPhase.Withdrawn or GroupPhase.Over,
        GroupPhase.Loading => to is GroupPhase.Member or GroupPhase.Withdrawn or GroupPhase.Over,
        GroupPhase.Member => to is GroupPhase.HandingOver or GroupPhase.Leaving or GroupPhase.Withdrawn or GroupPhase.Over,
        GroupPhase.HandingOver => to is GroupPhase.Leaving or GroupPhase.Withdrawn or GroupPhase.Over,
        GroupPhase.Leaving => to is GroupPhase.Withdrawn or GroupPhase.Over,
        GroupPhase.Withdrawn => to is GroupPhase.Over,
        _ => false,
    };

    public void Become(GroupPhase next)
    {
        if (MayFollow(_phase, next)) _phase = next;
        else counters.Forbid($"Group '{name}': {next} after {_phase}.");
    }
}
