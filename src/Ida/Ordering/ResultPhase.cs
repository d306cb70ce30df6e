namespace Ida.Ordering;

/// <summary>What the uses of an attempt say at a participant.</summary>
internal enum ResultPhase : byte
{
    /// <summary>No result: not computed, for a time that it did not get, or forgotten by all.</summary>
    None,

    /// <summary>Computed at the proposal; it holds if the time stays.</summary>
    Ahead,

    /// <summary>What was done or read at its turn.</summary>
    Done,
}
