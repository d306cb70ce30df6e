namespace Oracle.Frames;

/// <summary>How a request was answered. The numbers are on the wire.</summary>
internal enum ResponseStatus
{
    Applied = 0,

    /// <summary>Ask the leader that the answer names, or another replica when it names none.</summary>
    NotLeader = 1,
}
