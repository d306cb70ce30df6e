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

    /// <summary>The logical put is over: executed in an earlier view, or in this one and everywhere. Or the attempt has been committed meanwhile and is not aborted.</summary>
    Executed = 8,

    Rejected = 16,
    NotHeld = 32,

    /// <summary>The participant gave the result of an Ordered read.</summary>
    Result = 64,

    AbortAcked = 128,

    /// <summary>The values that count and that the participant read are more than a frame takes.</summary>
    TooLarge = 256,

    /// <summary>The participant has nothing more to say before others act.</summary>
    Answered = Quiescent | Executed | Rejected | NotHeld | Result,
}
