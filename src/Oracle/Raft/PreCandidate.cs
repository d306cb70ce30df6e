namespace Oracle.Raft;

/// <summary>Asks whether a majority would vote for this replica, without starting a term. So a replica that was cut off deposes no leader.</summary>
internal sealed class PreCandidate(ReplicatedLog log) : Campaign(log, pre: true)
{
    protected override ulong Term => Log.Term + 1;

    /// <summary>Asks again soon: the question changes nothing, and voters learn of a leader's death at slightly different times.</summary>
    protected override long AskAgainAt() => Log.Node.Now + Log.Node.Random.Next(Log.ElectionTimeout / 8, Log.ElectionTimeout / 4);

    public override void Enter() => Ask(Term, transfer: false);

    public override void OnTimer()
    {
        if (Log.MayCampaign) Log.Become(new PreCandidate(Log));
        else Log.Become(new Follower(Log));
    }

    protected override void Won() => Log.Become(new Candidate(Log, transfer: false));
}
