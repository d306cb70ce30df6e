namespace Ida.Ordering;

/// <summary>
/// A session as it was at a view change, while its owner goes on. An outcome recorded since carries the new view and is skipped; an outcome
/// acknowledged since is kept here. Outcomes do not change otherwise, so nothing is copied before that.
/// </summary>
internal sealed class SessionCut(Session session, ulong view)
{
    // Acknowledgements take the lowest outcomes first: so these ascend, and all are below those left in the session.
    private readonly List<Outcome> _kept = [];

    public UInt128 Id => session.Id;

    public ulong AckedBelow { get; } = session.AckedBelow;

    public ulong LostIn { get; } = session.LostIn;

    /// <summary>Number of its outcomes.</summary>
    public int Count { get; } = session.OutcomeCount;

    /// <summary>An outcome is about to be forgotten.</summary>
    public void Keep(in Outcome outcome)
    {
        if (outcome.View < view) _kept.Add(outcome);
    }

    /// <summary>The first outcome with this number or a higher one.</summary>
    public bool TryNext(ulong sequence, out Outcome outcome)
    {
        int low = 0, high = _kept.Count;
        while (low < high)
        {
            int middle = (low + high) >>> 1;
            if (_kept[middle].Sequence < sequence) low = middle + 1;
            else high = middle;
        }
        if (low == _kept.Count) return session.TryNext(sequence, view, out outcome);
        outcome = _kept[low];
        return true;
    }
}
