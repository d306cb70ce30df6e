namespace GroupCore.Membership;

/// <summary>A group from its creation to its end: the Oracle's number, and an incarnation, so that a group created again under its name is another group.</summary>
public readonly record struct GroupId(uint Number, uint Incarnation) : IComparable<GroupId>
{
    /// <summary>Orders by number, then incarnation.</summary>
    public int CompareTo(GroupId other) => Number != other.Number ? Number.CompareTo(other.Number) : Incarnation.CompareTo(other.Incarnation);

    /// <summary>Orders by number, then incarnation.</summary>
    public static bool operator <(GroupId left, GroupId right) => left.CompareTo(right) < 0;

    /// <summary>Orders by number, then incarnation.</summary>
    public static bool operator >(GroupId left, GroupId right) => left.CompareTo(right) > 0;

    /// <summary>Orders by number, then incarnation.</summary>
    public static bool operator <=(GroupId left, GroupId right) => left.CompareTo(right) <= 0;

    /// <summary>Orders by number, then incarnation.</summary>
    public static bool operator >=(GroupId left, GroupId right) => left.CompareTo(right) >= 0;

    /// <summary>Number and incarnation.</summary>
    public override string ToString() => $"g{Number}.{Incarnation}";
}
