namespace Oracle;

/// <summary>Looks at the process table of this host: a process that is gone from it is proved dead (failure-detection.md#proof-of-death).</summary>
public interface IProcessProbe
{
    /// <summary>
    /// Whether the process with this number that started at <paramref name="start"/> has ended. False when that cannot be told; true only when
    /// it is certain, since views are then installed without waiting for the process's lease.
    /// </summary>
    bool IsGone(int processNumber, long start);
}
