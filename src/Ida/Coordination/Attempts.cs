using Ida.Ordering;
using Ida.Shared;

namespace Ida.Coordination;

/// <summary>
/// The attempts that this member drives: takes the answers of their participants, from the proposals to stability, fixes the time as the maximum over all participants, and says how their
/// calls end. Source: dht-order.md#the-normal-case.
/// </summary>
/// <remarks>
/// Fast path: if all proposals are equal and all are quiescent, nothing can get an earlier time any more and everything before is stable, so the
/// caller is answered after two delays. Otherwise participants acknowledge when they are quiescent.
/// An attempt ends without effect only when a participant has said that it will never hold it.
/// </remarks>
internal sealed partial class Attempts(DhtState state, IRequests send, Participant participant, CommitGarbageCollection collection, OpenPuts puts, OpenCalls open, CallFailures errors, ICalls calls)
{
    private readonly CoordinationTable _running = new();
    private readonly Stack<CoordinatedOperation> _free = [];
    private readonly RankList _ranks = new();

    /// <summary>Those of other members, taken over.</summary>
    public Takeovers Takeovers { get; set; } = null!;

    /// <summary>All of them, in no order; for checks that each and its operation refer to each other.</summary>
    public IReadOnlyDictionary<AttemptId, CoordinatedOperation> All => _running.All;

    public CoordinatedOperation? Find(in AttemptId key) => _running.Find(key);

    /// <summary>An attempt that is not driven yet.</summary>
    public CoordinatedOperation New() => _free.TryPop(out var free) ? free : new();

    public void Add(CoordinatedOperation running) => _running.Add(running);

    /// <summary>The attempt driven here to which a participant's answer belongs, and the participant's index in it.</summary>
    public bool TryFind(in AttemptId key, int from, out CoordinatedOperation running, out int index)
    {
        index = -1;
        running = _running.Find(key)!;
        if (running is null) return false;
        index = running.IndexOf(state.Map!.SlotOfRank(from));
        return index >= 0;
    }

    public void OnProposed(in AttemptId key, int from, ulong time, bool quiescent, bool result)
    {
        if (!TryFind(key, from, out var running, out int index) || (running.Flags[index] & SlotFlags.Proposed) != SlotFlags.None) return;
        running.Flags[index] = (running.Flags[index] & ~SlotFlags.NotHeld) | SlotFlags.Proposed | (quiescent ? SlotFlags.QuiescentAtProposal : SlotFlags.None) | (result ? SlotFlags.Result : SlotFlags.None);
        running.Times[index] = time;
        state.Clock.Observe(time);
        RefuseIfTooMuch(running);
        Step(running);
    }

    public void OnQuiescent(in AttemptId key, int from, bool quiescent)
    {
        if (!TryFind(key, from, out var running, out int index)) return;
        running.Flags[index] |= quiescent ? SlotFlags.Quiescent | SlotFlags.Result : SlotFlags.Result;
        if (running.Single) running.Phase = AttemptPhase.Committed;
        if (running.Phase == AttemptPhase.Committed)
        {
            if (!running.Kind.Changes && running.Level == ConsistencyLevel.Ordered && running.All(SlotFlags.Result)) CompleteClient(running);
            FinishIfStable(running);
        }
        // If this was the last answer, the operation has already ended.
        RefuseIfTooMuch(running);
    }

    private void RefuseIfTooMuch(CoordinatedOperation running)
    {
        if (running.Client is { } client && open.BringsTooMuch(client)) calls.Finish(client, errors.Overloaded(client));
    }

    public void OnExecuted(in AttemptId key, int from) => Mark(key, from, SlotFlags.Executed);

    public void OnRejected(in AttemptId key, int from, RejectReason reason)
    {
        if (TryFind(key, from, out var running, out _) && reason > running.Reason) (running.Reason, running.RefusedBy) = (reason, from);
        Mark(key, from, SlotFlags.Rejected);
    }

    public void OnAborted(in AttemptId key, int from)
    {
        if (!TryFind(key, from, out var running, out int index) || running.Phase != AttemptPhase.Aborting) return;
        running.Flags[index] |= SlotFlags.AbortAcked;
        FailIfAborted(running);
    }

    private void Mark(in AttemptId key, int from, SlotFlags flag)
    {
        if (!TryFind(key, from, out var running, out int index)) return;
        running.Flags[index] = (running.Flags[index] & ~SlotFlags.NotHeld) | flag;
        Step(running);
    }

    /// <summary>A participant has answered.</summary>
    public void Step(CoordinatedOperation running)
    {
        if (running.Phase == AttemptPhase.Committed) return;
        if (running.Phase == AttemptPhase.Aborting)
        {
            FailIfAborted(running);
            return;
        }
        if (running.IsTakeover)
        {
            Takeovers.Step(running);
            return;
        }
        const SlotFlags answered = SlotFlags.Proposed | SlotFlags.Executed | SlotFlags.Rejected;
        if (!running.All(answered) && (state.Rules.TimeOverAll || !AllButOne(running))) return;
        if (running.Any(SlotFlags.Executed)) FinishExecuted(running);
        else if (running.Any(SlotFlags.Rejected)) FinishRejected(running);
        else Decide(running);
    }

    private static bool AllButOne(CoordinatedOperation running)
    {
        int missing = 0;
        for (int i = 0; i < running.Count; i++)
            if ((running.Flags[i] & SlotFlags.Proposed) == SlotFlags.None) missing++;
        return running.Count > 1 && missing == 1;
    }

    /// <summary>All have proposed: the time is fixed, whoever computes it.</summary>
    public void Decide(CoordinatedOperation running)
    {
        ulong time = 0;
        bool equal = true, quiescent = true;
        for (int i = 0; i < running.Count; i++)
        {
            time = Math.Max(time, running.Times[i]);
            equal &= running.Times[i] == running.Times[0];
            quiescent &= (running.Flags[i] & SlotFlags.QuiescentAtProposal) != SlotFlags.None;
        }
        bool stable = (equal || !state.Rules.FastPathEqual) && (quiescent || !state.Rules.FastPathQuiescent);
        (running.Phase, running.Time) = (AttemptPhase.Committed, time);
        // This member's participant may execute the operation within the commit: first drop results computed ahead.
        if (!stable) KeepWhatHolds(running, time);
        bool here = RemoteRanks(running, out var ranks);
        if (ranks.Length > 0) send.Commit(ranks, running.Key, running.Owner, running.Kind, time, stable);
        if (here) participant.Commit(running.Key, running.Owner, state.Rank, running.Kind, time, stable);
        collection.CommitSent(ranks, here ? participant.Records.Find(running.Key) : null);
        if (stable)
        {
            state.Counters.CountFast();
            CompleteClient(running);
        }
        else
        {
            state.Counters.CountSlow();
            // If the caller has given up, nobody waits at the put's level any more; a retry that waits for the put, or comes later, may ask for a stricter one.
            if (running.Kind.Changes && running.Client is { Phase: not OperationPhase.Detached } client && (running.Level == ConsistencyLevel.Ordered || !state.Rules.PutWaitsForSeal))
            {
                client.WithoutResult = true;
                running.ReturnedEarly = running.Owner == state.Rank;
                running.PutsBefore = client.PutsBefore;
                if (running.ReturnedEarly) puts.HoldEarly(running);
                CompleteClient(running);
            }
            else if (!running.Kind.Changes && running.Level == ConsistencyLevel.Ordered && equal && running.All(SlotFlags.Result))
            {
                CompleteClient(running);
            }
        }
        if (stable) Forget(running);
        else FinishIfStable(running);
    }

    private void FinishIfStable(CoordinatedOperation running)
    {
        if (!running.All(SlotFlags.Quiescent)) return;
        CompleteClient(running);
        if (!running.Single) SpreadStable(running);
        Forget(running);
    }

    public void SpreadStable(CoordinatedOperation running)
    {
        bool here = RemoteRanks(running, out var ranks);
        if (ranks.Length > 0) send.Stable(ranks, running.Key, running.Owner);
        if (here) participant.Stable(running.Key, state.Rank);
    }

    /// <summary>A participant says that the put was executed, by this attempt or another; participants that hold this attempt without a time forget it.</summary>
    private void FinishExecuted(CoordinatedOperation running)
    {
        AbortOthers(running, SlotFlags.Executed, acknowledge: false);
        if (running.Client is { } client)
        {
            // A shard that is still executing the put gives its result to the next attempt, which only repeats it: the result computed at this
            // proposal may differ.
            if (IsExecutedEverywhere(running, client)) CompleteClient(running);
            else if ((running.Any(SlotFlags.Rejected) && running.Reason == RejectReason.Misplaced) || LacksResult(running, client))
            {
                // It was executed, and there is no result to wait for: by its hash, a shard has other keys of the put.
                client.WithoutResult = true;
                calls.Finish(client, null);
            }
            else
            {
                client.Executed = true;
                running.Client = null;
                client.Running = null;
                // A shard was told that the outcome is known.
                if (running.Any(SlotFlags.Rejected) && running.Reason == RejectReason.Expired) calls.AskHowItEnded(client);
                else calls.RetryApart(client);
            }
        }
        Forget(running);
    }

    private bool IsExecutedEverywhere(CoordinatedOperation running, ClientOperation client)
    {
        for (int i = 0; i < client.PartCount; i++)
        {
            if (!client.Parts[i].HasResult) return false;
            if (i > 0 && client.Parts[i - 1].Shard == client.Parts[i].Shard) continue;
            if (!IsExecuted(running, client.Parts[i].Shard)) return false;
        }
        return true;
    }

    /// <summary>Whether a shard says that the put was executed, but has no result for a key that lies there by this member's hash.</summary>
    private bool LacksResult(CoordinatedOperation running, ClientOperation client)
    {
        for (int i = 0; i < client.PartCount; i++)
            if (!client.Parts[i].HasResult && IsExecuted(running, client.Parts[i].Shard)) return true;
        return false;
    }

    private bool IsExecuted(CoordinatedOperation running, int shard)
    {
        for (int j = 0; j < running.Count; j++)
            if ((running.Flags[j] & SlotFlags.Executed) != SlotFlags.None && state.Map!.ShardOfSlot(running.Slots[j]) == shard) return true;
        return false;
    }

    private void FinishRejected(CoordinatedOperation running)
    {
        if (running.Client is not { } client)
        {
            AbortOthers(running, SlotFlags.Rejected, acknowledge: false);
            Forget(running);
            return;
        }
        // Ids that callers took beforehand keep outcomes at replicas, but must not keep a put from being executed: release them and try once more. If they were not the cause, that is refused too.
        bool released = running.Reason == RejectReason.OutcomesFull && client.Kind.Changes && client.Id.Session == state.Session && (puts.Numbers.Release() || puts.Numbers.Releases != running.Releases);
        released &= !client.TriedAfterRelease;
        client.TriedAfterRelease |= released;
        if (!released && Ends(client, running.Reason))
        {
            // The caller will be told "not executed", so all participants must have rejected the attempt first: otherwise a flush might find it at all survivors.
            running.Phase = AttemptPhase.Aborting;
            AbortOthers(running, SlotFlags.Rejected, acknowledge: true);
            FailIfAborted(running);
            return;
        }
        AbortOthers(running, SlotFlags.Rejected, acknowledge: false);
        running.Client = null;
        client.Running = null;
        var reason = running.Reason;
        if (reason == RejectReason.OutcomesFull && !released) calls.AdmitOldest();
        Forget(running);
        if (reason == RejectReason.Expired && client.Kind.Changes) calls.AskHowItEnded(client);
        else if (reason == RejectReason.Rejected) calls.RetryAbove(client);
        else calls.RetryApart(client);
    }

    /// <summary>
    /// Whether a refusal ends a call. A put whose caller was told that it goes on does so as long as it can; of two puts with one id, that
    /// holds for the put to which the id was given.
    /// </summary>
    private static bool Ends(ClientOperation client, RejectReason reason) => !client.Executed && reason switch
    {
        RejectReason.Taken or RejectReason.Misplaced => true,
        RejectReason.ClockAhead => client.Phase != OperationPhase.Detached,
        RejectReason.OtherPairs => client.Phase != OperationPhase.Detached || client.Requested is not null,
        RejectReason.Overloaded or RejectReason.OutcomesFull => client.Phase != OperationPhase.Detached,
        _ => false,
    };

    private void FailIfAborted(CoordinatedOperation running)
    {
        if (running.Any(SlotFlags.Executed))
        {
            // A participant has the commit from a member that took over: the put is executed, whatever another participant says.
            if (running.Client is { } goesOn)
            {
                goesOn.Executed = goesOn.Kind.Changes;
                calls.RetryApart(goesOn);
            }
            Forget(running);
            return;
        }
        if (!running.All(SlotFlags.Rejected | SlotFlags.AbortAcked)) return;
        if (running.Client is { } client)
        {
            // Its caller may have given up meanwhile.
            if (!Ends(client, running.Reason)) calls.RetryApart(client);
            else if (running.Reason == RejectReason.OtherPairs && client.Requested is not null) calls.Finish(client, errors.Unresolved(client, "Another retry of the put, with other pairs, is under way; nothing new is known of the put."));
            else if (running.Reason is RejectReason.OtherPairs or RejectReason.Taken) calls.Finish(client, errors.About(client, new OperationIdReusedException(client.Id), running.RefusedBy));
            else calls.Refuse(client, running.Reason switch { RejectReason.Misplaced => errors.NeverHeld(client, running.RefusedBy), RejectReason.ClockAhead => errors.ClockAhead(client, running.RefusedBy), RejectReason.OutcomesFull => errors.OutcomesFull(client, running.RefusedBy), _ => errors.TooMany(client, running.RefusedBy) });
        }
        Forget(running);
    }

    public void AbortOthers(CoordinatedOperation running, SlotFlags except, bool acknowledge)
    {
        for (int i = 0; i < running.Count; i++)
        {
            if ((running.Flags[i] & except) != SlotFlags.None) continue;
            int rank = state.Map!.RankOfSlot(running.Slots[i]);
            if (rank != state.Rank)
            {
                send.Abort(rank, running.Key, running.Owner, acknowledge);
                continue;
            }
            bool? aborted = participant.Abort(running.Key, state.Rank);
            if (acknowledge && aborted is { } was) running.Flags[i] |= was ? SlotFlags.AbortAcked : SlotFlags.Executed;
        }
    }

    /// <summary>The ranks of the other participants; true when this member is a participant too.</summary>
    private bool RemoteRanks(CoordinatedOperation running, out Span<int> others)
    {
        bool here = false;
        _ranks.Clear();
        for (int i = 0; i < running.Count; i++)
        {
            int rank = state.Map!.RankOfSlot(running.Slots[i]);
            if (rank == state.Rank) here = true;
            else _ranks.Add(rank);
        }
        others = _ranks.Span;
        return here;
    }

    private void CompleteClient(CoordinatedOperation running)
    {
        if (running.Client is not { } client) return;
        bool whole = true;
        for (int i = 0; i < client.PartCount; i++) whole &= client.Parts[i].HasResult;
        if (running.Any(SlotFlags.TooLarge)) calls.Finish(client, errors.About(client, ValueTooLargeException.TooMuchOfAShard(Wire.DhtLimits.PartBytes), FirstWith(running, SlotFlags.TooLarge)));
        else if (whole || client.WithoutResult) calls.Finish(client, null);
        else if (client.Kind.Changes)
        {
            // Another attempt was acknowledged before, and its result is no longer at the replicas.
            running.Client = null;
            client.Running = null;
            calls.AskHowItEnded(client);
        }
        else calls.Finish(client, errors.About(client, new OperationNotExecutedException("A participant executed the read and told no values; read again.")));
    }

    private int FirstWith(CoordinatedOperation running, SlotFlags flag)
    {
        int index = 0;
        while ((running.Flags[index] & flag) == SlotFlags.None) index++;
        return state.Map!.RankOfSlot(running.Slots[index]);
    }

    /// <summary>The attempt is over.</summary>
    public void Forget(CoordinatedOperation running)
    {
        _running.Remove(running);
        if (running.IsTakeover) Takeovers.Remove(running);
        if (running.ReturnedEarly) puts.ReleaseEarly(running);
        if (running.Client is { } client) client.Running = null;
        Recycle(running);
    }

    /// <summary>An attempt that is not driven goes back to the pool.</summary>
    public void Recycle(CoordinatedOperation running)
    {
        running.Reset();
        if (_free.Count < 4096) _free.Push(running);
    }

    /// <summary>The view ends, or the DHT, and all attempts with it.</summary>
    public void Clear()
    {
        _running.Clear();
        Takeovers.Clear();
    }

    /// <summary>No view follows: keeps none for later.</summary>
    public void ForgetFree()
    {
        _free.Clear();
        _free.TrimExcess();
    }
}
