namespace GroupCore.Membership;

/// <summary>Evidence against a process. Source: groupcore-oracle 8.2.</summary>
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

    /// <summary>It holds up a view change.</summary>
    FlushStall,

    /// <summary>It holds up senders.</summary>
    Slow,
}
