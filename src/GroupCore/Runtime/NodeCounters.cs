namespace GroupCore.Runtime;

/// <summary>Counts of refused input by reason. Written by the loop only; readable from any thread.</summary>
public sealed class NodeCounters
{
    private readonly long[] _refused = new long[Enum.GetValues<RefusalReason>().Length];

    internal NodeCounters()
    {
    }

    /// <summary>Refused input that no node of this code ever sends (framing, body, unknown type, not its to send) and for which no peer was blamed yet. Read by the loop only.</summary>
    internal long Offences { get; private set; }

    /// <summary>Whether <see cref="Offences"/> has grown from <paramref name="since"/>; sets it back, so that nobody but the caller blames a peer for it.</summary>
    internal bool TakeOffences(long since)
    {
        bool some = Offences != since;
        Offences = since;
        return some;
    }

    private long _forbidden;

    /// <summary>Steps that a state machine of this library forbids and did not take: each is a defect.</summary>
    public long Forbidden => Volatile.Read(ref _forbidden);

    /// <summary>Whether a forbidden step throws; true in tests.</summary>
    internal bool ThrowsForbidden { get; set; }

    /// <summary>Counts a forbidden step, which is not taken; in tests it throws.</summary>
    internal void Forbid(string what)
    {
        if (ThrowsForbidden) throw new InvalidOperationException(what);
        Volatile.Write(ref _forbidden, _forbidden + 1);
    }

    /// <summary>Counts one refused input.</summary>
    internal void Refuse(RefusalReason reason)
    {
        if (reason is RefusalReason.Framing or RefusalReason.Malformed or RefusalReason.UnknownType or RefusalReason.NotEntitled) Offences++;
        ref long slot = ref _refused[(int)reason];
        Volatile.Write(ref slot, slot + 1);
    }

    /// <summary>How often input was refused for this reason.</summary>
    public long Refused(RefusalReason reason) => Volatile.Read(ref _refused[(int)reason]);
}
