using GroupCore.Diagnostics;

namespace Ida.Ordering;

/// <summary>What this member's slice holds.</summary>
internal sealed partial class Participant
{
    /// <summary>Inside a turn.</summary>
    public void Describe(Description text)
    {
        text.Line($"slice: {Table.Count} keys, {Sessions.OutcomeBytes} bytes of outcomes remembered{(Cut is null ? "" : "; a snapshot of it is being copied")}");
        if (Oldest is not { } oldest) return;
        string phase = oldest.Stable ? "stable" : oldest.Executed ? "executed" : oldest.Committed ? "committed" : "proposed";
        text.Line($"operations here: {OperationCount}; the oldest, of rank {oldest.Owner}, is {phase} and came {Description.Time(state.Node.Now - oldest.Since)} ago{(oldest.TakenOver ? ", taken over" : "")}{(HasWaits ? "; reads wait" : "")}");
    }
}
