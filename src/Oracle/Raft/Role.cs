namespace Oracle.Raft;

/// <summary>The current role of a replica. A role begins with <see cref="Enter"/> and ends when another one enters.</summary>
internal abstract class Role(ReplicatedLog log)
{
    protected ReplicatedLog Log { get; } = log;

    public abstract void Enter();

    public abstract void OnTimer();

    public virtual void OnVoteReply(in Replica from, VoteReply reply)
    {
    }

    public virtual void OnAppendReply(in Replica from, AppendReply reply)
    {
    }

    public virtual void OnSnapshotAck(in Replica from, SnapshotAck ack)
    {
    }

    public virtual void EndOfTurn()
    {
    }

    /// <summary>A random time from one to two election time-outs from now.</summary>
    protected long ElectionDue() => Log.Node.Now + Log.Node.Random.Next(Log.ElectionTimeout, 2 * Log.ElectionTimeout);
}
