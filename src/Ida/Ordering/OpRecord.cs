namespace Ida.Ordering;

/// <summary>
/// What a participant knows of one attempt. Kept until executed, stable and settled (its COMMIT reached all participants), because the
/// flush decides from what survivors hold. Source: ida 4.6, 4.15 GC.
/// </summary>
internal sealed class OpRecord
{
    public OpKey Key;

    /// <summary>Hash of all pairs of a put, those of other shards included.</summary>
    public ulong Payload;

    /// <summary>Rank of the owner of the session in this view, −1 when the session is not a member's.</summary>
    public int Owner;

    public bool IsPut, Single;
    public ConsistencyLevel Level;
    public ulong Proposed, Time;
    public bool Committed, Executed, Stable, Settled, ClearSent, EarlySent, ClearAtProposal;

    /// <summary>The effects were computed at the proposal and hold if the time stays.</summary>
    public bool Speculated;

    /// <summary>The uses hold the result: executed here, or computed at the proposal.</summary>
    public bool HasResult;

    /// <summary>Executed at a member that waits for its state, but for some uses that need a value which is not there.</summary>
    public bool Deferred;

    /// <summary>How many these are.</summary>
    public int LateUses;

    /// <summary>Another attempt at the logical put has its turn before this one: that executed it, whatever is remembered of it.</summary>
    public bool Void;

    /// <summary>The values read are more than a frame takes.</summary>
    public bool TooLarge;

    /// <summary>It is in the table.</summary>
    public bool Held;

    /// <summary>It left the table: references from queues of commits and readers find out by <see cref="Generation"/>.</summary>
    public int Generation;

    public long Since;
    public bool TakenOver;

    public ushort[] Slots = new ushort[8];
    public int SlotCount;
    public KeyUse[] Uses = [];
    public int UseCount;
    public readonly List<int> Coordinators = [];

    /// <summary>Another attempt of the same logical operation.</summary>
    public OpRecord? OtherAttempt;

    /// <summary>Neighbours in order of arrival.</summary>
    public OpRecord? Older, Newer;

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

    public void Reset()
    {
        Generation++;
        for (int i = 0; i < UseCount; i++) Uses[i].Reset();
        UseCount = SlotCount = LateUses = 0;
        Coordinators.Clear();
        IsPut = Single = Committed = Executed = Stable = Settled = ClearSent = EarlySent = ClearAtProposal = Speculated = HasResult = Deferred = Void = TooLarge = Held = TakenOver = false;
        Proposed = Time = Payload = 0;
        Older = Newer = OtherAttempt = null;
    }
}
