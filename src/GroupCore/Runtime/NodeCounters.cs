namespace GroupCore.Runtime;

/// <summary>Counts of refused input by reason. Written by the loop only; readable from any thread.</summary>
public sealed class NodeCounters
{
    private readonly long[] _refused = new long[Enum.GetValues<RefusalReason>().Length];

    /// <summary>How much of it no node of this code sends, whenever it comes, and nobody answers for yet. Read by the loop only.</summary>
    internal long Malformed { get; private set; }

    /// <summary>Whether there is more of that now; whoever asks answers for it, and it counts for nobody else.</summary>
    internal bool TakeMalformed(long since)
    {
        bool some = Malformed != since;
        Malformed = since;
        return some;
    }

    private long _forbidden;

    /// <summary>Steps that a state machine of this library forbids and did not take: each is a defect.</summary>
    public long Forbidden => Volatile.Read(ref _forbidden);

    /// <summary>Whether a forbidden step throws: in tests.</summary>
    internal bool ThrowsForbidden { get; set; }

    /// <summary>Notes a forbidden step.</summary>
    internal void Forbid(string what)
    {
        if (ThrowsForbidden) throw new InvalidOperationException(what);
        Volatile.Write(ref _forbidden, _forbidden + 1);
    }

    /// <summary>Counts one refused input.</summary>
    public void Refuse(RefusalReason reason)
    {
        if (reason is RefusalReason.Framing or RefusalReason.Malformed or RefusalReason.UnknownType) Malformed++;
        ref long slot = ref _refused[(int)reason];
        Volatile.Write(ref slot, slot + 1);
    }

    /// <summary>How often input was refused for this reason.</summary>
    public long Refused(RefusalReason reason) => Volatile.Read(ref _refused[(int)reason]);
}
