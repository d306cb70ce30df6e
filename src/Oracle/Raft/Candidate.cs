namespace Oracle.Raft;

/// <summary>Starts a new term and asks for votes in it.</summary>
internal sealed class Candidate(ReplicatedLog log, bool transfer) : Campaign(log, pre: false)
{
    protected override ulong Term => Log.Term;

    public override void Enter()
    {
        Log.NextTerm();
        Ask(Log.Term, transfer);
    }

    protected override long AskAgainAt() => ElectionDue();

    public override void OnTimer() => Log.Become(new PreCandidate(Log));

    protected override void Won() => Log.Become(new Leader(Log));
}
