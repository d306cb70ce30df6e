using System.Diagnostics;
using Ida.Kinds;
using Ida.Shared;

namespace Ida.Ordering;

/// <summary>
/// What a participant knows of one attempt. The record of a put is kept until executed, stable and settled (its commit has reached all participants),
/// because the flush decides from what survivors hold. Source: dht-order.md#records-stay-until-the-commit-is-everywhere.
/// </summary>
internal sealed class ParticipantRecord(DhtCounters counters)
{
    public AttemptId Key;

    /// <summary><see cref="PutPayload"/> of all pairs of a put, those of other shards included.</summary>
    public ulong Payload;

    /// <summary>Rank of the session's owner in this view, −1 when no member owns the session.</summary>
    public int Owner;

    public OperationKind Kind = OperationKind.Get;
    public bool Single;

    /// <summary>It came from the member that numbers these attempts, not from another member in its name.</summary>
    public bool Issued;
    public ConsistencyLevel Level;
    public ulong Proposed;

    /// <summary>At a member that waits for its state: the number of uses that were not applied, because they need a value that has not arrived.</summary>
    public int LateUses;

    /// <summary>Another attempt at the logical put had its turn before this one and executed the put, whatever is remembered of that.</summary>
    public bool Void;

    /// <summary>The values read are more than a frame takes.</summary>
    public bool TooLarge;

    /// <summary>It has one key, changed by an effect that tells the value that is stored afterwards.</summary>
    public bool TellsValue;

    /// <summary>Whether its result has values.</summary>
    public bool BringsValues => !Kind.Changes || TellsValue;

    /// <summary>Whether its keys are applied together or not at all: a key may keep the others from being applied.</summary>
    public bool IsConditional;

    /// <summary>What the result of a put tells besides versions; null if nothing.</summary>
    public PutReport? Report;

    /// <summary>Rises when the record leaves the table, so that references from queues of commits and from readers notice it.</summary>
    public int Generation;

    public long Since;
    public bool TakenOver;

    public ushort[] Slots = new ushort[8];
    public int SlotCount;
    public KeyUse[] Uses = [];
    public int UseCount;

    /// <summary>Index of the use at which the record was last found to wait. It is looked at first next time: most likely the record still waits there.</summary>
    public int Held;
    public readonly List<int> Coordinators = [];

    /// <summary>Another attempt of the same logical operation.</summary>
    public ParticipantRecord? OtherAttempt;

    /// <summary>Neighbours in order of arrival.</summary>
    public ParticipantRecord? Older, Newer;

    public RecordPhase Phase { get; private set; }

    public QuiescencePhase Told { get; private set; }

    public ResultPhase Result { get; private set; }

    /// <summary>The decided time, once committed.</summary>
    public ulong Time { get; private set; }

    /// <summary>Its commit has reached all participants.</summary>
    public bool Settled { get; private set; }

    public bool Committed => Phase >= RecordPhase.Committed;

    public bool Executed => Phase >= RecordPhase.Executed;

    public bool Stable => Phase is RecordPhase.Stable or >= RecordPhase.Finished;

    public bool HasResult => Result != ResultPhase.None;

    /// <summary>The record's place in the order: the time once committed, the proposal before.</summary>
    public ulong Position => Committed ? Time : Proposed;

    public static bool Before(ParticipantRecord left, ParticipantRecord right) =>
        left.Position != right.Position ? left.Position < right.Position : left.Key.CompareTo(right.Key) < 0;

    public ReadOnlySpan<ushort> Participants => Slots.AsSpan(0, SlotCount);

    public void AddSlot(ushort slot)
    {
        if (SlotCount == Slots.Length) Array.Resize(ref Slots, SlotCount * 2);
        Slots[SlotCount++] = slot;
    }

    public KeyUse AddUse(Entry entry, in KeyDeed deed)
    {
        if (UseCount == Uses.Length)
        {
            int old = UseCount;
            Array.Resize(ref Uses, Math.Max(1, old * 2));
            for (int i = old; i < Uses.Length; i++) Uses[i] = new();
        }
        var use = Uses[UseCount++];
        (use.Op, use.Entry, use.Deed) = (this, entry, deed);
        IsConditional |= deed.MayStop;
        return use;
    }

    /// <summary>The use at index <see cref="Held"/>; after the last use comes the first.</summary>
    public KeyUse NextHeld()
    {
        if (Held >= UseCount) Held = 0;
        return Uses[Held];
    }

    /// <summary>Goes to the next phase. A step not in <see cref="RecordPhases"/> is a defect: it throws in debug builds, and is refused and counted in others.</summary>
    public bool Move(RecordPhase to)
    {
        if (!RecordPhases.MayFollow(Phase, to)) return Forbid(Phase, to);
        Phase = to;
        return true;
    }

    /// <summary>Sets what the coordinators were told.</summary>
    public bool Tell(QuiescencePhase now)
    {
        if (!RecordPhases.MayFollow(Told, now)) return Forbid(Told, now);
        Told = now;
        return true;
    }

    /// <summary>Sets what the results in the uses stand for.</summary>
    public bool Take(ResultPhase now)
    {
        if (Result == now) return true;
        if (!RecordPhases.MayFollow(Result, now)) return Forbid(Result, now);
        Result = now;
        return true;
    }

    /// <summary>The attempt gets its time. Results computed and told for another time do not hold any more.</summary>
    public bool Commit(ulong time)
    {
        if (!Move(RecordPhase.Committed)) return false;
        Time = time;
        if (time == Proposed) return true;
        Take(ResultPhase.None);
        return Told == QuiescencePhase.Untold || Tell(QuiescencePhase.Untold);
    }

    /// <summary>The attempt has its turn.</summary>
    public bool Execute()
    {
        if (!Move(Phase == RecordPhase.Stable ? RecordPhase.Finished : RecordPhase.Executed)) return false;
        for (int i = 0; Kind.Changes && i < UseCount; i++) Uses[i].Entry.Queue?.Pass(Uses[i]);
        return true;
    }

    /// <summary>All participants have executed it and all before it, or will before anything can come between.</summary>
    public bool BecomeStable() => Move(Phase == RecordPhase.Executed ? RecordPhase.Finished : RecordPhase.Stable);

    /// <summary>All participants have the commit; this one had it before.</summary>
    public bool Settle()
    {
        if (!Committed) return Forbid(Phase, nameof(Settled));
        Settled = true;
        return true;
    }

    private bool Forbid<TFrom, TTo>(TFrom from, TTo to)
    {
        counters.CountForbiddenStep();
        Fail($"{Key} cannot go from {from} to {to}.");
        return false;
    }

    [Conditional("DEBUG")]
    private static void Fail(string what) => throw new InvalidOperationException(what);

    /// <summary>Empties the record, from whatever phase.</summary>
    public void Reset()
    {
        Generation++;
        for (int i = 0; i < UseCount; i++) Uses[i].Reset();
        UseCount = SlotCount = LateUses = Held = 0;
        Coordinators.Clear();
        (Phase, Told, Result) = (RecordPhase.Free, QuiescencePhase.Untold, ResultPhase.None);
        Kind = OperationKind.Get;
        Single = Issued = Settled = Void = TooLarge = TakenOver = TellsValue = IsConditional = false;
        Report = null;
        Proposed = Time = Payload = 0;
        Older = Newer = OtherAttempt = null;
    }
}
