namespace Ida.Shared;

/// <summary>One attempt at a logical operation: the unit that is proposed, committed or rejected. It breaks ties of time.</summary>
/// <param name="Id">The logical operation.</param>
/// <param name="Attempt">Its number among the attempts of the issuing member.</param>
/// <param name="Payload">
/// 0 for an attempt of the call that was given the id; for a call that names the id, at whichever member, the <see cref="PutPayload"/>. Several
/// members may issue attempts under one id, each with its own numbers. Those with the same pairs in the same shards may then be one attempt; others
/// are never one, since it would have two sets of participants. Source: dht-order.md#attempts-of-different-issuers.
/// </param>
internal readonly record struct AttemptId(OperationId Id, uint Attempt, ulong Payload = 0) : IComparable<AttemptId>
{
    public int CompareTo(AttemptId other) => Id != other.Id ? Id.CompareTo(other.Id)
        : Attempt != other.Attempt ? Attempt.CompareTo(other.Attempt) : Payload.CompareTo(other.Payload);

    public static bool operator <(in AttemptId left, in AttemptId right) => left.CompareTo(right) < 0;

    public static bool operator >(in AttemptId left, in AttemptId right) => left.CompareTo(right) > 0;

    public static bool operator <=(in AttemptId left, in AttemptId right) => left.CompareTo(right) <= 0;

    public static bool operator >=(in AttemptId left, in AttemptId right) => left.CompareTo(right) >= 0;

    public override string ToString() => $"{Id}.{Attempt}";
}
