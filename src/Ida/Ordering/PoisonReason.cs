namespace Ida.Ordering;

/// <summary>Why a participant will never hold an attempt. Where several say why, the last of these counts.</summary>
internal enum PoisonReason : byte
{
    /// <summary>A takeover made it refuse.</summary>
    Poisoned,

    /// <summary>A bound on its queues was reached.</summary>
    Overloaded,

    /// <summary>It has no state to read from, or cannot tell yet how another attempt ends.</summary>
    NotFull,

    /// <summary>Another put, with other pairs, waits under the id of this one.</summary>
    OtherPairs,

    /// <summary>Another put, with other pairs, was executed under the id of this one.</summary>
    Taken,

    /// <summary>By the user's hash, as it is there, a key does not lie there; or the hash throws there.</summary>
    Misplaced,

    /// <summary>Its time would be hours ahead of the clocks of most members.</summary>
    ClockAhead,

    /// <summary>It does not know the session any more, or was told that the outcome is known.</summary>
    Expired,
}
