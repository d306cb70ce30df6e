namespace Ida.Ordering;

/// <summary>
/// Sessions known to a slice: those of all members, and the last <see cref="KeptLost"/> of members that are gone, so that a put whose
/// outcome is unknown can be resolved by another member. The list is the same at all replicas: it follows from views.
/// </summary>
internal sealed class SessionTable
{
    public const int KeptLost = 256;
    private readonly Dictionary<UInt128, Session> _byId = [];
    private readonly List<Session> _all = [];

    /// <summary>All sessions, in the order of becoming known.</summary>
    public IReadOnlyList<Session> All => _all;

    public Session? Find(UInt128 id) => _byId.GetValueOrDefault(id);

    public Session GetOrAdd(UInt128 id)
    {
        if (_byId.TryGetValue(id, out var known)) return known;
        var session = new Session(id);
        _byId.Add(id, session);
        _all.Add(session);
        return session;
    }

    /// <summary>
    /// At an install: adds the members' sessions, and forgets the oldest of those whose owners are gone, and those that were only asked for
    /// while the state was on its way: where replicas know one, it comes with the state.
    /// </summary>
    public void Update(IReadOnlyList<UInt128> members, ulong view)
    {
        foreach (var session in _all)
        {
            session.ForgetPoison();
            if (session.LostIn == 0) session.LostIn = view;
        }
        foreach (var id in members) GetOrAdd(id).LostIn = 0;
        foreach (var session in _all)
            if (session.LostIn == Session.NotHeard) _byId.Remove(session.Id);
        if (_byId.Count < _all.Count) _all.RemoveAll(session => !_byId.ContainsKey(session.Id));
        var lost = _all.FindAll(static session => session.LostIn != 0);
        if (lost.Count <= KeptLost) return;
        lost.Sort(static (a, b) => a.LostIn != b.LostIn ? a.LostIn.CompareTo(b.LostIn) : a.Id.CompareTo(b.Id));
        for (int i = 0; i < lost.Count - KeptLost; i++) _byId.Remove(lost[i].Id);
        _all.RemoveAll(session => !_byId.ContainsKey(session.Id));
    }

    public void Clear()
    {
        _byId.Clear();
        _all.Clear();
    }
}
