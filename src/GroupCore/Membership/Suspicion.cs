namespace GroupCore.Membership;

/// <summary>On what evidence a process is suspected. Source: failure-detection.md#proof-of-death.</summary>
public enum Suspicion
{
    /// <summary>Probes and indirect probes went unanswered.</summary>
    Timeout,

    /// <summary>Its host refused a connection: no process listens at its address.</summary>
    Refused,

    /// <summary>Another node answers at its address.</summary>
    Replaced,

    /// <summary>It ran on the same host, and its process is gone.</summary>
    ProcessGone,

    /// <summary>
    /// A view change waits for it, and it is silent: no frame of its own says why (or it broke the order, or a link to it lost messages). This is evidence about
    /// the process or the way to it, never about handlers or hooks that take their time: a member that says that they do is not suspected of this.
    /// </summary>
    FlushStall,

    /// <summary>Its handlers hold its group up for longer than the group allows. Only in groups with <see cref="SlowMember.Evict"/>.</summary>
    Slow,
}
