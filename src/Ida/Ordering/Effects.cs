using GroupCore.Wire.MessagePack;
using Ida.Kinds;
using Ida.Wire;

namespace Ida.Ordering;

/// <summary>Effects: what an operation does to the entries, the same at every replica; and what is remembered of a put for those that ask again.</summary>
internal sealed class Effects(DhtState state, Slice slice, SessionTable sessions, HeldRecords records) : IResolvers
{
    /// <summary>Nanoseconds after which a resolver is slow: the node does nothing else meanwhile.</summary>
    private const long SlowResolver = 50_000_000;

    private (int Count, long Longest, string? Map) _slow;

    /// <summary>
    /// Computes the effects ahead of the commit. They are right when everything before the attempt has been executed and its time stays: then nothing
    /// can come in between.
    /// </summary>
    public void Speculate(ParticipantRecord op)
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

    /// <summary>The attempt has its turn: reads, or changes the entries.</summary>
    public void Perform(ParticipantRecord op)
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
                if (Changes(use)) slice.Store(use.Entry, use.Value, use.Version);
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
    /// Computes what a put does to this shard: to all its keys, or to none if a key does not have the version that is expected of it, or a
    /// resolver throws. Every replica computes the same, since it has the same entries at this place in the order.
    /// </summary>
    public void Compute(ParticipantRecord op, ulong time)
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
            // In the form in which other members get it, so that all callers are told the same.
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
    public static bool Changes(KeyUse use) => PutReport.IsApplied(use.Op.Report) && use.Deed.Effect.Changes && !(use.Value is null && use.Entry.Value is null);

    /// <summary>Computes value and version of one key; returns what a resolver threw.</summary>
    public string? Compute(KeyUse use, ulong time)
    {
        var (entry, effect) = (use.Entry, use.Deed.Effect);
        use.Version = Math.Max(time, entry.Version + 1);
        if (effect.Apply(this, use.Deed.Resolver, entry.Key, entry.Value, use.Incoming, out use.Value) is { } error) return error;
        // An absent key that stays absent gets no version.
        if (!effect.Changes || (use.Value is null && entry.Value is null)) Leave(use);
        return null;
    }

    // Reads the clock only if a logger would hear of a slow resolver.
    byte[]? IResolvers.Resolve(ulong resolver, byte[] key, byte[]? stored, byte[] incoming)
    {
        if (!state.Node.Log.IsOn) return state.Maps.Resolve(resolver, key, stored, incoming);
        long began = state.Node.Clock();
        byte[]? value = state.Maps.Resolve(resolver, key, stored, incoming);
        long took = state.Node.Clock() - began;
        if (took >= SlowResolver) Note(took, key);
        return value;
    }

    private void Note(long took, byte[] key)
    {
        var (count, longest, map) = _slow;
        _slow = took > longest ? (count + 1, took, state.Maps.Find(key)?.Name) : (count + 1, longest, map);
    }

    /// <summary>The calls of resolvers that took long since this was last asked: how many, how many nanoseconds the longest took, and for which map.</summary>
    public (int Count, long Longest, string? Map) TakeSlowResolvers()
    {
        var slow = _slow;
        _slow = default;
        return slow;
    }

    /// <summary>The outcome of the put, where an attempt has executed it; an empty one where that is known and nothing more.</summary>
    public bool TryOutcome(ParticipantRecord op, out Outcome outcome)
    {
        outcome = default;
        return state.Rules.OutcomeTable && sessions.Find(op.Key.Id.Session) is { } session
            && (session.TryGet(op.Key.Id.Sequence, out outcome) || op.Void);
    }

    /// <summary>
    /// The attempt has its turn: the other held attempts only repeat it, even when its outcome is acknowledged and forgotten before theirs.
    /// That follows from the order alone, not from the moment of an acknowledgement: replicas hear of it at different moments.
    /// </summary>
    public void MarkRepeats(ParticipantRecord op)
    {
        if (!op.Kind.Changes) return;
        for (var other = records.AttemptsOf(op.Key.Id); other is not null; other = other.OtherAttempt) other.Void |= other != op;
    }

    /// <summary>
    /// Another attempt applied the logical put: this one only tells its result. There is no result to tell if the put's owner has acknowledged it
    /// already (then it is forgotten), or if another put was executed under the id.
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
    public void HoldOnce(ParticipantRecord op) => sessions.Find(op.Key.Id.Session)?.Reject(op.Key);

    public void RecordOutcome(ParticipantRecord op)
    {
        if (sessions.Find(op.Key.Id.Session) is not { } session) return;
        Span<ulong> versions = op.UseCount <= PutVersions.Inline ? stackalloc ulong[PutVersions.Inline] : new ulong[op.UseCount];
        for (int i = 0; i < op.UseCount; i++) versions[i] = op.Uses[i].Version;
        sessions.Record(session, new(op.Key.Id.Sequence, state.View, op.Key.Attempt, op.Key.Payload != 0, op.Payload, new(versions[..op.UseCount]), op.Report));
    }
}
