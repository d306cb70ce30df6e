namespace Ida.Coordination;

/// <summary>Where a caller's operation is. It stands in one place at a time: what each phase may lead to is in <see cref="OpPhases"/>.</summary>
internal enum OpPhase : byte
{
    /// <summary>In its pool.</summary>
    Free,

    /// <summary>A caller writes keys and values into it.</summary>
    Building,

    /// <summary>In the node's queue of commands, or about to be.</summary>
    Queued,

    /// <summary>At the coordinator, waiting for a place in flight.</summary>
    Waiting,

    /// <summary>A retry of an operation that is under way here: it ends with that one.</summary>
    Following,

    /// <summary>Has a place in flight; nothing that may lead to its execution has left.</summary>
    Admitted,

    /// <summary>A message that may lead to its execution has left.</summary>
    Sent,

    /// <summary>The caller was answered; the operation goes on without it.</summary>
    Detached,

    /// <summary>The protocol is through with it.</summary>
    Finished,
}
