namespace Ida.Coordination;

/// <summary>What a coordinator knows of one participant.</summary>
[Flags]
internal enum SlotFlags : ushort
{
    None = 0,
    Proposed = 1,

    /// <summary>Clear at its proposal.</summary>
    Clear = 2,

    /// <summary>Executed, and all before it stable.</summary>
    Cleared = 4,

    /// <summary>The logical put is over: executed in an earlier view, or in this one and everywhere. Or the attempt has been committed meanwhile and is not aborted.</summary>
    Done = 8,

    Poisoned = 16,
    NotHeld = 32,

    /// <summary>Gave the result of an Ordered read.</summary>
    Result = 64,

    AbortAcked = 128,

    /// <summary>What it read is more than a frame takes: of the result that counts.</summary>
    TooLarge = 256,
}
