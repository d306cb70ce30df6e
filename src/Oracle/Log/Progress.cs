namespace Oracle.Log;

/// <summary>How far a leader knows one other replica to be.</summary>
internal sealed class Progress(Replica replica, ulong next, long now)
{
    public Replica Replica { get; } = replica;

    /// <summary>Next entry to send.</summary>
    public ulong Next { get; set; } = next;

    /// <summary>Last entry known to be there.</summary>
    public ulong Match { get; set; }

    /// <summary>Last read round it answered.</summary>
    public ulong Read { get; set; }

    /// <summary>When it answered last; of one that has not answered yet, when this leader began to count on it.</summary>
    public long LastAck { get; private set; } = now;

    /// <summary>Whether it has answered this leader.</summary>
    public bool HasAnswered { get; private set; }

    /// <summary>The saved state that is on its way to it; null when none is.</summary>
    public SnapshotTransfer? Snapshot { get; set; }

    /// <summary>Not 0: no longer in the configuration, and gets entries only until then, to learn of it.</summary>
    public long RemovedUntil { get; set; }

    public ulong SentRead { get; set; }

    public ulong SentCommit { get; set; }

    public void Answered(long now) => (LastAck, HasAnswered) = (now, true);
}
