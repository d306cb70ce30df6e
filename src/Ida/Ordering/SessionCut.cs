namespace Ida.Ordering;

/// <summary>
/// A session as it was at a view boundary, while its owner goes on: what is recorded since carries the new view and is read over, and what
/// is acknowledged meanwhile is kept here. Outcomes never change otherwise, so nothing is copied before that.
/// </summary>
internal sealed class SessionCut(Session session, ulong view)
{
    // Acknowledgements take the lowest first, so these ascend and all of them are below those that are left.
    private readonly List<Outcome> _kept = [];

    public UInt128 Id => session.Id;

    public ulong AckedBelow { get; } = session.AckedBelow;

    public ulong LostIn { get; } = session.LostIn;

    /// <summary>How many outcomes it has.</summary>
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
