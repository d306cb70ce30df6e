namespace Ida.Testing.Checking;

/// <summary>What a history shows that must not happen. S numbers: dht-order.md#what-it-guarantees.</summary>
public enum AnomalyKind
{
    /// <summary>No serial order explains what was read and written, even without real time (S1, S3).</summary>
    NotSerializable,

    /// <summary>Serial orders exist, but each breaks real time: an operation returned before another was called and yet comes after it (S1).</summary>
    RealTimeViolation,

    /// <summary>An element is in a list more than once (S4).</summary>
    DuplicateElement,

    /// <summary>An acknowledged write, or a value that was read, is gone (S2).</summary>
    LostWrite,

    /// <summary>A multi-key write is in some of its keys only (S3).</summary>
    PartialWrite,

    /// <summary>A value was read whose writer failed for certain (S6).</summary>
    AbortedRead,

    /// <summary>A value was read that nobody wrote.</summary>
    UnwrittenValue,

    /// <summary>Two reads of a list are not a prefix of one another (S1, S5).</summary>
    IncompatibleOrder,

    /// <summary>Version numbers do not rise with the order of writes, or one value has two of them.</summary>
    VersionOrder,

    /// <summary>Final states of replicas differ (S5).</summary>
    Divergence,

    /// <summary>Two operations wrote the same value to a key: the workload is at fault, nothing can be concluded about the key.</summary>
    AmbiguousWriter,

    /// <summary>A key is appended to by some operations and overwritten by others: the workload is at fault, nothing can be concluded about the key.</summary>
    MixedKey,
}
