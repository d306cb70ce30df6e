namespace Ida.Ordering;

/// <summary>Why a participant will never hold an attempt. Where several participants give reasons, the last of this list counts. The numbers are on the wire.</summary>
internal enum RejectReason : byte
{
    /// <summary>The participant was made to reject the attempt, mostly by a takeover.</summary>
    Rejected,

    /// <summary>A bound on the participant's queues was reached.</summary>
    Overloaded,

    /// <summary>The participant remembers as much of the outcomes of the member's puts as it may: the member may let some go.</summary>
    OutcomesFull,

    /// <summary>The participant has no state to read from, or cannot tell yet how another attempt ends.</summary>
    NotInitialised,

    /// <summary>A retry with other pairs waits under the id of this one; it is not known to which of the two the id was given.</summary>
    OtherPairs,

    /// <summary>Another put, with other pairs, was executed under the id of this one, or was given the id and waits.</summary>
    Taken,

    /// <summary>By the participant's version of the user's hash, a key does not belong to its shard; or the hash throws there.</summary>
    Misplaced,

    /// <summary>The attempt's time would be more than an hour ahead of the clocks of most members.</summary>
    ClockAhead,

    /// <summary>The participant does not know the session any more, or was told that the outcome is known.</summary>
    Expired,
}
