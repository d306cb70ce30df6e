using System.Buffers.Binary;
using GroupCore.Groups.Multicast;
using GroupCore.Groups.PointToPoint;
using GroupCore.Groups.Shared;
using GroupCore.Membership;
using GroupCore.Runtime;
using GroupCore.Wire;

namespace GroupCore.Groups.Flush;

/// <summary>
/// Finds the members that this one misses in a flush. A silent member is suspected. Users' hooks and handlers that take long hold the group up,
/// but cost no member its place (unless the group has <see cref="SlowMember.Evict"/>).
/// </summary>
/// <remarks>
/// At every look, once a second, a member that is held up says so (FlushWait) to the leader, and names the members it misses: none when user code is the reason. It also
/// tells the members whose point-to-point messages its handlers still handle, so that they know why no acknowledgement comes. The leader tells all which members it misses
/// itself, and which two others miss: all suspect those. The leader itself is suspected only if it is silent for four looks. Each look withdraws the suspicion of members
/// that neither this member nor the leader misses any more, however long the flush lasts for others.
/// In a group that evicts slow members, a member may say that another's handlers hold it up. The leader passes that on only if the other member has itself said, for as
/// long as the group's options allow, that its handlers are at work. Slowness holds across proposals. It ends when the slow member says that its handlers have ended, or
/// three looks after this member last found it or the leader last said it. Only the member itself knows of a message to itself, so it says of itself that it is too slow.
/// The leader also takes a member to be too slow that has said for that time, and a hook's time more, that its handlers are at work, whichever members wait for it.
/// If a link lost messages that handlers of two members sent each other, both would wait for ever, and each would say so. So a wait for what a link may have lost is
/// excused by handlers at work or by progress, but by a wait for others only for some looks.
/// Source: views-and-flush.md#silence-is-suspected-user-code-is-not, #slow-handlers-are-suspected-where-the-group-says-so.
/// </remarks>
internal sealed class FlushWatch(IViewChange group, FlushMember flush, ViewMulticast multicast, PeerChannel peers, View view) : ITimerTarget
{
    private const int Head = 9;
    private const int LooksForLost = 5;
    private const int LooksForQuick = 3;
    private readonly List<ProcessId> _suspected = [];
    private readonly List<ProcessId> _tooSlow = [];
    private readonly List<ProcessId> _suspectedForGood = [];
    private readonly List<int> _missing = [];
    private readonly List<int> _owing = [];
    private readonly List<int> _named = [];
    private readonly List<int> _forwarding = [];
    private readonly List<int> _slow = [];
    private readonly List<int> _told = [];
    private FlushLeader? _leader;
    // Both made with the first flush of the view, and kept across proposals: time at work and slowness do not begin again with a proposal.
    private WaitSign[] _signs = [];
    // The look at which a member was last found, or said to be, too slow.
    private long[] _tooSlowAt = [];
    private Progress[] _handled = [];
    private Progress[] _forwarded = [];
    // Since when looks have found handlers here at work: for messages of any member, and for messages of this one.
    private long? _handlesSince;
    private long? _handlesOwnSince;
    // At how many more looks this member says that these handlers have ended.
    private int _saysEnded;
    // When the load of this member, or its catching up after it, last made progress.
    private long _loadMovedAt;
    private long _round;
    // Looks since the flush began, and since the leader was last heard.
    private int _looks;
    private int _steps;
    // Looks in the view.
    private long _looksInAll;

    /// <summary>A flush begins, or begins again with another proposal.</summary>
    public void Start(FlushLeader? leader)
    {
        int members = view.Members.Count;
        (_handled, _forwarded) = (new Progress[members], new Progress[members]);
        if (_signs.Length == 0) (_signs, _tooSlowAt) = (new WaitSign[members], new long[members]);
        // What members said in another proposal is no answer in this one.
        for (int rank = 0; rank < members; rank++) _signs[rank] = _signs[rank] with { Reason = WaitReason.None };
        (_leader, _steps, _looks) = (leader, 0, 0);
        group.Node.SetTimer(group.Node.Now + GroupLimits.FlushStepNanoseconds, this, _round);
    }

    /// <summary>The view is over.</summary>
    public void Close()
    {
        Stop();
        Withdraw(_suspectedForGood);
        Withdraw(_tooSlow);
    }

    /// <summary>The flush is over, or begins again. Members that were too slow stay so: a new proposal makes their handlers no quicker.</summary>
    public void Stop()
    {
        _round++;
        Withdraw(_suspected);
        _owing.Clear();
        _named.Clear();
        group.WaitsFor = [];
    }

    /// <summary>There is other evidence that a member holds this one up: it is suspected until the view is over, whatever it says.</summary>
    public void Suspect(int rank) => Suspect(_suspectedForGood, rank, Suspicion.FlushStall);

    /// <summary>The load of a member, or its catching up, makes progress: its handlers count as at work only from now on.</summary>
    public void OnLoading(int rank)
    {
        if (rank < _signs.Length) _signs[rank] = _signs[rank] with { AtWorkSince = group.Node.Now };
    }

    /// <summary>The leader is not silent.</summary>
    public void OnLeader() => _steps = 0;

    /// <summary>Proposal u64, <see cref="WaitReason"/> u8, ranks u16 each.</summary>
    public void OnWait(int from, ReadOnlySpan<byte> body)
    {
        var ranks = new List<int>();
        bool known = body.Length >= Head && body[8] <= (byte)WaitReason.Ended;
        // A frame that names a member twice is malformed.
        for (int at = Head; at + 1 < body.Length && at < Head + (2 * _signs.Length); at += 2) AddTo(ranks, BinaryPrimitives.ReadUInt16LittleEndian(body[at..]));
        if (!known || body.Length != Head + (2 * ranks.Count) || ranks.Exists(rank => rank >= _signs.Length))
        {
            group.Node.Counters.Refuse(RefusalReason.Malformed);
            return;
        }
        var reason = (WaitReason)body[8];
        if (reason == WaitReason.Ended)
        {
            OnEnded(from);
            return;
        }
        if (reason != WaitReason.TooSlow)
        {
            // A member may give several reasons at one look, since handlers at work for one member's message hold up others' messages. Another reason keeps the time at work.
            var (now, sign, atWork) = (group.Node.Now, _signs[from], reason == WaitReason.OwnCode);
            _signs[from] = new(reason, now, atWork ? now : sign.AtWork, atWork && !IsAtWork(from) ? now : sign.AtWorkSince);
            // A member that still owes handled messages or forwards is not excused by saying that nothing holds it up.
            if (reason != WaitReason.None || !_owing.Contains(from)) Forgive(from);
        }
        if (_leader is not null && reason != WaitReason.TooSlow) _leader.OnWait(from, ranks);
        if (from == flush.Leader)
        {
            _steps = 0;
            if (reason != WaitReason.TooSlow)
            {
                _named.Clear();
                _named.AddRange(ranks);
            }
        }
        else if (_leader is null || reason != WaitReason.TooSlow) return;
        else if (ranks.RemoveAll(rank => !IsTooSlow(rank, from)) > 0) group.Node.Counters.Refuse(RefusalReason.Unexpected);
        foreach (int rank in ranks)
        {
            if (reason != WaitReason.TooSlow) Suspect(_suspected, rank, Suspicion.FlushStall);
            else if (group.EvictsSlow) SuspectOfSlowness(rank);
        }
        if (_leader is not null && reason == WaitReason.TooSlow && ranks.Count > 0) SendToAll(reason, ranks);
    }

    private void OnEnded(int from)
    {
        var now = group.Node.Now;
        _signs[from] = new(WaitReason.Others, now, null, now);
        Forgive(from);
        if (from == flush.Leader) _steps = 0;
        if (_tooSlow.Remove(view.Members[from].Id)) group.Suspicions.Withdraw(_tooSlow, view.Members[from].Id);
    }

    void ITimerTarget.OnTimer(long token)
    {
        if (token != _round || flush.Proposal is null) return;
        group.Touch();
        _steps++;
        _looks++;
        _looksInAll++;
        _missing.Clear();
        _slow.Clear();
        var reason = FindOwnReason();
        _owing.Clear();
        _owing.AddRange(_missing);
        if (_leader is not null)
        {
            if (_steps >= 2) _leader.AddWaitedFor(_missing);
            SendToAll(reason, _missing);
        }
        else
        {
            // So that the leader knows whose handlers are at work when others complain of them.
            var said = HandlersRun() ? WaitReason.OwnCode : reason;
            if (said != WaitReason.None || _missing.Count > 0) Send(flush.Leader, said, _missing);
        }
        TellWhoWaits();
        if (_leader is null && reason == WaitReason.None && _missing.Count == 0 && (flush.Acked || flush.Cut is null) && _steps >= 4) _missing.Add(flush.Leader);
        foreach (int rank in _missing) Suspect(_suspected, rank, Suspicion.FlushStall);
        ForgiveOthers();
        Describe(reason);
        NoteOwnCode();
        if (group.EvictsSlow)
        {
            SayEnded();
            SuspectSlow();
        }
        ForgiveQuick();
        group.Membership.Sync(view.Group, view.Id, flush.Wedge);
        group.Node.SetTimer(group.Node.Now + GroupLimits.FlushStepNanoseconds, this, _round);
    }

    // Whether handlers of this member's own messages run, or those of messages that it held while it loaded the state.
    private bool OwnHandlersRun => peers.HandlesOwn || (flush.Cut is not null && !flush.Acked && multicast.IsCatchingUp);

    /// <summary>Why this member has not acknowledged; collects members that are silent, and those whose handlers are waited for.</summary>
    private WaitReason FindOwnReason()
    {
        // Hooks have their own time limit with each proposal: they are no sign that handlers are at work.
        var reason = OwnHandlersRun ? WaitReason.OwnCode : group.HooksEnded ? WaitReason.None : WaitReason.Others;
        // Even after its acknowledgement a member may wait for messages that its handlers sent. The members whose messages these handlers handle wait too, and are told why.
        if (flush.Cut is { } cut && !flush.Acked)
        {
            LookAtForwards(cut);
            if (_forwarding.Count > 0 && reason == WaitReason.None) reason = WaitReason.Others;
        }
        for (int rank = 0; rank < _signs.Length; rank++)
        {
            if (!peers.AwaitsHandling(rank)) continue;
            // A member whose handlers are at work says so at its own first look: it has time for that until the second look here.
            bool still = _handled[rank].StandsStill(peers.ProgressOf(rank), group.Node.Now);
            if (!IsFresh(_signs[rank]) && still && _looks >= 2 && !peers.AwaitsOwnNode(rank))
            {
                AddTo(_missing, rank);
                continue;
            }
            if (_signs[rank].Reason == WaitReason.OwnCode) _slow.Add(rank);
            else if (still && _looks >= LooksForLost && peers.AwaitsLost(rank)) Suspect(rank);
            if (reason == WaitReason.None) reason = WaitReason.Others;
        }
        return reason;
    }

    /// <summary>A holder that forwards what is missing here, sender by sender and as fast as its link goes, is not silent; nor is one that says that it waits for room.</summary>
    private void LookAtForwards(FlushCut cut)
    {
        _forwarding.Clear();
        for (int s = 0; s < cut.Upto.Length; s++)
            if (multicast.ReceivedOf(s) < cut.Upto[s]) AddTo(_forwarding, cut.Holder[s]);
        foreach (int holder in _forwarding)
        {
            long received = 0;
            for (int s = 0; s < cut.Upto.Length; s++)
                if (cut.Holder[s] == holder) received += multicast.ReceivedOf(s);
            if (_forwarded[holder].StandsStill(received, group.Node.Now) && !IsFresh(_signs[holder])) AddTo(_missing, holder);
        }
        _forwarding.RemoveAll(_missing.Contains);
    }

    private bool IsFresh(in WaitSign sign) => sign.Reason != WaitReason.None && group.Node.Now - sign.At <= GroupLimits.FlushSilenceNanoseconds;

    /// <summary>Whether a member may be right that another's handlers hold it up for longer than the group's options allow; what it says of its own handlers is believed.</summary>
    private bool IsTooSlow(int rank, int waiting) =>
        group.EvictsSlow && (rank == waiting || (rank == group.Rank ? HandlersRun() && IsLong(_handlesSince) : IsAtWork(rank) && IsLong(_signs[rank].AtWorkSince)));

    // Not counted from the wedge: the flush may have waited for another member, and handlers that began a moment ago would count as slow.
    private bool IsLong(long? since) => since is { } begun && group.Node.Now - begun >= group.SlowNanoseconds;

    private bool IsAtWork(int rank) => group.Node.Now - _signs[rank].AtWork <= GroupLimits.FlushSilenceNanoseconds;

    /// <summary>Allows for a hook's time, since hooks may have run first. A member that had no state when the view began may be catching up, and is not judged by this.</summary>
    private bool IsAtWorkForLong(int rank) =>
        view.Members[rank].Initialised && IsAtWork(rank) && group.Node.Now - _signs[rank].AtWorkSince >= group.SlowNanoseconds + GroupLimits.HookNanoseconds;

    /// <summary>This member is not too slow while its load makes progress: its own messages may wait behind those that it held.</summary>
    private bool IsTooSlowItself => IsLong(_handlesOwnSince) && IsLong(_loadMovedAt);

    private bool HandlersRun()
    {
        Span<WaitReason> reasons = stackalloc WaitReason[_signs.Length];
        reasons.Clear();
        return peers.Handles(reasons) && reasons.Contains(WaitReason.OwnCode);
    }

    /// <summary>
    /// Tells members that their messages are being handled here, or that what they asked for waits for room at this node. A frame to or from the leader names the missed
    /// members again, as only the last such frame counts.
    /// </summary>
    private void TellWhoWaits()
    {
        Span<WaitReason> reasons = stackalloc WaitReason[_signs.Length];
        reasons.Clear();
        if (!(peers.Handles(reasons) | flush.Forwards(reasons))) return;
        for (int rank = 0; rank < reasons.Length; rank++)
            if (rank != group.Rank && flush.TakesPart(rank) && reasons[rank] != WaitReason.None) Send(rank, reasons[rank], _leader is not null || rank == flush.Leader ? _missing : []);
    }

    /// <summary>Notes since when handlers here have been at work, and whether the load, or catching up after it, makes progress.</summary>
    private void NoteOwnCode()
    {
        if (multicast.IsCatchingUp || group.LoadMoved())
        {
            _loadMovedAt = group.Node.Now;
            // Members whose messages wait behind those that this one held while it loaded learn of it in no other way.
            if (group.EvictsSlow) multicast.SendLoading();
        }
        _handlesSince = HandlersRun() ? _handlesSince ?? group.Node.Now : null;
        _handlesOwnSince = peers.HandlesOwn ? _handlesOwnSince ?? group.Node.Now : null;
    }

    /// <summary>Tells all members that handlers here have ended, since some may take this one to be slow: several times, as members at another proposal ignore it.</summary>
    private void SayEnded()
    {
        if (HandlersRun() || OwnHandlersRun)
        {
            _saysEnded = LooksForQuick;
            return;
        }
        if (_saysEnded == 0) return;
        _saysEnded--;
        SendToAll(WaitReason.Ended, []);
    }

    private void SuspectSlow()
    {
        _slow.RemoveAll(rank => !IsLong(_signs[rank].AtWorkSince));
        if (IsTooSlowItself) AddTo(_slow, group.Rank);
        for (int rank = 0; _leader is not null && rank < _signs.Length; rank++)
            if (IsAtWorkForLong(rank)) AddTo(_slow, rank);
        if (_slow.Count == 0) return;
        foreach (int rank in _slow) SuspectOfSlowness(rank);
        if (_leader is not null) SendToAll(WaitReason.TooSlow, _slow);
        else Send(flush.Leader, WaitReason.TooSlow, _slow);
    }

    private void SuspectOfSlowness(int rank)
    {
        _tooSlowAt[rank] = _looksInAll;
        Suspect(_tooSlow, rank, Suspicion.Slow);
    }

    /// <summary>Withdraws slowness that several looks did not confirm. One look is too few: two frames of the leader may come between two looks, and none before the next.</summary>
    private void ForgiveQuick()
    {
        for (int i = _tooSlow.Count - 1; i >= 0; i--)
        {
            if (_looksInAll - _tooSlowAt[view.RankOf(_tooSlow[i])] < LooksForQuick) continue;
            group.Suspicions.Withdraw(_tooSlow, _tooSlow[i]);
            _tooSlow.RemoveAt(i);
        }
    }

    private void Describe(WaitReason reason)
    {
        var waits = new List<string>();
        if (!group.HooksEnded) waits.Add("own hooks");
        if (OwnHandlersRun) waits.Add("own handlers");
        foreach (int rank in _slow) waits.Add($"handlers of {view.Members[rank].Address}");
        foreach (int rank in _missing) waits.Add($"{view.Members[rank].Address}, which is silent");
        if (waits.Count == 0 && reason == WaitReason.None) waits.Add(_leader is null ? $"the flush leader {view.Members[flush.Leader].Address}" : "the other members or the Oracle");
        group.WaitsFor = waits;
        foreach (int rank in _slow)
        {
            if (_told.Contains(rank)) continue;
            _told.Add(rank);
            group.ReportSlow(rank, "its handlers hold up a view change");
        }
    }

    private void Suspect(List<ProcessId> suspected, int rank, Suspicion evidence)
    {
        if (rank == group.Rank) return;
        var id = view.Members[rank].Id;
        if (suspected.Contains(id)) return;
        suspected.Add(id);
        group.Suspicions.Suspect(suspected, id, evidence);
    }

    private void Withdraw(List<ProcessId> suspected)
    {
        foreach (var id in suspected) group.Suspicions.Withdraw(suspected, id);
        suspected.Clear();
    }

    /// <summary>A member that was suspected of being silent has spoken, or is not missed any more.</summary>
    private void Forgive(int rank)
    {
        if (_suspected.Remove(view.Members[rank].Id)) group.Suspicions.Withdraw(_suspected, view.Members[rank].Id);
    }

    private void ForgiveOthers()
    {
        for (int i = _suspected.Count - 1; i >= 0; i--)
            if (view.RankOf(_suspected[i]) is var rank && !_missing.Contains(rank) && !_named.Contains(rank)) Forgive(rank);
    }

    private void SendToAll(WaitReason reason, List<int> ranks)
    {
        for (int rank = 0; rank < _signs.Length; rank++)
            if (rank != group.Rank && flush.TakesPart(rank)) Send(rank, reason, ranks);
    }

    private void Send(int to, WaitReason reason, List<int> ranks)
    {
        var frame = group.Links.Frame(FrameType.FlushWait, Head + (2 * ranks.Count));
        BinaryPrimitives.WriteUInt64LittleEndian(frame, flush.Wedge);
        frame[8] = (byte)reason;
        for (int i = 0; i < ranks.Count; i++) BinaryPrimitives.WriteUInt16LittleEndian(frame[(Head + (2 * i))..], (ushort)ranks[i]);
        group.Links.SendTo(to);
    }

    private static void AddTo(List<int> ranks, int rank)
    {
        if (!ranks.Contains(rank)) ranks.Add(rank);
    }

    /// <summary>What a member said last and when; when it last said that code of its users is at work, and since when without a pause.</summary>
    private readonly record struct WaitSign(WaitReason Reason, long At, long? AtWork, long AtWorkSince);
}
