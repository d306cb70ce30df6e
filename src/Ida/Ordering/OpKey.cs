namespace Ida.Ordering;

/// <summary>One attempt at a logical operation: the unit that is proposed, committed or poisoned. Ties of time are broken by it.</summary>
internal readonly record struct OpKey(OpId Id, uint Attempt) : IComparable<OpKey>
{
    public int CompareTo(OpKey other) => Id != other.Id ? Id.CompareTo(other.Id) : Attempt.CompareTo(other.Attempt);

    public static bool operator <(in OpKey left, in OpKey right) => left.CompareTo(right) < 0;

    public static bool operator >(in OpKey left, in OpKey right) => left.CompareTo(right) > 0;

    public static bool operator <=(in OpKey left, in OpKey right) => left.CompareTo(right) <= 0;

    public static bool operator >=(in OpKey left, in OpKey right) => left.CompareTo(right) >= 0;

    public override string ToString() => $"{Id}.{Attempt}";
}
