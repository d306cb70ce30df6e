namespace Ida.Coordination;

/// <summary>What a coordinator knows of one participant.</summary>
[Flags]
internal enum SlotFlags : ushort
{
    None = 0,
    Proposed = 1,

    /// <summary>The participant was quiescent at its proposal.</summary>
    QuiescentAtProposal = 2,

    /// <summary>The participant has executed it, and all before it is stable.</summary>
    Quiescent = 4,

    /// <summary>The logical put is over: executed in an earlier view, or in this one and everywhere. Or the attempt was committed meanwhile, so it cannot be aborted.</summary>
    Executed = 8,

    Rejected = 16,
    NotHeld = 32,

    /// <summary>The participant gave a result; an Ordered read ends when all have.</summary>
    Result = 64,

    AbortAcked = 128,

    /// <summary>The values that the participant read last, which count, are more than a frame takes.</summary>
    TooLarge = 256,

    /// <summary>With any of these, errors and <c>Describe</c> do not count the participant as waited for.</summary>
    Answered = Quiescent | Executed | Rejected | NotHeld | Result,
}
