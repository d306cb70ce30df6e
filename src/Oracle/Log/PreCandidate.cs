namespace Oracle.Log;

/// <summary>Asks whether a majority would vote for it, without starting a term: a replica that was cut off disturbs nobody.</summary>
internal sealed class PreCandidate(ReplicatedLog log) : Campaign(log, pre: true)
{
    protected override ulong Term => Log.Term + 1;

    public override void Enter() => Ask(Term, transfer: false);

    public override void OnTimer()
    {
        if (Log.IsVoter) Log.Become(new PreCandidate(Log));
        else Log.Become(new Follower(Log));
    }

    protected override void Won() => Log.Become(new Candidate(Log, transfer: false));
}
