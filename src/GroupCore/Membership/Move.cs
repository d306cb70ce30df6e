namespace GroupCore.Membership;

/// <summary>A survivor whose rank changed from one view to the next.</summary>
public readonly record struct Move(ProcessId Member, int OldRank, int NewRank);
