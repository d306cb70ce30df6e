namespace Ida.Ordering;

/// <summary>What a participant has told the coordinators: whether conflicting operations still stand before an attempt there.</summary>
internal enum QuiescencePhase : byte
{
    /// <summary>Nothing, or only something that held for a time which the attempt did not get.</summary>
    Untold,

    /// <summary>With the proposal: no conflicting operation stands before the attempt at the proposed time.</summary>
    AtProposal,

    /// <summary>An Ordered read was executed, but puts before it are not stable.</summary>
    Early,

    /// <summary>The attempt was executed, and all conflicting operations before it are stable.</summary>
    Quiescent,
}
