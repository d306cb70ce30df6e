using GroupCore.Membership;
using GroupCore.Runtime;
using Oracle.Frames;
using Oracle.Raft;
using Oracle.State;
using Oracle.State.Operations;

namespace Oracle.Leading;

/// <summary>
/// What the leader does around the state machine: it takes requests, weighs evidence, grants leases, announces decisions, and keeps the Oracle at
/// its size. All of it is local and starts empty with each leadership; only the lease table matters for safety.
/// Source: oracle.md#the-normal-case, failure-detection.md#silence-excludes-nobody-before-a-majority-confirms-the-leader, #an-exclusion-that-the-log-refused-is-decided-again.
/// </summary>
internal sealed partial class LeaderServices
{
    private const int ExclusionsPerEntry = 4_096;
    private const long PruneEvery = 5 * Durations.Second;
    private readonly INode _node;
    private readonly OracleRules _rules;
    private readonly FrameSender _sender;
    private readonly ReplicatedLog _log;
    private readonly OracleState _state;
    private readonly int _acceptors;
    private readonly LeaseTable _leases;
    private readonly LeaseFence _fence;
    private readonly LostNames _names;
    private readonly CutDetector _detector;
    private readonly ConfigurationKeeper _keeper;
    private readonly RequestBatcher _batcher;
    private readonly DecisionBroadcaster _broadcaster;
    private readonly JoinRule? _joinRule;
    private readonly MonitoringRing _ring = new();
    private readonly SortedSet<ProcessId> _excluding = [];

    // Processes in _excluding whose exclusion is not in the log yet.
    private readonly SortedSet<ProcessId> _unlogged = [];
    private readonly List<Request> _appended = [];
    private readonly List<Request> _refused = [];
    private readonly List<Request> _released = [];
    private ulong? _decision;
    private Configuration _told = Configuration.Empty;
    private long _pruneAt;
    private bool _began;
    private bool _progress;
    private bool _evidence;

    public LeaderServices(INode node, OracleOptions options, FrameSender sender, ReplicatedLog log, OracleState state)
    {
        (_node, _rules, _sender, _log, _state, _acceptors) = (node, log.Rules, sender, log, state, options.Acceptors);
        _leases = new(node, _rules, sender);
        _fence = new(node, _rules, _leases);
        _names = new(node, _fence);
        _detector = new(node, _ring, options);
        _keeper = new(node, options);
        _batcher = new(node);
        _broadcaster = new(node, sender);
        if (_rules.JoinRule && options.CanJoin is { } mayJoin) _joinRule = new(node, mayJoin, OnJudged);
    }

    /// <summary>
    /// Whether this replica leads, knows everything that was decided before, and counts its predecessors' leases as held. Before that it decides nothing.
    /// </summary>
    public bool Active => _began && Knowing;

    /// <summary>Whether this replica leads and has applied everything that was decided. It may then announce what it applies, even before it has begun.</summary>
    private bool Knowing => _log.Leading is { Ready: true };

    /// <summary>Whether this replica leads a system without any other process.</summary>
    public bool Alone => Active && CountAlive(most: 2) == 1;

    /// <summary>Number of leases remembered here, and of requests whose senders wait; for checks.</summary>
    public (int Leases, int Requests) Held => (_leases.Count, _batcher.Waiting);

    /// <summary>Whether the exclusion of a process is decided here and not applied yet; for checks.</summary>
    public bool IsExcluding(ProcessId process) => _excluding.Contains(process);

    /// <summary>Whether any process is suspected here: observers have told this leader so; for checks.</summary>
    public bool IsTold => _detector.Any;

    /// <summary>How often the evidence was weighed; for checks.</summary>
    public long Decisions { get; private set; }

    /// <summary>Number of processes looked at to count those alive; for checks.</summary>
    public long Looked { get; private set; }

    /// <summary>How often the end of a lost group's leases was looked up; for checks.</summary>
    public long NamesLooked => _names.Looked;

    /// <summary>How often a held view completion was looked at; for checks.</summary>
    public long CompletionsLooked => _fence.Looked;

    /// <summary>When something held here is due; <see cref="long.MaxValue"/> when nothing is.</summary>
    public long Due => Active ? Math.Min(_fence.Due, _batcher.Due) : long.MaxValue;

    /// <summary>The role changed: what an earlier leadership of this replica gathered is dropped.</summary>
    public void Reset()
    {
        _began = _evidence = false;
        _leases.Clear();
        _fence.Clear();
        _names.Clear();
        _detector.Clear();
        _batcher.Clear();
        _broadcaster.Clear();
        _joinRule?.Clear();
        _excluding.Clear();
        _unlogged.Clear();
        _decision = null;
    }

    public void OnRequest(int peer, in Replica from, Request request)
    {
        if (!Active)
        {
            Redirect(peer, request.Number);
            return;
        }
        ulong requester = request.Operation is Register register ? register.Node : request.Requester.Node;
        bool leadersOwn = request.Operation is Exclude or Release or Deny;
        if (requester != from.Node || leadersOwn)
        {
            _node.Counters.Refuse(RefusalReason.NotEntitled);
            return;
        }
        if (request.Operation is Depart { Goodbye: true } && _state.Find(request.Requester) is { Alive: false, Proved: false })
        {
            // It was excluded on suspicion, and now says itself that it has stopped: that proves its death.
            _batcher.Add(new(default, 0, 0, new Exclude([new(request.Requester, true)])));
            return;
        }
        if (request.Operation is not Register && !Knows(peer, request.Requester)) return;
        if (!_batcher.TryBegin(request, peer)) return;
        switch (request.Operation)
        {
            case ViewCompletion completion when IsOver(request.Requester, completion):
                OnAnswered(request, OperationResult.Completed);
                break;
            case ViewCompletion completion when NamesMore(completion):
                _batcher.TryEnd(request, out _);
                _node.Counters.Refuse(RefusalReason.NotEntitled);
                break;
            case ViewCompletion:
                if (_fence.Admit(_state, request, out var replaced)) _batcher.Add(request);
                if (replaced is not null) _batcher.TryEnd(replaced, out _);
                break;
            case Join { Acceptors: var acceptors } when acceptors != _acceptors && !IsRepeat(request):
            case Create { Acceptors: var named } when named != _acceptors && !IsRepeat(request):
                // The last acceptor of a group is excluded only with proof. By asking for acceptors, a single process could keep any other in all groups, even a silent one.
                OnJudged(request, $"the Oracle's leader has {_acceptors} acceptors in a group, and the request has others");
                break;
            case Join { Name: var name } when _joinRule is { } rule && !IsRepeat(request):
                Ask(rule, peer, request, name);
                break;
            case Create { Name: var name } when _joinRule is { } rule && !IsRepeat(request):
                Ask(rule, peer, request, name);
                break;
            case Join or Leave or Renew:
                _batcher.Gather(request);
                break;
            case Depart { Goodbye: true }:
                StartExcluding(request.Requester);
                _batcher.Add(request);
                break;
            default:
                _batcher.Add(request);
                break;
        }
    }

    /// <summary>Whether the log has decided this request, or refused it. Its sender lacks only the result, so nobody is asked again whether it may.</summary>
    private bool IsRepeat(Request request) => _state.Find(request.Requester)?.Results.ContainsKey(request.Number) == true;

    private void Ask(JoinRule rule, int peer, Request request, string group)
    {
        var identity = peer == FrameSender.Own ? _node.Links.Identity : _node.Links.IdentityOf(peer);
        if (identity is null) rule.Refuse(request, "", group, "the Oracle's leader has a rule for joins, and the process has shown no identity");
        else if (request.Operation is Create { Members: var named } && named.Any(member => member != request.Requester))
            rule.Refuse(request, identity.Name, group, "the Oracle's leader has a rule for joins, by which each process asks for itself, and others are named");
        else if (!rule.TryAsk(request, identity, group)) _batcher.TryEnd(request, out _);
    }

    private void OnJudged(Request request, string? refusal)
    {
        if (refusal is not null) _batcher.Add(request with { Operation = new Deny(refusal) });
        else if (request.Operation is Create) _batcher.Add(request);
        else _batcher.Gather(request);
    }

    public void OnLeaseAsk(int peer, in Replica from, LeaseAsk ask)
    {
        if (_log.Leading is not { } leader)
        {
            Redirect(peer, 0);
            return;
        }
        if (ask.Process.Node != from.Node) _node.Counters.Refuse(RefusalReason.NotEntitled);
        else if (!Active || Knows(peer, ask.Process)) _leases.Ask(leader, ask, peer);
    }

    public void OnSuspect(int peer, in Replica from, SuspectFrame suspect)
    {
        if (_log.Leading is null)
        {
            Redirect(peer, 0);
            return;
        }
        if (_state.FindNode(from.Node) is not { Alive: true } observer || observer.Id == suspect.Subject)
        {
            _node.Counters.Refuse(RefusalReason.WrongSender);
            return;
        }
        if (_state.Find(suspect.Subject) is not { } subject) return;
        if (!suspect.Withdrawn && !MaySuspect(observer, subject, suspect.Evidence))
        {
            _node.Counters.Refuse(RefusalReason.WrongSender);
            return;
        }
        if (!IsSettled(peer, observer)) return;
        if (suspect.Withdrawn) _detector.Withdraw(suspect.Subject, observer.Id);
        else _detector.Suspect(suspect.Subject, observer.Id, suspect.Evidence, suspect.Health);
        // All suspicions of this turn are weighed together: weighing again with each one would cost the square of their number.
        _evidence = true;
    }

    /// <summary>
    /// A watcher of a process may suspect it for any reason; a process that shares a group with it, only for what a group sees. A process that watched it until a moment ago,
    /// and has not been told yet that it no longer does, is not needed: other watchers say the same by now.
    /// </summary>
    private bool MaySuspect(ProcessRecord observer, ProcessRecord subject, Suspicion evidence) =>
        _ring.Watches(observer.Id, subject.Id, _state) || (evidence is Suspicion.FlushStall or Suspicion.Slow && observer.Shares(subject));

    /// <summary>
    /// Whether nothing indicates that this link is not that process's. A peer that only dialled in may be anybody, two suspicions for a refused address are proof of death, and
    /// a new leader has dialled few processes so far. If the link is not settled, the process is dialled where it is registered; it repeats its suspicion within 500 ms.
    /// </summary>
    private bool IsSettled(int peer, ProcessRecord process)
    {
        if (peer == FrameSender.Own || _node.Links.IsSettled(peer)) return true;
        _node.Links.Open(process.Address, process.Id.Node);
        return false;
    }

    /// <summary>
    /// Something was committed, or a learner took more of the log, so the next step of the configuration may be allowed. The first commit of a leadership begins it here and
    /// not at the end of the turn: a view completion that only leases hold back may follow in the same turn.
    /// </summary>
    public void OnProgress()
    {
        _progress = true;
        if (!_began && Knowing) Begin(_log.Leading!);
    }

    /// <summary>Called every 100 ms.</summary>
    public void Tick()
    {
        if (!Active) return;
        if (_detector.Any) Decide();
        _joinRule?.Tick();
        if (_node.Now >= _pruneAt)
        {
            _pruneAt = _node.Now + PruneEvery;
            _leases.Prune();
        }
        _progress = true;
        _broadcaster.Step(_state, _log);
        if (_names.Release(_state, _batcher)) _log.Port.RequestTurn();
    }

    public void EndOfTurn()
    {
        // Before it is active this leader may not know everything that was decided; it weighs the evidence when it begins.
        if (!Active || _log.Leading is not { } leader) return;
        if (_evidence) Decide();
        _leases.Grant(_log, _state, _excluding, _ring);
        ConfirmDecision(leader);
        if (_progress)
        {
            _keeper.Step(_log, _state);
            TellReplicas();
        }
        _progress = false;
        if (_fence.Due <= _node.Now) ReleaseCompletions();
        if (_batcher.HasWork) Append(leader);
        // Everything is applied, so rule A5 has kept the processes that are still in _excluding.
        else if (_excluding.Count > 0 && _log.Commit == _log.Entries.LastIndex) _excluding.Clear();
    }

    public void OnAnswered(Request request, OperationResult result)
    {
        if (_batcher.TryEnd(request, out int peer)) _sender.Reply(peer, new ResponseFrame(request.Number, ResponseStatus.Applied, result, _log.LeaderHint));
    }

    /// <summary>A request had no effect and gets no answer: its sender does not wait for one.</summary>
    public void OnIgnored(Request request) => _batcher.TryEnd(request, out _);

    public void OnExcluded(ProcessRecord process)
    {
        if (process.Status == ProcessStatus.Excluded) _excluding.Remove(process.Id);
        _detector.OnGoing(process.Id);
        if (!Knowing) return;
        if (process.Proved)
        {
            if (_fence.OnProved(_node.Now)) _log.Port.RequestTurn();
            _names.OnProved();
        }
        _broadcaster.SendExcluded(process);
    }

    public void OnProposed(GroupRecord group)
    {
        if (Knowing) _broadcaster.Propose(_state, group);
    }

    public void OnInstalled(GroupRecord group, IReadOnlyList<ViewMember> goers)
    {
        if (Knowing) _broadcaster.Install(group, goers);
    }

    public void OnOver(GroupRecord group, string reason, IReadOnlyList<ProcessId> concerned)
    {
        if (Knowing) _broadcaster.Over(_state, group, reason, concerned, _log);
        if (_began && _state.FindLost(group.Id) is { } lost) _names.Add(_state, lost);
    }

    private void Begin(Raft.Leader leader)
    {
        _began = true;
        _leases.Begin(leader.Since, assumeLeases: _log.Term > 1);
        _names.Begin(_state);
        _told = _log.Entries.ConfigurationAt(_log.Commit);
        _broadcaster.Begin(_state, _log);
        _broadcaster.Repeat(_state);
        if (_detector.Any) Decide();
    }

    private void StartExcluding(ProcessId process)
    {
        if (!_excluding.Add(process)) return;
        _unlogged.Add(process);
        _detector.OnGoing(process);
    }

    /// <summary>Appends requests. If the log refuses an exclusion, it is decided again when suspicions are repeated; until then the process is a member like others.</summary>
    private void Append(Raft.Leader leader)
    {
        _batcher.Append(leader, _appended, _refused);
        // Of several requests that name the same process, the log may have taken one.
        foreach (var request in _appended) EachExcluded(request, _unlogged.Remove);
        foreach (var request in _refused)
        {
            EachExcluded(request, process => _unlogged.Contains(process) && _excluding.Remove(process));
            if (request.Operation is Release release && _state.FindLost(release.Group) is { } lost) _names.Add(_state, lost);
        }
        _unlogged.Clear();
        _appended.Clear();
        _refused.Clear();
    }

    private static void EachExcluded(Request request, Func<ProcessId, bool> then)
    {
        if (request.Operation is Depart { Goodbye: true }) then(request.Requester);
        if (request.Operation is not Exclude exclude) return;
        foreach (var exclusion in exclude.Exclusions) then(exclusion.Process);
    }

    private void TellReplicas()
    {
        var replicas = _log.Entries.ConfigurationAt(_log.Commit);
        if (replicas == _told) return;
        _told = replicas;
        _broadcaster.Replicas(_state, _log);
    }

    private void Redirect(int peer, ulong number) =>
        _sender.Reply(peer, new ResponseFrame(number, ResponseStatus.NotLeader, OperationResult.Completed, _log.Leading is null ? _log.LeaderHint : default));

    /// <summary>Whether the process is registered. An excluded process is told so; one whose registration is not applied here yet gets no answer.</summary>
    private bool Knows(int peer, ProcessId process)
    {
        if (_state.IsAlive(process)) return true;
        if (process.Incarnation <= _state.Index) _sender.Reply(peer, new ExcludedFrame(process, "the Oracle excluded this process"));
        return false;
    }

    /// <summary>Whether a view completion no longer counts, or not from this process. It must not replace one that counts.</summary>
    private bool IsOver(ProcessId from, ViewCompletion completion) => _rules.A3PendingProposalOnly
        && (_state.Find(completion.Group) is not { Pending: { } pending } group || group.View.Id != completion.View || pending.Number != completion.Proposal || !pending.IsLedBy(from, group.View));

    /// <summary>Whether a view completion names more members than the view has: for each group, one of any size could be held here as long as a lease lasts.</summary>
    private bool NamesMore(ViewCompletion completion) => _state.Find(completion.Group) is { View: var view } && view.Id == completion.View && completion.Initialised.Count > view.Members.Count;

    private void ReleaseCompletions()
    {
        _released.Clear();
        _fence.Release(_state, _released);
        foreach (var request in _released) _batcher.Add(request);
        if (_released.Count > 0) _log.Port.RequestTurn();
    }

    /// <summary>Number of processes that are not excluded, but <paramref name="most"/> at most.</summary>
    private int CountAlive(int most = int.MaxValue)
    {
        int alive = 0;
        foreach (var process in _state.Processes)
        {
            Looked++;
            if (process.Alive && ++alive == most) break;
        }
        return alive;
    }

    private void Decide(bool confirmed = false)
    {
        Decisions++;
        _evidence = false;
        int alive = CountAlive();
        var exclusions = _detector.Decide(_state, alive, Needed(), MayGo);
        exclusions.RemoveAll(exclusion => _excluding.Contains(exclusion.Process) && !exclusion.Proved);
        if (exclusions.Count == 0 || _log.Leading is not { } leader) return;
        VoterMajority.Keep(exclusions, leader, _log.Entries.Configuration, _state, _excluding, _node.Id, _node.Now);
        if (exclusions.Count == 0) return;
        bool mass = 2 * exclusions.Count > alive;
        if (!confirmed && (mass || exclusions.Exists(static exclusion => !exclusion.Proved)))
        {
            // Silence, or very many exclusions at once, may mean that this process is cut off. Without a majority it goes on leading for a second, which is longer than it may
            // take to suspect silent processes. Entries that it writes in that time would come into force when the partition heals.
            _decision ??= leader.BeginRead();
            exclusions.RemoveAll(exclusion => mass || !exclusion.Proved);
        }
        if (exclusions.Count > 0) AppendExclusions(exclusions);
    }

    /// <summary>This process, if it is the only voter.</summary>
    private ProcessId Needed() => _log.Entries.Configuration is { Voters.Count: 1 } configuration && configuration.IsVoter(_node.Id) && _state.FindNode(_node.Id) is { } self ? self.Id : default;

    private void ConfirmDecision(Raft.Leader leader)
    {
        if (leader.ConfirmedRead < _decision || _decision is null) return;
        _decision = null;
        // Suspicions may have been withdrawn since.
        Decide(confirmed: true);
    }

    /// <summary>Whether a majority of the voters is left without this process.</summary>
    private bool MayGo(ProcessId process)
    {
        if (_log.Leading is not { } leader) return false;
        var alone = new List<Exclusion> { new(process, false) };
        VoterMajority.Keep(alone, leader, _log.Entries.Configuration, _state, _excluding, _node.Id, _node.Now);
        return alone.Count > 0;
    }

    private void AppendExclusions(List<Exclusion> exclusions)
    {
        foreach (var exclusion in exclusions) StartExcluding(exclusion.Process);
        for (int at = 0; at < exclusions.Count; at += ExclusionsPerEntry)
            _batcher.Add(new(default, 0, 0, new Exclude(exclusions.GetRange(at, Math.Min(ExclusionsPerEntry, exclusions.Count - at)))));
        _log.Port.RequestTurn();
    }
}
