using GroupCore.Membership;
using Oracle.State.Operations;

namespace Oracle.State;

/// <summary>Changes made by an applied entry. Every replica gets them; only the leader acts on them.</summary>
internal interface IStateEvents
{
    /// <summary>A request has its result; also called for a repeat.</summary>
    void OnAnswered(Request request, OperationResult result);

    /// <summary>A request was skipped: its result is not kept any more, its process has too many kept, or the name that it asks for is not free yet.</summary>
    void OnIgnored(Request request);

    void OnRegistered(ProcessRecord process);

    /// <summary>A process was excluded, or the death of an excluded process was proved.</summary>
    void OnExcluded(ProcessRecord process);

    void OnProposed(GroupRecord group);

    /// <summary>A view was decided; <paramref name="goers"/> were in the view before and have left. Excluded members are not among them.</summary>
    void OnInstalled(GroupRecord group, IReadOnlyList<ViewMember> goers);

    /// <summary>A group is over; the <paramref name="concerned"/> were its members, or waited to join it.</summary>
    void OnOver(GroupRecord group, string reason, IReadOnlyList<ProcessId> concerned);

    /// <summary>The whole state was replaced by a saved one.</summary>
    void OnRestored();
}
