namespace GroupCore.Runtime;

/// <summary>Counts of refused input by reason. Written by the loop only; readable from any thread.</summary>
public sealed class NodeCounters
{
    private readonly long[] _refused = new long[Enum.GetValues<RefusalReason>().Length];

    /// <summary>Counts one refused input.</summary>
    public void Refuse(RefusalReason reason)
    {
        ref long slot = ref _refused[(int)reason];
        Volatile.Write(ref slot, slot + 1);
    }

    /// <summary>How often input was refused for this reason.</summary>
    public long Refused(RefusalReason reason) => Volatile.Read(ref _refused[(int)reason]);
}
