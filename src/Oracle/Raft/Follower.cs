namespace Oracle.Raft;

/// <summary>Takes entries from the leader. A voter that hears nothing for an election time-out asks whether it would be elected.</summary>
internal sealed class Follower(ReplicatedLog log) : Role(log)
{
    private const long HurryWithin = 30 * Durations.Millisecond;
    private long _due;

    public override void Enter()
    {
        _due = ElectionDue();
        Log.Arm(_due);
    }

    /// <summary>This replica heard the leader, or gave a candidate its vote. The timer is moved only when it fires.</summary>
    public void Heard() => _due = ElectionDue();

    /// <summary>The leader is known to be gone: asks for votes soon. A random wait keeps the voters from splitting their votes.</summary>
    public void Hurry()
    {
        _due = Log.Node.Now + Log.Node.Random.Next(0, HurryWithin);
        Log.Arm(_due);
    }

    public override void OnTimer()
    {
        if (Log.Node.Now < _due) Log.Arm(_due);
        else if (Log.MayCampaign) Log.Become(new PreCandidate(Log));
        else Enter();
    }
}
