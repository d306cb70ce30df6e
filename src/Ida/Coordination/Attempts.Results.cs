using Ida.Ordering;
using Ida.Shared;

namespace Ida.Coordination;

/// <summary>Which results of participants count, and where they go.</summary>
internal sealed partial class Attempts
{
    /// <summary>
    /// Whether results in a participant's answer count: a result computed at a proposal, which may arrive later, does not replace the result of
    /// the execution.
    /// </summary>
    public static bool Counts(CoordinatedOperation running, int index, bool executed) =>
        executed || (running.Kind.Changes ? !running.Any(SlotFlags.Executed) : index >= 0 && (running.Flags[index] & SlotFlags.Quiescent) == SlotFlags.None);

    /// <summary>
    /// Whether a result for a key replaces the one that is here. Replicas compute ahead for different times, and only a result for the
    /// decided time counts; no result computed ahead replaces the result of an execution.
    /// </summary>
    public static bool IsNewer(in OperationPart part, ulong time) => !part.HasResult || time > part.ResultTime || time == OperationPart.Executed;

    /// <summary>Takes results of this member's participant: of its execution, or computed at its proposal.</summary>
    public void TakeResults(ParticipantRecord op, bool executed)
    {
        if (_running.Find(op.Key) is not { Client: { } client } running) return;
        int index = running.IndexOf(state.Slot);
        // A lying member may have proposed the attempt here before its coordinator did, with other keys.
        if (!Counts(running, index, executed) || !client.HasParts(state.Shard, op.UseCount, out int first)) return;
        MarkTooLarge(running, index, op.TooLarge);
        ulong time = executed ? OperationPart.Executed : op.Proposed;
        if (op.Kind.Changes && !IsNewer(client.Parts[first], time)) return;
        for (int i = 0; i < op.UseCount; i++)
        {
            client.Give(first + i, op.Uses[i].Version, i == 0 ? op.Report : null);
            client.Parts[first + i].ResultTime = time;
            if (!op.Kind.Changes) client.Parts[first + i].Value = op.Uses[i].Value;
        }
    }

    /// <summary>Notes whether the last values that a participant read fit a frame.</summary>
    public static void MarkTooLarge(CoordinatedOperation running, int index, bool tooLarge)
    {
        if (index < 0) return;
        running.Flags[index] = tooLarge ? running.Flags[index] | SlotFlags.TooLarge : running.Flags[index] & ~SlotFlags.TooLarge;
    }

    public void TakeOutcome(in AttemptId key, in Outcome outcome)
    {
        // An outcome without versions says only that the put was executed.
        if (outcome.Versions.Count == 0 || _running.Find(key)?.Client is not { } client) return;
        int first = client.FirstPart(state.Shard);
        for (int i = 0; first >= 0 && first + i < client.PartCount && client.Parts[first + i].Shard == state.Shard; i++)
            client.Give(first + i, outcome.VersionAt(i), i == 0 ? outcome.Report : null);
    }

    /// <summary>A participant that proposed another time executes anew, or has done so already on the word of a member that took over.</summary>
    private static void KeepWhatHolds(CoordinatedOperation running, ulong time)
    {
        for (int i = 0; i < running.Count; i++)
        {
            if ((running.Flags[i] & SlotFlags.Quiescent) != SlotFlags.None) continue;
            if (running.Times[i] != time) running.Flags[i] &= ~(SlotFlags.Result | SlotFlags.TooLarge);
            else if ((running.Flags[i] & SlotFlags.QuiescentAtProposal) != SlotFlags.None) running.Flags[i] |= SlotFlags.Quiescent;
        }
        if (running.Client is { } client) DropComputedAhead(client, time);
    }

    /// <summary>Drops results that replicas computed or looked up ahead for a time other than the decided one.</summary>
    private static void DropComputedAhead(ClientOperation client, ulong time)
    {
        for (int i = 0; i < client.PartCount; i++)
            if (client.Parts[i].ResultTime != time && client.Parts[i].ResultTime != OperationPart.Executed) client.Parts[i].HasResult = false;
    }
}
