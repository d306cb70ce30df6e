using GroupCore.Wire.MessagePack;
using Ida.Kinds;
using Ida.Wire;

namespace Ida.Ordering;

/// <summary>Effects: what an operation does to the entries, the same at every replica.</summary>
internal sealed partial class Participant
{
    /// <summary>Nanoseconds after which a resolver is slow: the node does nothing else meanwhile.</summary>
    private const long SlowResolver = 50_000_000;

    /// <summary>
    /// Computes the effects ahead of the commit. They are right when everything before the attempt has been executed and its time stays: then nothing
    /// can come in between.
    /// </summary>
    private void Speculate(ParticipantRecord op)
    {
        if (!op.Kind.Changes)
        {
            ReadValues(op);
            op.Take(ResultPhase.Ahead);
        }
        else if (TryOutcome(op, out var outcome))
        {
            Repeat(op, outcome, ResultPhase.Ahead);
        }
        else
        {
            Compute(op, op.Proposed);
            op.Take(ResultPhase.Ahead);
        }
    }

    private void Perform(ParticipantRecord op)
    {
        if (!op.Kind.Changes)
        {
            ReadValues(op);
            op.Take(ResultPhase.Executed);
        }
        else if (TryOutcome(op, out var outcome))
        {
            Repeat(op, outcome, ResultPhase.Executed);
            HoldOnce(op);
        }
        else
        {
            // A result computed ahead was not that of a repeat: otherwise the attempt would repeat now too.
            if (op.Result != ResultPhase.Ahead) Compute(op, op.Time);
            for (int i = 0; i < op.UseCount; i++)
            {
                var use = op.Uses[i];
                if (Changes(use)) Store(use.Entry, use.Value, use.Version);
                if (!op.Stable && use.Entry.Queue is { } queue) queue.Writer = op;
            }
            op.Take(ResultPhase.Executed);
            RecordOutcome(op);
        }
    }

    private static void ReadValues(ParticipantRecord op)
    {
        long bytes = 0;
        for (int i = 0; i < op.UseCount; i++)
        {
            var use = op.Uses[i];
            (use.Value, use.Version) = (use.Entry.Value, use.Entry.Version);
            bytes += DhtLimits.KeyCost + (use.Value?.Length ?? 0);
        }
        // Values too large for a frame are not sent: the caller is told to ask for fewer keys.
        op.TooLarge = bytes > DhtLimits.PartBytes;
    }

    /// <summary>
    /// Computes what a put does to this shard: to all its keys, or to none where a key does not have the version that is expected of it, or a
    /// resolver throws. Every replica finds the same, since it has the same entries at this place of the order.
    /// </summary>
    private void Compute(ParticipantRecord op, ulong time)
    {
        op.Report = null;
        for (int i = 0; i < op.UseCount; i++)
        {
            if (op.Uses[i].IsMet || !state.Rules.ExpectationsHold) continue;
            Leave(op, new(Verdict.NotMet, i, null, null));
            return;
        }
        for (int i = 0; i < op.UseCount; i++)
        {
            if (Compute(op.Uses[i], time) is not { } error) continue;
            // As it is told to other members, so that all callers are told the same.
            Leave(op, new(Verdict.Failed, i, Utf8Text.AsGot(DhtLimits.Cut(error)), null));
            return;
        }
        if (op.TellsValue) op.Report = new(Verdict.Applied, 0, null, op.Uses[0].Value);
    }

    /// <summary>The put changes nothing: its result has the versions that its keys have.</summary>
    private static void Leave(ParticipantRecord op, PutReport report)
    {
        op.Report = report;
        for (int i = 0; i < op.UseCount; i++) Leave(op.Uses[i]);
    }

    private static void Leave(KeyUse use) => (use.Value, use.Version) = (use.Entry.Value, KeyUse.VersionOf(use.Entry));

    /// <summary>Whether a put changes the entry, once its result is computed.</summary>
    private static bool Changes(KeyUse use) => PutReport.IsApplied(use.Op.Report) && use.Deed.Effect.Changes && !(use.Value is null && use.Entry.Value is null);

    /// <summary>Computes value and version of one key; returns what a resolver threw.</summary>
    private string? Compute(KeyUse use, ulong time)
    {
        var (entry, effect) = (use.Entry, use.Deed.Effect);
        use.Version = Math.Max(time, entry.Version + 1);
        if (effect.Apply(this, use.Deed.Resolver, entry.Key, entry.Value, use.Incoming, out use.Value) is { } error) return error;
        // An absent key that stays absent gets no version.
        if (!effect.Changes || (use.Value is null && entry.Value is null)) Leave(use);
        return null;
    }

    // The clock is looked at only if somebody hears of a slow resolver.
    byte[]? IResolvers.Resolve(ulong resolver, byte[] key, byte[]? stored, byte[] incoming)
    {
        if (!state.Node.Log.IsOn) return state.Maps.Resolve(resolver, key, stored, incoming);
        long began = state.Node.Clock();
        byte[]? value = state.Maps.Resolve(resolver, key, stored, incoming);
        long took = state.Node.Clock() - began;
        if (took >= SlowResolver) state.Node.Log.ResolverSlow(state.GroupName, took / 1_000_000);
        return value;
    }

    /// <summary>An entry is about to change: a cut that has not copied it yet keeps its old value.</summary>
    public void BeforeChange(Entry entry)
    {
        if (Cut is { } cut && cut.Table == Table) cut.BeforeChange(entry);
    }

    private void Store(Entry entry, byte[]? value, ulong version)
    {
        Snapshot.BeforeChange(entry);
        BeforeChange(entry);
        Table.Sizes.Change(entry.Key, entry.Value, value);
        (entry.Value, entry.Version) = (value, version);
        // Of two puts with one time, the second has a version above that time. The clock outlives a removed entry: later versions stay above it.
        entry.Clock = Math.Max(entry.Clock, version);
        state.Clock.Commit(version);
    }

    private bool TryOutcome(ParticipantRecord op, out Outcome outcome)
    {
        outcome = default;
        return state.Rules.OutcomeTable && Sessions.Find(op.Key.Id.Session) is { } session
            && (session.TryGet(op.Key.Id.Sequence, out outcome) || op.Void);
    }

    /// <summary>
    /// The attempt has its turn: the other held attempts only repeat it, even when its outcome is acknowledged and forgotten before theirs.
    /// That follows from the order alone, not from the moment of an acknowledgement: replicas hear of it at different moments.
    /// </summary>
    private void MarkRepeats(ParticipantRecord op)
    {
        if (!op.Kind.Changes) return;
        for (var other = _ops.AttemptsOf(op.Key.Id); other is not null; other = other.OtherAttempt) other.Void |= other != op;
    }

    /// <summary>Whether another attempt had its turn here in this view, or an outcome is remembered. A read under the id does not count: not every replica holds it.</summary>
    private bool WasTaken(ParticipantRecord op)
    {
        if (!op.Kind.Changes) return false;
        for (var other = _ops.AttemptsOf(op.Key.Id); other is not null; other = other.OtherAttempt)
            if (other.Kind.Changes && other.Executed) return true;
        return _lateOps.ContainsKey(op.Key.Id) || (Sessions.Find(op.Key.Id.Session) is { } session && session.TryGet(op.Key.Id.Sequence, out _));
    }

    /// <summary>
    /// Another attempt applied the logical put: this one only tells its result. If its owner has acknowledged that already, the result is
    /// forgotten, and there is none to tell; nor is there one to tell where another put was executed under the id.
    /// </summary>
    private static void Repeat(ParticipantRecord op, in Outcome outcome, ResultPhase where)
    {
        op.Take(outcome.View != 0 && outcome.Payload == op.Payload ? where : ResultPhase.None);
        op.Report = outcome.Report;
        for (int i = 0; i < op.UseCount; i++) op.Uses[i].Version = outcome.VersionAt(i);
    }

    /// <summary>
    /// Several members may issue one attempt, and a proposal never changes: so a late proposal must not make another record when this one
    /// is gone. The outcome tells which attempt was executed, but not which attempts only repeated it.
    /// </summary>
    private void HoldOnce(ParticipantRecord op) => Sessions.Find(op.Key.Id.Session)?.Reject(op.Key);

    private void RecordOutcome(ParticipantRecord op)
    {
        if (Sessions.Find(op.Key.Id.Session) is not { } session) return;
        Span<ulong> versions = op.UseCount <= PutVersions.Inline ? stackalloc ulong[PutVersions.Inline] : new ulong[op.UseCount];
        for (int i = 0; i < op.UseCount; i++) versions[i] = op.Uses[i].Version;
        Sessions.Record(session, new(op.Key.Id.Sequence, state.View, op.Key.Attempt, op.Key.Payload != 0, op.Payload, new(versions[..op.UseCount]), op.Report));
    }

    /// <summary>
    /// Queued puts whose outcome came with the state are over for ever, as are puts that were acknowledged before its view change: the other
    /// members told their coordinator so. If they were kept, and those members were gone at the next view change, they would be applied again.
    /// A put that only repeats one executed in this view, and forgotten already, stays: this member has proposed it, so it may be committed.
    /// </summary>
    private void DeleteKnownOutcomes()
    {
        for (ParticipantRecord? op = _oldest, next; op is not null; op = next)
        {
            next = op.Newer;
            if (op.Kind.Changes && !op.Committed && WasOver(op)) Withdraw(op);
        }
    }

    /// <summary>Whether the put was over before the view.</summary>
    private bool WasOver(ParticipantRecord op) => op.Key.Id.Sequence < Sessions.Find(op.Key.Id.Session)?.OverBelow
        || (TryOutcome(op, out var outcome) && outcome.View != 0 && outcome.View < state.View);

    /// <summary>
    /// The state says that a put was over before the view and that its outcome is not kept: its held attempts are dropped at once, and later
    /// attempts are refused as acknowledged.
    /// </summary>
    public void DropAttempts(OperationId put)
    {
        for (ParticipantRecord? op = _ops.AttemptsOf(put), next; op is not null; op = next)
        {
            next = op.OtherAttempt;
            if (op.Kind.Changes && !op.Committed) Withdraw(op);
        }
        Pump();
    }

    private void Withdraw(ParticipantRecord op)
    {
        TouchAll(op);
        for (int i = 0; i < op.UseCount; i++) op.Uses[i].Leave();
        Remove(op);
    }
}
