namespace Ida.Testing;

/// <summary>How often threads of a simulation did what only some of its options let them do.</summary>
internal sealed class ThreadTally
{
    /// <summary>Turns that callers ran.</summary>
    public long BorrowedTurns { get; set; }

    /// <summary>Completions that began later than their turn ended.</summary>
    public long LateCompletions { get; set; }
}
