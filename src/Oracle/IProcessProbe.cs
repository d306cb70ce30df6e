namespace Oracle;

/// <summary>Looks at the process table of the own host: a process that is gone from it is proved dead (failure-detection.md#proof-of-death).</summary>
public interface IProcessProbe
{
    /// <summary>
    /// Whether the process of this number that started at <paramref name="start"/> has ended. False when that cannot be told; true only when
    /// it is certain, since views are installed on the strength of it without waiting for leases.
    /// </summary>
    bool IsGone(int processNumber, long start);
}
