namespace Ida.Ordering;

/// <summary>Where an attempt is at a participant. What each phase may lead to is in <see cref="RecordPhases"/>.</summary>
internal enum RecordPhase : byte
{
    /// <summary>In the pool, or being filled.</summary>
    Free,

    /// <summary>In the table and the queues of its keys, at the time proposed here.</summary>
    Proposed,

    /// <summary>All participants have proposed: it has its time.</summary>
    Committed,

    /// <summary>Committed and known to be stable; it has not had its turn here.</summary>
    Stable,

    /// <summary>Committed, and had its turn here; not known to be stable.</summary>
    Executed,

    /// <summary>Executed and stable: out of the queues. A put stays in the table until it is settled.</summary>
    Finished,

    /// <summary>Out of the table too; at a member that waits for its state some uses wait for a value.</summary>
    Late,
}
