namespace Ida.Ordering;

/// <summary>Phase of an attempt at a participant. <see cref="RecordPhases"/> says which phase may follow which.</summary>
internal enum RecordPhase : byte
{
    /// <summary>In the pool, or being filled.</summary>
    Free,

    /// <summary>In the table and the queues of its keys, at the time proposed here.</summary>
    Proposed,

    /// <summary>All participants have proposed: it has its time.</summary>
    Committed,

    /// <summary>Committed and known to be stable; not executed here yet.</summary>
    Stable,

    /// <summary>Committed and executed here; not known to be stable.</summary>
    Executed,

    /// <summary>Executed and stable: out of the queues. A put stays in the table until it is settled.</summary>
    Finished,

    /// <summary>Out of the table too, at a member that waits for its state: some uses still wait for a value.</summary>
    Late,
}
