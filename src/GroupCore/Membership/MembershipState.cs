namespace GroupCore.Membership;

/// <summary>Where a process stands with the primary partition.</summary>
public enum MembershipState
{
    /// <summary>Not registered yet.</summary>
    Starting,

    /// <summary>Registered and in contact with the Oracle.</summary>
    Active,

    /// <summary>Without contact with the Oracle for the isolation time-out: nothing is sent, strict reads wait.</summary>
    Blocked,

    /// <summary>Excluded, blocked for too long, or gone of its own will: all groups of this life are over.</summary>
    Excluded,

    /// <summary>Its node was stopped.</summary>
    Stopped,

    /// <summary>Its node was ended by a fault: its protocols, or user code that they called, threw.</summary>
    Faulted,
}
