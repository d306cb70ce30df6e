namespace Ida.Ordering;

/// <summary>
/// Sessions known to a slice: those of all members, and the last <see cref="KeptLost"/> of members that are gone, so that a put whose
/// outcome is unknown can be resolved by another member. What is remembered of these together is bounded by bytes.
/// </summary>
/// <remarks>
/// Each replica forgets by itself, and at installs only: replicas may have heard of other acknowledgements, and their limits may differ, so
/// one may know a session that another has forgotten. That one refuses all attempts of the session for the whole view, so that none commits
/// as long as it is a member; what may be told otherwise of such a put is that its outcome is forgotten. A session goes as a whole: with part
/// of its outcomes a put could be applied again.
/// </remarks>
internal sealed class SessionTable
{
    public const int KeptLost = 256;

    /// <summary>Refused attempts that are remembered of all sessions together that a member without its state has not heard of.</summary>
    public const int MostRefusedUnheard = 65_536;

    private readonly Dictionary<UInt128, Session> _byId = [];
    private readonly List<Session> _all = [];

    // The one asked for last: each step of an operation asks for its own several times.
    private Session? _last;

    // In this view. What is remembered of a session that is heard of later counts on.
    private int _refusedUnheard, _received;

    /// <summary>Sessions of members.</summary>
    public int Members { get; private set; }

    /// <summary>Memory that all outcomes take.</summary>
    public long OutcomeBytes
    {
        get
        {
            long sum = 0;
            foreach (var session in _all) sum += session.OutcomeBytes;
            return sum;
        }
    }

    /// <summary>All sessions, in the order of becoming known.</summary>
    public IReadOnlyList<Session> All => _all;

    public Session? Find(UInt128 id) => _last is { } last && last.Id == id ? last : _last = _byId.GetValueOrDefault(id);

    public Session GetOrAdd(UInt128 id)
    {
        if (Find(id) is { } known) return known;
        var session = new Session(id);
        _byId.Add(id, session);
        _all.Add(session);
        return session;
    }

    /// <summary>
    /// The session that a transfer names. Null for more than any source has: the members' are known, and of those who are gone it keeps
    /// <see cref="KeptLost"/>.
    /// </summary>
    public Session? Receive(UInt128 id)
    {
        if (Find(id) is { LostIn: not Session.NotHeard } known) return known;
        return _received++ < KeptLost ? GetOrAdd(id) : null;
    }

    /// <summary>
    /// Refuses an attempt, by the word of its issuer all below it too; false where no more can be remembered. Anybody can name sessions that
    /// there never were: so of those not heard of it is bounded together.
    /// </summary>
    public bool TryRefuse(Session session, in OpKey key, bool issued)
    {
        if (session.IsPoisoned(key)) return true;
        bool unheard = session.LostIn == Session.NotHeard;
        if (unheard && _refusedUnheard >= MostRefusedUnheard) return false;
        int before = session.RefusedCount;
        if (issued) session.Poison(key);
        bool refuses = issued || session.TryPoisonAlone(key);
        if (unheard) _refusedUnheard += session.RefusedCount - before;
        return refuses;
    }

    /// <summary>Bytes of outcomes of members that are gone.</summary>
    public long LostBytes { get; private set; }

    public void Record(Session session, in Outcome outcome)
    {
        long before = session.OutcomeBytes;
        session.Record(outcome);
        if (session.IsLost) LostBytes += session.OutcomeBytes - before;
    }

    /// <summary>
    /// At an install: adds the members' sessions, and forgets the oldest of those whose owners are gone, and those that were only asked for
    /// while the state was on its way: where replicas know one, it comes with the state.
    /// </summary>
    /// <param name="members">The members' sessions.</param>
    /// <param name="view">The view installed.</param>
    /// <param name="full">Whether this member has its state. One without it keeps none of those who are gone: what it was given of them may be a part, and who gives it the whole may have forgotten them.</param>
    /// <param name="mostBytes">Bytes of outcomes that are kept of members that are gone. The one lost last stays, whatever it has.</param>
    public void Update(IReadOnlyList<UInt128> members, ulong view, bool full, long mostBytes)
    {
        (_refusedUnheard, _received) = (0, 0);
        foreach (var session in _all)
        {
            session.ForgetPoison();
            if (session.LostIn == 0) session.LostIn = view;
        }
        foreach (var id in members) GetOrAdd(id).LostIn = 0;
        Members = members.Count;
        _last = null;
        foreach (var session in _all)
            if (session.LostIn == Session.NotHeard || (session.IsLost && !full)) _byId.Remove(session.Id);
        if (_byId.Count < _all.Count) _all.RemoveAll(session => !_byId.ContainsKey(session.Id));
        var lost = _all.FindAll(static session => session.IsLost);
        lost.Sort(static (a, b) => a.LostIn != b.LostIn ? a.LostIn.CompareTo(b.LostIn) : a.Id.CompareTo(b.Id));
        LostBytes = 0;
        foreach (var session in lost) LostBytes += session.OutcomeBytes;
        int forgotten = 0;
        for (; lost.Count - forgotten > KeptLost || (LostBytes > mostBytes && lost.Count - forgotten > 1); forgotten++)
        {
            LostBytes -= lost[forgotten].OutcomeBytes;
            _byId.Remove(lost[forgotten].Id);
        }
        if (forgotten > 0) _all.RemoveAll(session => !_byId.ContainsKey(session.Id));
    }

    public void Clear()
    {
        _byId.Clear();
        _all.Clear();
        _last = null;
        (LostBytes, _refusedUnheard, _received) = (0, 0, 0);
    }
}
