namespace Oracle.Raft;

/// <summary>What a leader knows of one other replica.</summary>
internal sealed class Progress(Replica replica, ulong next, long now)
{
    public Replica Replica { get; } = replica;

    /// <summary>Next entry to send.</summary>
    public ulong Next { get; set; } = next;

    /// <summary>Last entry that the replica is known to have.</summary>
    public ulong Match { get; set; }

    /// <summary>Last read round that the replica answered.</summary>
    public ulong Read { get; set; }

    /// <summary>When the replica last answered; if it has not answered yet, when this leader began to count on it.</summary>
    public long LastAck { get; private set; } = now;

    /// <summary>Whether it has answered this leader.</summary>
    public bool HasAnswered { get; private set; }

    /// <summary>The saved state on its way to the replica; null when none is.</summary>
    public SnapshotTransfer? Snapshot { get; set; }

    /// <summary>If not 0: the replica is no longer in the configuration, and gets entries only until this time, so that it learns of its removal.</summary>
    public long RemovedUntil { get; set; }

    public ulong SentRead { get; set; }

    public ulong SentCommit { get; set; }

    public void Answered(long now) => (LastAck, HasAnswered) = (now, true);
}
