using Ida.Shared;

namespace Ida.Ordering;

/// <summary>
/// A member's entries. That of an absent key goes as soon as nothing needs it; its clock lives on in the floor from which the clocks of absent keys begin. Puts change
/// entries by <see cref="Store"/>, which lets the snapshot and the cut keep what they still need. The transfer changes entries itself, after <see cref="BeforeChange"/>.
/// </summary>
internal sealed class Slice(DhtState state)
{
    private const int LimitedPerTurn = 16_384;

    public EntryTable Table { get; private set; } = new();

    /// <summary>The slice as it was when the view was installed, while newcomers get it.</summary>
    public ViewSnapshot Snapshot { get; } = new();

    /// <summary>The cut that is being copied for callers of a snapshot.</summary>
    public SliceCut? Cut { get; set; }

    /// <summary>Where the clocks of absent keys begin.</summary>
    public ulong Floor { get; private set; }

    /// <summary>At a member without its state: says which absent keys it still needs.</summary>
    public LatePuts? Late { get; set; }

    /// <summary>The entry of a key, made when it is new; <paramref name="place"/> is its <see cref="KeyIdentity.PlaceOf"/>.</summary>
    public Entry EntryOf(ReadOnlySpan<byte> key, ulong place) => Table.FindOrAdd(key, place, Floor);

    /// <summary>Removes the entry of an absent key that nothing waits for; the floor takes over its clock.</summary>
    public void DropIfIdle(Entry entry)
    {
        if (!entry.Idle || entry.Touched || Snapshot.Needs(entry) || Cut?.Needs(entry) == true || (!state.Initialised && Late?.Needs(entry) == true)) return;
        Table.Limit(entry);
        RaiseFloor(entry.Clock);
        Table.Remove(entry);
        Cut?.Forget(entry);
        Snapshot.Forget(entry);
    }

    /// <summary>An entry is about to change: a cut that has not copied it yet keeps its old value.</summary>
    public void BeforeChange(Entry entry)
    {
        if (Cut is { } cut && cut.Table == Table) cut.BeforeChange(entry);
    }

    public void Store(Entry entry, byte[]? value, ulong version)
    {
        Snapshot.BeforeChange(entry);
        BeforeChange(entry);
        Table.Sizes.Change(entry.Key, entry.Value, value);
        (entry.Value, entry.Version) = (value, version);
        // Of two puts with one time, the second has a version above that time. The clock outlives a removed entry: later versions stay above it.
        entry.Clock = Math.Max(entry.Clock, version);
        state.Clock.Commit(version);
    }

    /// <summary>The clocks of absent keys begin above this time too.</summary>
    public void RaiseFloor(ulong time) => Floor = Math.Max(Floor, time);

    /// <summary>
    /// After the clocks were aligned: a time that a wrong clock proposed, and that was never committed, must not remain the lower bound for its
    /// key, or for absent keys. Times do not order operations of the old view against those of the new one; only versions continue.
    /// </summary>
    public void LimitClocks()
    {
        ulong most = state.Clock.Limit(state.Node.Now) - HybridClock.Jump + 1;
        Floor = Math.Min(Floor, most);
        if (!state.Clock.WasAhead) return;
        Table.LimitClocks(most);
        LimitSome();
    }

    /// <summary>Goes on limiting clocks, within the bound of a turn.</summary>
    public void LimitSome() => Table.LimitSome(LimitedPerTurn);

    /// <summary>No entry remains. The floor stays, and a cut goes on with the old table.</summary>
    public void DropTable() => Table = new();
}
