using Ida.Shared;

namespace Ida.Ordering;

/// <summary>
/// Sessions known to a slice: those of all members, and the last <see cref="KeptLost"/> of departed members, so that another member can
/// find out the unknown outcome of a put. The outcomes of departed members together are bounded by bytes.
/// </summary>
/// <remarks>
/// Each replica forgets by itself, and at installs only. Replicas may have heard of different acknowledgements, and their limits may differ: so
/// one may know a session that another has forgotten. The replica that has forgotten it refuses all attempts of the session for the whole
/// view: none commits while it is a member. Another answer about such a put can only be that its outcome is forgotten. A session is
/// forgotten as a whole: with a part of its outcomes, a put could be applied again.
/// </remarks>
internal sealed class SessionTable
{
    public const int KeptLost = 256;

    /// <summary>Bound on remembered refusals, over all sessions that a member without its state does not know yet.</summary>
    public const int MostRefusedUnheard = 65_536;

    private readonly Dictionary<UInt128, Session> _byId = [];
    private readonly List<Session> _all = [];

    // The session looked up last: each step of an operation looks its session up several times.
    private Session? _last;

    // Counts of this view. Refusals of a session that becomes known later still count.
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

    /// <summary>All sessions, in the order in which they became known.</summary>
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
    /// The session that a transfer names. Null when it names more than any source has: the sessions of members are known, and a source keeps
    /// <see cref="KeptLost"/> of departed members.
    /// </summary>
    public Session? Receive(UInt128 id)
    {
        if (Find(id) is { LostIn: not Session.NotHeard } known) return known;
        return _received++ < KeptLost ? GetOrAdd(id) : null;
    }

    /// <summary>
    /// Refuses an attempt, and on its issuer's word all below it; false where no more refusals can be remembered. Any member can name sessions
    /// that never existed: so the refusals of unknown sessions are bounded together.
    /// </summary>
    public bool TryRefuse(Session session, in AttemptId key, bool issued)
    {
        if (session.IsRejected(key)) return true;
        bool unheard = session.LostIn == Session.NotHeard;
        if (unheard && _refusedUnheard >= MostRefusedUnheard) return false;
        int before = session.RefusedCount;
        if (issued) session.Reject(key);
        bool refuses = issued || session.TryRejectAlone(key);
        if (unheard) _refusedUnheard += session.RefusedCount - before;
        return refuses;
    }

    /// <summary>Bytes of outcomes of departed members.</summary>
    public long LostBytes { get; private set; }

    public void Record(Session session, in Outcome outcome)
    {
        long before = session.OutcomeBytes;
        session.Record(outcome);
        if (session.IsLost) LostBytes += session.OutcomeBytes - before;
    }

    /// <summary>
    /// At an install: adds the members' sessions. Forgets the oldest sessions of departed members, and those that were only asked for
    /// while the state was on its way: where replicas know such a session, it comes with the state.
    /// </summary>
    /// <param name="members">The members' sessions.</param>
    /// <param name="view">The view installed.</param>
    /// <param name="initialised">Whether this member has its state. If not, it drops all sessions of departed members: it may have part of one that the next source has forgotten.</param>
    /// <param name="mostBytes">Bytes of outcomes that are kept of departed members. The session lost last stays, whatever it has.</param>
    public void Update(IReadOnlyList<UInt128> members, ulong view, bool initialised, long mostBytes)
    {
        (_refusedUnheard, _received) = (0, 0);
        foreach (var session in _all)
        {
            session.ForgetRejected();
            if (session.LostIn == 0) session.LostIn = view;
        }
        foreach (var id in members) GetOrAdd(id).LostIn = 0;
        Members = members.Count;
        _last = null;
        foreach (var session in _all)
            if (session.LostIn == Session.NotHeard || (session.IsLost && !initialised)) _byId.Remove(session.Id);
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
