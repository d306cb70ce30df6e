using GroupCore.Membership;
using Oracle.State.Operations;

namespace Oracle.State;

/// <summary>What an applied entry changed. Every replica hears it; only the leader acts on it.</summary>
internal interface IStateEvents
{
    /// <summary>A request has its result; also for a repeat of one.</summary>
    void OnAnswered(Request request, OperationResult result);

    /// <summary>A request was passed over: it was answered before, or its process has too many results waiting.</summary>
    void OnIgnored(Request request);

    void OnRegistered(ProcessRecord process);

    /// <summary>A process was excluded, or its death was proved later.</summary>
    void OnFailed(ProcessRecord process);

    void OnProposed(GroupRecord group);

    /// <summary>A view was decided; <paramref name="goers"/> were in the one before and left.</summary>
    void OnInstalled(GroupRecord group, IReadOnlyList<ViewMember> goers);

    /// <summary>A group is over; <paramref name="concerned"/> were its members or waited to be.</summary>
    void OnOver(GroupRecord group, string reason, IReadOnlyList<ProcessId> concerned);

    /// <summary>The whole state was replaced by a saved one.</summary>
    void OnRestored();
}
