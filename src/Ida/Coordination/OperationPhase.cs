namespace Ida.Coordination;

/// <summary>Phase of a caller's operation, which stands in one place at a time. <see cref="OperationPhases"/> says which phase may follow which.</summary>
internal enum OperationPhase : byte
{
    /// <summary>In its pool.</summary>
    Free,

    /// <summary>A caller writes keys and values into it.</summary>
    Building,

    /// <summary>In the node's queue of commands, or about to be.</summary>
    Queued,

    /// <summary>At the coordinator, waiting for a place in flight.</summary>
    Waiting,

    /// <summary>A retry of an operation that is under way here: it ends when that operation ends.</summary>
    Following,

    /// <summary>Has a place in flight; no message that may lead to its execution was sent.</summary>
    Admitted,

    /// <summary>A message that may lead to its execution was sent.</summary>
    Sent,

    /// <summary>The caller was answered; the operation goes on without it.</summary>
    Detached,

    /// <summary>The protocol has finished with it.</summary>
    Finished,
}
