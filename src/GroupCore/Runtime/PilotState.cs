namespace GroupCore.Runtime;

/// <summary>What the pilot of a loop does.</summary>
internal enum PilotState
{
    /// <summary>A turn: nobody else may run the node.</summary>
    Turning,

    /// <summary>It looks around for work: it takes the node back in a moment.</summary>
    Looking,

    /// <summary>It sleeps until a socket, a timer or a caller wakes it.</summary>
    Asleep,

    /// <summary>It runs completions: user code, which may take any time.</summary>
    Away,
}
