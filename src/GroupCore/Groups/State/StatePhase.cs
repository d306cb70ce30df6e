namespace GroupCore.Groups.State;

/// <summary>How far the giver of a checkpoint is; on the wire.</summary>
internal enum StatePhase : byte
{
    /// <summary>Its handlers have not reached the view event.</summary>
    Queued = 0,

    /// <summary>User code saves it, or an earlier checkpoint.</summary>
    Saving = 1,

    /// <summary>It is on its way.</summary>
    Sending = 2,

    /// <summary>It cannot be saved.</summary>
    Failed = 3,
}
