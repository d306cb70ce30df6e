namespace Ida.Chaos;

/// <summary>What is done to the processes.</summary>
internal enum FaultKind
{
    /// <summary>SIGKILL; a new process takes the place a moment later.</summary>
    Kill,

    /// <summary>SIGSTOP, and SIGCONT up to 8 s later: the process may have been excluded meanwhile.</summary>
    Stop,

    /// <summary>No bytes between one member and all others, or one other, for up to 8 s; connections stay open.</summary>
    Cut,

    /// <summary>One more process.</summary>
    Join,

    /// <summary>A process leaves as it should, and ends.</summary>
    Leave,

    /// <summary>A stop or a cut too short for anybody to notice, when all has been well for seconds. Made as a kind of its own only if <c>--faults</c> names it.</summary>
    Blink,
}
