namespace Ida.Ordering;

/// <summary>What coordinators were told of an attempt's place behind others at a participant.</summary>
internal enum ClearPhase : byte
{
    /// <summary>Nothing, or only for a time that it did not get.</summary>
    Untold,

    /// <summary>With the proposal: nothing that counts stands before it at the proposed time.</summary>
    AtProposal,

    /// <summary>An Ordered read was executed, behind puts that are not stable.</summary>
    Early,

    /// <summary>It was executed, and all before it is stable.</summary>
    Clear,
}
