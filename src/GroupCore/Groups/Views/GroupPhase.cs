namespace GroupCore.Groups.Views;

/// <summary>The phase of this process's membership in one group; <see cref="GroupLife"/> says which may follow which.</summary>
internal enum GroupPhase
{
    /// <summary>Asked to join; in no view yet.</summary>
    Joining,

    /// <summary>The join was given up before there was a view: this process leaves as soon as there is one.</summary>
    Abandoned,

    /// <summary>In a view, without the group's state.</summary>
    Loading,

    /// <summary>A member with the group's state.</summary>
    Member,

    /// <summary>A member that was asked to leave: first it sends what its callers gave it, and lets its layer hand over.</summary>
    HandingOver,

    /// <summary>A member whose leave is announced.</summary>
    Leaving,

    /// <summary>Over for callers and handlers; it takes part in the flush until a view without it is installed.</summary>
    Withdrawn,

    /// <summary>Out of the group.</summary>
    Over,
}
