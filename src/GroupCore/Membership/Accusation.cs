namespace GroupCore.Membership;

/// <summary>Evidence against a process. Source: failure-detection.md#proof-of-death.</summary>
public enum Accusation
{
    /// <summary>Probes and indirect probes went unanswered.</summary>
    Timeout,

    /// <summary>Its host answered that nobody listens at its address.</summary>
    Refused,

    /// <summary>Another node answers at its address.</summary>
    Replaced,

    /// <summary>On the same host, its process is gone.</summary>
    ProcessGone,

    /// <summary>
    /// A view change waits for it, and it is silent: no frame of its says why. Evidence about the process or the way to it, never about handlers
    /// or hooks that take their time: who says that they do is not accused.
    /// </summary>
    FlushStall,

    /// <summary>Its handlers hold up its group, longer than a group with <see cref="SlowMember.Evict"/> allows. Only such groups say so.</summary>
    Slow,
}
