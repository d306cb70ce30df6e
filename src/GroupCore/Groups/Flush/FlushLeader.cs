using GroupCore.Groups.Shared;
using GroupCore.Membership;
using GroupCore.Runtime;
using GroupCore.Wire;

namespace GroupCore.Groups.Flush;

/// <summary>
/// The flush leader's side of one proposal. After all reports it sends the cut to all; after all acknowledgements it sends the view completion to the membership, again
/// and again until the next view or a higher proposal. The next proposal names another leader if this one dies.
/// Source: views-and-flush.md#all-reports-before-the-cut, #the-cut-is-closed, #completion-after-all-acknowledgements.
/// </summary>
/// <remarks>
/// Every member of the flush gets every contribution before the cut, and acknowledges only with all of them, so all that install the next view have the same ones.
/// They may be more than a link takes at once: each member gets them as its link empties, and then the cut.
/// </remarks>
internal sealed class FlushLeader : ITimerTarget
{
    private readonly IViewChange _group;
    private readonly FlushMember _member;
    private readonly View _view;
    private readonly Proposal _proposal;
    private readonly List<int> _ranks = [];
    private readonly FlushReport?[] _reports;
    // Reports that cannot be judged before the sequencer's report is here.
    private readonly FlushReport?[] _unjudged;
    private readonly ContributionParts _parts;
    private readonly (bool Acked, bool Initialised, ulong Hash)[] _acks;
    private readonly (IReadOnlyList<int>? For, long At)[] _waits;
    // By rank: how many contributions were sent to that member, plus one for the cut; and that number at the last look.
    private readonly int[] _sent;
    private readonly int[] _sentBefore;
    // By rank: the last look at which the cut was still on its way to that member.
    private readonly long[] _excusedAt;
    private FlushReport? _longest;
    private FlushCut? _cut;
    private bool _completed;

    public FlushLeader(IViewChange group, FlushMember member, View view, Proposal proposal, Participants takesPart)
    {
        (_group, _member, _view, _proposal) = (group, member, view, proposal);
        _reports = new FlushReport?[takesPart.Count];
        _unjudged = new FlushReport?[takesPart.Count];
        _parts = new(takesPart.Count);
        _acks = new (bool, bool, ulong)[takesPart.Count];
        _waits = new (IReadOnlyList<int>?, long)[takesPart.Count];
        _sent = new int[takesPart.Count];
        _sentBefore = new int[takesPart.Count];
        _excusedAt = new long[takesPart.Count];
        Array.Fill(_excusedAt, long.MinValue / 2);
        for (int rank = 0; rank < takesPart.Count; rank++)
            if (takesPart[rank]) _ranks.Add(rank);
    }

    public void OnContribution(int rank, int part, byte[] bytes) => _parts[rank, part] ??= bytes;

    public void OnReport(FlushReport report)
    {
        if (_cut is not null || _reports[report.Rank] is not null) return;
        if (!_parts.Has(report.Rank, report.Parts))
        {
            _group.Node.Counters.Refuse(RefusalReason.Unexpected);
            return;
        }
        if (Contradicts(report))
        {
            _group.Node.Counters.Refuse(RefusalReason.Unexpected);
            return;
        }
        if (WaitsForSequencer(report))
        {
            _unjudged[report.Rank] = report;
            return;
        }
        if (_longest is null || report.OrderLength > _longest.OrderLength) _longest = report;
        _reports[report.Rank] = report;
        int missing = 0;
        foreach (int rank in _ranks)
            if (_reports[rank] is null) missing++;
        if (missing == 0 || (!_group.Rules.R3AllReports && missing * 2 < _ranks.Count)) SendCut();
        if (report.Rank == _view.Coordinator) JudgeTheRest();
    }

    private void JudgeTheRest()
    {
        foreach (int rank in _ranks)
        {
            if (_unjudged[rank] is not { } report) continue;
            _unjudged[rank] = null;
            OnReport(report);
        }
    }

    /// <summary>Whether a report has positions that this member cannot judge, while the sequencer, which can, takes part but has not reported yet.</summary>
    private bool WaitsForSequencer(FlushReport report) =>
        report.Rank != _view.Coordinator && _ranks.Contains(_view.Coordinator) && _reports[_view.Coordinator] is null && _reports[_group.Rank] is { } own && report.OrderLength > own.OrderLength;

    /// <summary>
    /// Whether a report contradicts a member that knows the order better, or names more positions than the sequencer gave: if it were taken, members would deliver in
    /// another order. The first report is the leader's own. Beyond its order the measure is the sequencer's report if the sequencer takes part, else the longest report so
    /// far. All reports that are taken agree with these, and none begins after the leader's order ends. No other report is a measure, since a liar may begin where
    /// another's order has ended.
    /// </summary>
    private bool Contradicts(FlushReport report)
    {
        if (_longest is not { } known || _reports[_group.Rank] is not { } own) return false;
        var sequencer = _view.Coordinator is >= 0 and var rank ? _reports[rank] : null;
        // The most that the sequencer may be ahead of this member.
        uint most = sequencer?.OrderLength ?? own.OrderLength + GroupLimits.OrderPositions;
        if (report.OrderLength > most || report.OrderBase > own.OrderLength || own.OrderBase > report.OrderLength) return true;
        return Differs(report, own) || Differs(report, sequencer ?? known);
    }

    private static bool Differs(FlushReport report, FlushReport known)
    {
        uint to = Math.Min(report.OrderLength, known.OrderLength);
        for (uint x = Math.Max(report.OrderBase, known.OrderBase); x < to; x++)
            if (report.PositionAt(x) != known.PositionAt(x)) return true;
        return false;
    }

    private void SendCut()
    {
        var reports = new List<FlushReport>();
        foreach (int rank in _ranks)
            if (_reports[rank] is { } report) reports.Add(report);
        var cut = Closure.Cut(_proposal.Number, _view.Members.Count, reports, _group.Rules.R4ClosureTrim, _group.Rules.R5LongestOrder, _reports[_group.Rank]);
        foreach (var (rank, part) in cut.Parts) _member.TakeContribution(rank, part, _parts[rank, part]!.Value);
        _cut = cut;
        Distribute(cut);
        _member.TakeCut(_proposal.Number, cut);
    }

    private void Distribute(FlushCut cut)
    {
        foreach (int rank in _ranks)
        {
            if (rank == _group.Rank || IsCutSentTo(rank)) continue;
            ref int sent = ref _sent[rank];
            for (; sent < cut.Parts.Count && _group.Links.RoomTo(rank) > 0; sent++)
            {
                var (of, part) = cut.Parts[sent];
                _member.SendPart(rank, _proposal.Number, of, part, _parts[of, part]!.Value.Span);
            }
            if (sent < cut.Parts.Count) continue;
            var frame = _group.Links.Frame(FrameType.Cut, cut.Size);
            cut.Write(frame);
            _group.Links.SendTo(rank);
            sent++;
        }
    }

    /// <summary>The link to a member is a new one: what was sent over the old one may be lost, so the member gets all of it again.</summary>
    public void OnRelinked(int rank)
    {
        _sent[rank] = _sentBefore[rank] = 0;
        OnRoom();
    }

    /// <summary>A link has room again: contributions that wait for it go out.</summary>
    public void OnRoom()
    {
        if (_cut is not null && !_completed) Distribute(_cut);
    }

    private bool IsCutSentTo(int rank) => _cut is not null && _sent[rank] > _cut.Parts.Count;

    public void OnAck(int rank, bool initialised, ulong hash)
    {
        _acks[rank] = (true, initialised, hash);
        if (_cut is null || _completed) return;
        int missing = 0;
        foreach (int other in _ranks)
        {
            if (!_acks[other].Acked) missing++;
            else if (_acks[other].Hash != _acks[_group.Rank].Hash && _acks[_group.Rank].Acked)
            {
                // Members would deliver different messages: this flush must not end. A rule of the protocol is broken somewhere.
                _group.Node.Counters.Refuse(RefusalReason.Unexpected);
                if (_group.Rules.R5LongestOrder) return;
            }
        }
        if (missing > (_group.Rules.R8AllAcks ? 0 : 1)) return;
        _completed = true;
        SendViewCompletion();
    }

    private void SendViewCompletion()
    {
        var initialised = new List<ProcessId>();
        foreach (int rank in _ranks)
            if (_acks[rank].Initialised) initialised.Add(_view.Members[rank].Id);
        _group.Membership.CompleteView(_view.Group, _view.Id, _proposal.Number, initialised);
        _group.Node.SetTimer(_group.Node.Now + GroupLimits.FlushRetryNanoseconds, this, 0);
    }

    void ITimerTarget.OnTimer(long token)
    {
        if (!_group.IsInFlush(_view, _proposal)) return;
        SendViewCompletion();
    }

    /// <summary>A member names the members that it misses, none when user code holds it up. As long as it keeps saying so, it is not at fault itself.</summary>
    public void OnWait(int rank, IReadOnlyList<int> waitsFor) => _waits[rank] = (waitsFor, _group.Node.Now);

    /// <summary>
    /// Adds members whose report or acknowledgement is missing, or whom two such members miss. If all have acknowledged, but not the same end of
    /// the view, adds those that differ from most.
    /// </summary>
    /// <remarks>
    /// If only one member says that it misses another, and that one does speak with the leader, the matter is between the two: the first suspects the other by itself, and
    /// the Oracle judges the pair. If all suspected on one member's word, it could have anybody excluded. A report needs no other member's help, so no wait excuses a
    /// missing report. If reports cannot be judged without the sequencer's, only the sequencer is missed.
    /// </remarks>
    public void AddWaitedFor(List<int> ranks)
    {
        var saying = new int[_acks.Length];
        bool all = _cut is not null;
        foreach (int rank in _ranks)
        {
            if (_cut is not null ? _acks[rank].Acked : (_reports[rank] ?? _unjudged[rank]) is not null) continue;
            all = false;
            if (rank == _group.Rank) continue;
            // Contributions are on their way to it as fast as it takes them, or wait here because all links of this node together hold too much.
            if (_cut is not null && !IsCutSentTo(rank) && (_sent[rank] != _sentBefore[rank] || _group.Links.WaitsForNode(rank)))
            {
                _sentBefore[rank] = _sent[rank];
                _excusedAt[rank] = _group.Node.Now;
                continue;
            }
            // The cut reached it late, through no fault of its own: it gets the time that others had.
            if (_cut is not null && _group.Node.Now - _excusedAt[rank] < GroupLimits.FlushSilenceNanoseconds) continue;
            if (_cut is not null && _waits[rank] is { For: { } others } wait && _group.Node.Now - wait.At <= GroupLimits.FlushSilenceNanoseconds)
            {
                foreach (int other in others)
                    if (++saying[other] == 2 && !ranks.Contains(other)) ranks.Add(other);
            }
            else if (!ranks.Contains(rank)) ranks.Add(rank);
        }
        if (!all || _completed) return;
        ulong common = MostCommonHash();
        foreach (int rank in _ranks)
            if (_acks[rank].Hash != common) ranks.Add(rank);
    }

    private ulong MostCommonHash()
    {
        ulong common = 0;
        int most = 0;
        foreach (int rank in _ranks)
        {
            int count = 0;
            foreach (int other in _ranks)
                if (_acks[other].Hash == _acks[rank].Hash) count++;
            if (count > most) (common, most) = (_acks[rank].Hash, count);
        }
        return common;
    }
}
