namespace Ida.Ordering;

/// <summary>What the results in the uses of an attempt stand for at a participant.</summary>
internal enum ResultPhase : byte
{
    /// <summary>No result: not computed, computed for a time that the attempt did not get, or forgotten by all.</summary>
    None,

    /// <summary>Computed at the proposal; holds if the time stays.</summary>
    Ahead,

    /// <summary>The result of executing or reading at the attempt's turn.</summary>
    Executed,
}
