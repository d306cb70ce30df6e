namespace Ida;

/// <summary>Names one logical put for ever: the session of the member that issued it and a number in that session.</summary>
public readonly record struct OperationId(UInt128 Session, ulong Sequence) : IComparable<OperationId>
{
    /// <summary>Orders by session, then number.</summary>
    public int CompareTo(OperationId other) => Session != other.Session ? Session.CompareTo(other.Session) : Sequence.CompareTo(other.Sequence);

    /// <summary>Orders by session, then number.</summary>
    public static bool operator <(OperationId left, OperationId right) => left.CompareTo(right) < 0;

    /// <summary>Orders by session, then number.</summary>
    public static bool operator >(OperationId left, OperationId right) => left.CompareTo(right) > 0;

    /// <summary>Orders by session, then number.</summary>
    public static bool operator <=(OperationId left, OperationId right) => left.CompareTo(right) <= 0;

    /// <summary>Orders by session, then number.</summary>
    public static bool operator >=(OperationId left, OperationId right) => left.CompareTo(right) >= 0;

    /// <summary>Short form of the session, and the number.</summary>
    public override string ToString() => $"{(uint)Session:x8}/{Sequence}";
}
