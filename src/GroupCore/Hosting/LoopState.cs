namespace GroupCore.Hosting;

/// <summary>What the owner of the loop, one of its two threads, does.</summary>
internal enum LoopState
{
    /// <summary>It runs a turn: no other thread may.</summary>
    Turning,

    /// <summary>It looks for work again, and takes the loop back in a moment.</summary>
    Looking,

    /// <summary>It sleeps until a socket, a timer or a caller wakes it.</summary>
    Asleep,

    /// <summary>It runs completions: user code, which may take any time.</summary>
    RunningCompletions,
}
