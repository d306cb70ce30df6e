namespace Ida.Ordering;

/// <summary>
/// One key at one member: value, version, clock. A key at rest has nothing else: what it needs while it is used is in its <see cref="Queue"/>, and what a snapshot keeps of it in
/// <see cref="KeptValues"/>. So an entry takes 80 B; with all of that inside, it took 176.
/// Value arrays are never changed once stored, so a snapshot keeps a reference and no copy.
/// </summary>
internal sealed class Entry(byte[] key, ulong hash)
{
    public readonly byte[] Key = key;
    /// <summary>Its place: <see cref="KeyIdentity.PlaceOf"/>, whatever the hash of the options is.</summary>
    public readonly ulong Hash = hash;

    /// <summary>Next entry of the same bucket.</summary>
    public Entry? Chain;

    /// <summary>Null: the key is absent.</summary>
    public byte[]? Value;
    public ulong Version;

    /// <summary>Largest time proposed or committed for this key, and largest version given.</summary>
    public ulong Clock;

    /// <summary>Operations and readers of the key; null: it rests. Lent by <see cref="KeyQueues"/>.</summary>
    public KeyQueue? Queue;

    /// <summary>Number of the last limit of all clocks that was applied to this entry (<see cref="EntryTable.LimitClocks"/>).</summary>
    public byte Limited;

    /// <summary>It is on the list of keys to look at again.</summary>
    public bool Touched;

    /// <summary>It is on the list of keys with readers that wait.</summary>
    public bool Awaited;

    /// <summary>At a member without its state: the view (low half of its number) in which the entry is right, though its range has not arrived.</summary>
    public uint KnownIn { get; private set; }

    /// <summary>At a member without its state: the source has said that the key was absent when the view <see cref="KnownIn"/> began.</summary>
    public bool WasAbsent { get; private set; }

    /// <summary>Whether removing the entry loses nothing but its clock.</summary>
    public bool Idle => Value is null && Queue is null;

    /// <summary>The entry is right in a view from now on; <paramref name="wasAbsent"/>: the source has said that the key was absent when the view began.</summary>
    public void Know(uint view, bool wasAbsent = false)
    {
        WasAbsent = wasAbsent || (WasAbsent && KnownIn == view);
        KnownIn = view;
    }
}
