namespace GroupCore.Membership;

/// <summary>On what evidence a process is suspected. Source: failure-detection.md#proof-of-death.</summary>
internal enum Suspicion
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
    /// A view change waits for it, and it is silent: none of its frames says why (or it broke the order, or a link to it lost messages). This is evidence about
    /// the process or the network path to it, never about slow handlers or hooks: a member that reports those is not suspected of this.
    /// </summary>
    FlushStall,

    /// <summary>Its handlers hold its group up for longer than the group allows. Only in groups with <see cref="SlowMember.Evict"/>.</summary>
    Slow,
}
