namespace Ida.Ordering;

/// <summary>All sessions of a slice as they were when a view was installed. Taking the cut costs one object per session, whatever the session remembers.</summary>
internal sealed class SessionTableCut
{
    private readonly List<(Session Session, SessionCut Cut)> _all = [];

    /// <param name="sessions">The sessions.</param>
    /// <param name="view">The installed view: outcomes that carry it do not belong to the cut.</param>
    public SessionTableCut(SessionTable sessions, ulong view)
    {
        foreach (var session in sessions.All) _all.Add((session, session.Cut = new(session, view)));
    }

    public int Count => _all.Count;

    public SessionCut this[int index] => _all[index].Cut;

    /// <summary>Ends the cut: no newcomer needs it any more.</summary>
    public void End()
    {
        foreach (var (session, cut) in _all)
            if (session.Cut == cut) session.Cut = null;
        _all.Clear();
    }
}
