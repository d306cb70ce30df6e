using Ida.Ordering;
using Ida.Shared;

namespace Ida.Coordination;

/// <summary>
/// Takeover (dht-order.md#takeover-without-consensus, #abort-needs-a-rejection): a participant drives an operation to its end itself when the operation
/// blocks its queue, or when it hears nothing of the operation for long.
/// </summary>
/// <remarks>
/// It asks all participants what they hold. Holders repeat their proposals, so the time is the same, whichever member computes it. A member
/// that lacks its part gets it from a holder of its shard. Where no member of a shard holds it, the lowest slot is told to reject it for the rest
/// of the view: either it does, and the attempt can never commit because a commit needs its proposal, or the proposal came meanwhile.
/// So no consensus is needed: the outcome follows from each participant's first act. The oldest operation goes first, and members begin
/// one after the other by slot. A member that knows the time never aborts.
/// </remarks>
internal sealed class Takeovers(DhtState state, IRequests send, Participant participant, Attempts attempts, Routes routes)
{
    private const int MostTakeovers = 16;
    private const long QuietNanoseconds = 1_000_000_000;
    private readonly List<CoordinatedOperation> _takeovers = [];

    public int Count => _takeovers.Count;

    public IReadOnlyList<CoordinatedOperation> All => _takeovers;

    /// <summary>
    /// Once the time is known, only an answer to a question that said so shows that a participant has finished the operation: an earlier
    /// answer may have left before the proposal arrived there.
    /// </summary>
    public void OnNotHeld(in AttemptId key, int from, bool askedWithTime)
    {
        if (!attempts.TryFind(key, from, out var running, out int index) || !running.IsTakeover || (running.Flags[index] & SlotFlags.Proposed) != SlotFlags.None) return;
        if (running.AskedWithTime && !askedWithTime) return;
        running.Flags[index] |= SlotFlags.NotHeld;
        attempts.Step(running);
    }

    /// <summary>A participant knows that the operation is stable: executed at all participants, with all before it.</summary>
    public void OnStable(in AttemptId key)
    {
        if (attempts.Find(key) is not { IsTakeover: true } running) return;
        // Here the operation still waits for its commit, which may take long: the missing proposals also give the time.
        if (participant.Records.Find(key) is { Committed: false }) return;
        attempts.SpreadStable(running);
        attempts.Forget(running);
    }

    /// <summary>Whether this member has taken an attempt over, so that other members may hand it parts.</summary>
    public bool TakesOver(in AttemptId key) => attempts.Find(key) is { IsTakeover: true };

    public void TakeOverStalled(long now)
    {
        if (!state.Acts || state.Map is null) return;
        for (int i = _takeovers.Count - 1; i >= 0; i--)
        {
            var running = _takeovers[i];
            if (participant.Records.Find(running.Key) is not { Stable: false }) attempts.Forget(running);
            else if (now >= running.RetryAt) Ask(running, now);
        }
        long after = (long)state.Own.TakeoverAfter.TotalNanoseconds;
        for (var op = participant.Records.Oldest; op is not null && _takeovers.Count < MostTakeovers; op = op.Newer)
        {
            if (op.Since + after > now) return;
            if (op.Stable || op.TakenOver || op.Single || attempts.Find(op.Key) is not null) continue;
            long turn = op.Participants.IndexOf((ushort)state.Slot) * (after / 2);
            if (now - op.Since < after + turn || (!Blocks(op) && now - op.Since < QuietNanoseconds + turn)) continue;
            TakeOver(op, now);
        }
    }

    private static bool Blocks(ParticipantRecord op)
    {
        for (int i = 0; i < op.UseCount; i++)
            if (op.Uses[i].Next is not null || op.Uses[i].Entry.Queue?.FirstWait is not null) return true;
        return false;
    }

    private void TakeOver(ParticipantRecord op, long now)
    {
        state.Counters.CountTakeover();
        op.TakenOver = true;
        var running = attempts.New();
        (running.Key, running.Owner, running.Kind, running.Level, running.IsTakeover) = (op.Key, op.Owner, op.Kind, op.Level, true);
        foreach (ushort slot in op.Participants) running.Add(slot);
        attempts.Add(running);
        _takeovers.Add(running);
        Ask(running, now);
    }

    private void Ask(CoordinatedOperation running, long now)
    {
        running.RetryAt = now + QuietNanoseconds;
        running.Phase = AttemptPhase.Asked;
        running.AskedWithTime = participant.Records.Find(running.Key) is { Committed: true };
        Array.Clear(running.Flags);
        for (int i = 0; i < running.Count; i++) Ask(running, i, reject: false);
    }

    private void Ask(CoordinatedOperation running, int index, bool reject)
    {
        int rank = state.Map!.RankOfSlot(running.Slots[index]);
        if (rank == state.Rank) participant.Recover(running.Key, running.Owner, rank, running.Kind, reject, running.AskedWithTime);
        else send.Recover(rank, running.Key, running.Owner, running.Kind, reject, running.AskedWithTime);
    }

    /// <summary>A participant of a takeover has answered, and the attempt has no time yet.</summary>
    public void Step(CoordinatedOperation running)
    {
        if (!running.All(SlotFlags.Proposed | SlotFlags.Executed | SlotFlags.Rejected | SlotFlags.NotHeld)) return;
        if (participant.Records.Find(running.Key) is { Committed: true } known && (running.Any(SlotFlags.NotHeld | SlotFlags.Executed | SlotFlags.Rejected)))
        {
            // Asked after the commit was known: a participant that proposed and does not hold it any more has executed it and knows that it is stable.
            if (!running.AskedWithTime) Ask(running, state.Node.Now);
            else
            {
                known.TakenOver = false;
                attempts.SpreadStable(running);
                attempts.Forget(running);
            }
            return;
        }
        bool abort = running.Any(SlotFlags.Executed | SlotFlags.Rejected) || (!state.Rules.AbortNeedsRejection && running.Any(SlotFlags.NotHeld));
        if (abort)
        {
            if (participant.Records.Find(running.Key) is { Committed: false }) attempts.AbortOthers(running, SlotFlags.Executed | SlotFlags.Rejected, acknowledge: false);
            attempts.Forget(running);
            return;
        }
        if (!running.Any(SlotFlags.NotHeld))
        {
            attempts.Decide(running);
            return;
        }
        for (int i = 0; i < running.Count; i++)
        {
            if ((running.Flags[i] & SlotFlags.NotHeld) == SlotFlags.None) continue;
            int shard = state.Map!.ShardOfSlot(running.Slots[i]), holder = -1;
            bool lowest = true;
            for (int j = 0; j < running.Count; j++)
            {
                if (state.Map.ShardOfSlot(running.Slots[j]) != shard) continue;
                if ((running.Flags[j] & SlotFlags.Proposed) != SlotFlags.None) holder = j;
                if (running.Slots[j] < running.Slots[i]) lowest = false;
            }
            if (holder >= 0) HandOn(running, holder, i);
            else if (!lowest) continue;
            running.Flags[i] &= ~SlotFlags.NotHeld;
            if (holder < 0) Ask(running, i, reject: true);
        }
    }

    // Without room for the part, nothing is handed on now: there may be room when the takeover asks again.
    private void HandOn(CoordinatedOperation running, int holder, int target)
    {
        int rank = state.Map!.RankOfSlot(running.Slots[holder]);
        if (rank != state.Rank) send.AskForward(rank, running.Key, running.Owner, running.Slots[target]);
        else if (routes.HasRoom(state.Map.RankOfSlot(running.Slots[target])) && participant.Records.Find(running.Key) is { } op) send.Forward(state.Map.RankOfSlot(running.Slots[target]), state.Rank, op);
    }

    public void Remove(CoordinatedOperation running) => _takeovers.Remove(running);

    public void Clear() => _takeovers.Clear();
}
