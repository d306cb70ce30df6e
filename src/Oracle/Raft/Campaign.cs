namespace Oracle.Raft;

/// <summary>Collects votes, or answers to a pre-vote.</summary>
internal abstract class Campaign(ReplicatedLog log, bool pre) : Role(log)
{
    private readonly List<ulong> _granted = [];

    /// <summary>Asks all other voters; this replica grants its own vote at once, if it has one.</summary>
    protected void Ask(ulong term, bool transfer)
    {
        _granted.Clear();
        if (Log.IsVoter) _granted.Add(Log.Node.Id);
        Log.Arm(AskAgainAt());
        if (Decided()) return;
        var request = new VoteRequest(pre, term, Log.Entries.LastIndex, Log.Entries.LastTerm, transfer);
        foreach (var voter in Log.Entries.Configuration.Voters)
            if (voter.Node != Log.Node.Id) Log.Port.Send(voter, request);
    }

    public override void OnVoteReply(in Replica from, VoteReply reply)
    {
        if (reply.Pre != pre || !reply.Granted || reply.Term != Term || !Log.Entries.Configuration.IsVoter(from.Node)) return;
        if (!_granted.Contains(from.Node)) _granted.Add(from.Node);
        Decided();
    }

    /// <summary>When to go on if there is no majority by then.</summary>
    protected abstract long AskAgainAt();

    /// <summary>The term that a vote must be for.</summary>
    protected abstract ulong Term { get; }

    protected abstract void Won();

    private bool Decided()
    {
        if (_granted.Count < Log.Quorum) return false;
        Won();
        return true;
    }
}
