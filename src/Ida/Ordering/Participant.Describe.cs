using GroupCore.Diagnostics;

namespace Ida.Ordering;

/// <summary>What this member's slice holds.</summary>
internal sealed partial class Participant
{
    /// <summary>Inside a turn.</summary>
    public void Describe(Description text)
    {
        text.Line($"slice: {Slice.Table.Count} keys, {Sessions.OutcomeBytes} bytes of outcomes remembered{(Slice.Cut is null ? "" : "; a snapshot of it is being copied")}");
        if (Records.Oldest is not { } oldest) return;
        string phase = oldest.Stable ? "stable" : oldest.Executed ? "executed" : oldest.Committed ? "committed" : "proposed";
        text.Line($"operations here: {Records.Count}; the oldest, of rank {oldest.Owner}, is {phase} and came {Description.Time(_state.Node.Now - oldest.Since)} ago{(oldest.TakenOver ? ", taken over" : "")}{(Reads.HasWaits ? "; reads wait" : "")}");
    }
}
