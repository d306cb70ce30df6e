using System.Diagnostics;

namespace Ida.Ordering;

/// <summary>
/// What a participant knows of one attempt. That of a put is kept until executed, stable and settled (its COMMIT reached all participants),
/// because the flush decides from what survivors hold. Source: dht-order.md#records-stay-until-the-commit-is-everywhere.
/// </summary>
internal sealed class OpRecord(DhtCounters counters)
{
    public OpKey Key;

    /// <summary><see cref="PutPayload"/> of all pairs of a put, those of other shards included.</summary>
    public ulong Payload;

    /// <summary>Rank of the owner of the session in this view, −1 when the session is not a member's.</summary>
    public int Owner;

    public bool IsPut, Single;

    /// <summary>It came from the member that numbers these attempts, not from another one in its name.</summary>
    public bool Issued;
    public ConsistencyLevel Level;
    public ulong Proposed;

    /// <summary>Executed at a member that waits for its state, but for this many uses, which need a value that is not there.</summary>
    public int LateUses;

    /// <summary>Another attempt at the logical put has its turn before this one: that executed it, whatever is remembered of it.</summary>
    public bool Void;

    /// <summary>The values read are more than a frame takes.</summary>
    public bool TooLarge;

    /// <summary>It left the table: references from queues of commits and readers find out by <see cref="Generation"/>.</summary>
    public int Generation;

    public long Since;
    public bool TakenOver;

    public ushort[] Slots = new ushort[8];
    public int SlotCount;
    public KeyUse[] Uses = [];
    public int UseCount;

    /// <summary>The use at which it was found to wait, which is looked at first when it is looked at again: most likely it waits there still.</summary>
    public int Held;
    public readonly List<int> Coordinators = [];

    /// <summary>Another attempt of the same logical operation.</summary>
    public OpRecord? OtherAttempt;

    /// <summary>Neighbours in order of arrival.</summary>
    public OpRecord? Older, Newer;

    public RecordPhase Phase { get; private set; }

    public ClearPhase Told { get; private set; }

    public ResultPhase Result { get; private set; }

    /// <summary>The time that was decided, once committed.</summary>
    public ulong Time { get; private set; }

    /// <summary>Its commit has reached all participants.</summary>
    public bool Settled { get; private set; }

    public bool Committed => Phase >= RecordPhase.Committed;

    public bool Executed => Phase >= RecordPhase.Executed;

    public bool Stable => Phase is RecordPhase.Stable or >= RecordPhase.Finished;

    public bool HasResult => Result != ResultPhase.None;

    /// <summary>What orders it: the time once committed, the proposal before.</summary>
    public ulong Position => Committed ? Time : Proposed;

    public static bool Before(OpRecord left, OpRecord right) =>
        left.Position != right.Position ? left.Position < right.Position : left.Key.CompareTo(right.Key) < 0;

    public ReadOnlySpan<ushort> Participants => Slots.AsSpan(0, SlotCount);

    public void AddSlot(ushort slot)
    {
        if (SlotCount == Slots.Length) Array.Resize(ref Slots, SlotCount * 2);
        Slots[SlotCount++] = slot;
    }

    public KeyUse AddUse(Entry entry)
    {
        if (UseCount == Uses.Length)
        {
            int old = UseCount;
            Array.Resize(ref Uses, Math.Max(1, old * 2));
            for (int i = old; i < Uses.Length; i++) Uses[i] = new();
        }
        var use = Uses[UseCount++];
        use.Op = this;
        use.Entry = entry;
        return use;
    }

    /// <summary>The use <see cref="Held"/> stands at; behind the last comes the first.</summary>
    public KeyUse NextHeld()
    {
        if (Held >= UseCount) Held = 0;
        return Uses[Held];
    }

    /// <summary>The next phase. A step that is not one of <see cref="RecordPhases"/> is a defect: it throws where that is tested and is refused and counted elsewhere.</summary>
    public bool Move(RecordPhase to)
    {
        if (!RecordPhases.MayFollow(Phase, to)) return Forbid(Phase, to);
        Phase = to;
        return true;
    }

    /// <summary>What coordinators are told from now on.</summary>
    public bool Tell(ClearPhase now)
    {
        if (!RecordPhases.MayFollow(Told, now)) return Forbid(Told, now);
        Told = now;
        return true;
    }

    /// <summary>What the uses say from now on.</summary>
    public bool Take(ResultPhase now)
    {
        if (Result == now) return true;
        if (!RecordPhases.MayFollow(Result, now)) return Forbid(Result, now);
        Result = now;
        return true;
    }

    /// <summary>It has its time. What was computed ahead and told for another one does not hold.</summary>
    public bool Commit(ulong time)
    {
        if (!Move(RecordPhase.Committed)) return false;
        Time = time;
        if (time == Proposed) return true;
        Take(ResultPhase.None);
        return Told == ClearPhase.Untold || Tell(ClearPhase.Untold);
    }

    /// <summary>It has its turn.</summary>
    public bool Execute()
    {
        if (!Move(Phase == RecordPhase.Stable ? RecordPhase.Finished : RecordPhase.Executed)) return false;
        for (int i = 0; IsPut && i < UseCount; i++) Uses[i].Entry.Pass(Uses[i]);
        return true;
    }

    /// <summary>It is known that all participants have executed it and all before it, or will before anything can come between.</summary>
    public bool BecomeStable() => Move(Phase == RecordPhase.Executed ? RecordPhase.Finished : RecordPhase.Stable);

    /// <summary>All participants have its commit, which is known here before.</summary>
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

    /// <summary>Nothing is left of it, from whatever phase.</summary>
    public void Reset()
    {
        Generation++;
        for (int i = 0; i < UseCount; i++) Uses[i].Reset();
        UseCount = SlotCount = LateUses = Held = 0;
        Coordinators.Clear();
        (Phase, Told, Result) = (RecordPhase.Free, ClearPhase.Untold, ResultPhase.None);
        IsPut = Single = Issued = Settled = Void = TooLarge = TakenOver = false;
        Proposed = Time = Payload = 0;
        Older = Newer = OtherAttempt = null;
    }
}
