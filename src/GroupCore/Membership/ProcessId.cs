namespace GroupCore.Membership;

/// <summary>
/// A process for the length of one membership: the node's random id and the incarnation that the Oracle gave it at registration (an index of
/// its log, so a later registration compares higher; 0 before registration). Source: views-and-flush.md#names-are-not-used-again.
/// </summary>
public readonly record struct ProcessId(ulong Node, ulong Incarnation) : IComparable<ProcessId>
{
    /// <summary>Orders by incarnation, then node id.</summary>
    public int CompareTo(ProcessId other) => Incarnation != other.Incarnation ? Incarnation.CompareTo(other.Incarnation) : Node.CompareTo(other.Node);

    /// <summary>Orders by incarnation, then node id.</summary>
    public static bool operator <(ProcessId left, ProcessId right) => left.CompareTo(right) < 0;

    /// <summary>Orders by incarnation, then node id.</summary>
    public static bool operator >(ProcessId left, ProcessId right) => left.CompareTo(right) > 0;

    /// <summary>Orders by incarnation, then node id.</summary>
    public static bool operator <=(ProcessId left, ProcessId right) => left.CompareTo(right) <= 0;

    /// <summary>Orders by incarnation, then node id.</summary>
    public static bool operator >=(ProcessId left, ProcessId right) => left.CompareTo(right) >= 0;

    /// <summary>Incarnation and the short form of the node id.</summary>
    public override string ToString() => $"{Incarnation}:{(ushort)Node:x4}";
}
