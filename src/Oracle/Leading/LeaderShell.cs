using GroupCore.Membership;
using GroupCore.Runtime;
using Oracle.Frames;
using Oracle.Log;
using Oracle.State;
using Oracle.State.Operations;

namespace Oracle.Leading;

/// <summary>
/// The leader's services around the state machine: takes requests, weighs evidence, grants leases, announces decisions, keeps the Oracle at its
/// size. All of it is local and starts empty with each leadership; only the lease table matters for safety.
/// Source: oracle.md#the-normal-case, failure-detection.md#silence-excludes-nobody-before-a-majority-confirms-the-leader, #an-exclusion-that-the-log-refused-is-decided-again.
/// </summary>
internal sealed class LeaderShell
{
    private const int FailuresPerEntry = 4_096;
    private const long PruneEvery = 5 * Durations.Second;
    private readonly INode _node;
    private readonly Outlet _outlet;
    private readonly ReplicatedLog _log;
    private readonly OracleState _state;
    private readonly int _acceptors;
    private readonly LeaseTable _leases;
    private readonly FlushGate _gate;
    private readonly LostNames _names;
    private readonly CutDetector _detector;
    private readonly ConfigurationKeeper _keeper;
    private readonly RequestIntake _intake;
    private readonly Announcer _announcer;
    private readonly Observers _observers = new();
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

    public LeaderShell(INode node, OracleOptions options, Outlet outlet, ReplicatedLog log, OracleState state)
    {
        (_node, _outlet, _log, _state, _acceptors) = (node, outlet, log, state, options.Acceptors);
        _leases = new(node, outlet);
        _gate = new(node, _leases);
        _names = new(node, _gate);
        _detector = new(node, _observers, options);
        _keeper = new(node, options);
        _intake = new(node);
        _announcer = new(node, outlet);
    }

    /// <summary>
    /// Whether this replica leads, knows everything that was decided before, and counts its predecessors' leases as held: it decides nothing before that.
    /// </summary>
    public bool Active => _began && Knowing;

    /// <summary>Whether this replica leads and has applied everything decided: then it may announce what it applies, even before it has begun.</summary>
    private bool Knowing => _log.Leading is { Ready: true };

    /// <summary>Whether this replica leads a system without any other process.</summary>
    public bool Alone => Active && CountAlive(most: 2) == 1;

    /// <summary>Number of leases remembered here, and of requests whose senders wait; for checks.</summary>
    public (int Leases, int Requests) Held => (_leases.Count, _intake.Waiting);

    /// <summary>Whether the exclusion of a process is decided here and not applied yet; for checks.</summary>
    public bool IsExcluding(ProcessId process) => _excluding.Contains(process);

    /// <summary>Whether any process is suspected; for checks.</summary>
    public bool IsTold => _detector.Any;

    /// <summary>How often the evidence was weighed; for checks.</summary>
    public long Decisions { get; private set; }

    /// <summary>Number of processes looked at to count those alive; for checks.</summary>
    public long Looked { get; private set; }

    /// <summary>How often the end of a lost group's leases was looked up; for checks.</summary>
    public long NamesLooked => _names.Looked;

    /// <summary>How often a held flush report was looked at; for checks.</summary>
    public long FlushesLooked => _gate.Looked;

    /// <summary>When something held here is due; <see cref="long.MaxValue"/> when nothing is.</summary>
    public long Due => Active ? Math.Min(_gate.Due, _intake.Due) : long.MaxValue;

    /// <summary>The role changed.</summary>
    public void Reset()
    {
        _began = _evidence = false;
        _leases.Clear();
        _gate.Clear();
        _names.Clear();
        _detector.Clear();
        _intake.Clear();
        _announcer.Clear();
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
        bool leadersOwn = request.Operation is Fail or Release;
        if (requester != from.Node || leadersOwn)
        {
            _node.Counters.Refuse(leadersOwn ? RefusalReason.Unexpected : RefusalReason.WrongSender);
            return;
        }
        if (request.Operation is Depart { Goodbye: true } && _state.Find(request.Requester) is { Alive: false, Proved: false })
        {
            // It was excluded on suspicion and now says itself that it has stopped.
            _intake.Add(new(default, 0, 0, new Fail([new(request.Requester, true)])));
            return;
        }
        if (request.Operation is not Register && !Knows(peer, request.Requester)) return;
        if (!_intake.TryBegin(request, peer)) return;
        switch (request.Operation)
        {
            case Done done when IsOver(request.Requester, done):
                OnAnswered(request, OperationResult.Done);
                break;
            case Done done when NamesMore(done):
                _intake.TryEnd(request, out _);
                _node.Counters.Refuse(RefusalReason.Unexpected);
                break;
            case Done:
                if (_gate.Admit(_state, request, out var replaced)) _intake.Add(request);
                if (replaced is not null) _intake.TryEnd(replaced, out _);
                break;
            case Join { Acceptors: var acceptors } when acceptors != _acceptors:
            case Create { Acceptors: var named } when named != _acceptors:
                // The last acceptor of a group is excluded only with proof: by naming acceptors, one process alone could keep any other in all groups, even a silent one.
                OnAnswered(request, OperationResult.Refused($"the Oracle's leader has {_acceptors} acceptors in a group, and the request has others"));
                break;
            case Join or Leave or Renew:
                _intake.Gather(request);
                break;
            case Depart { Goodbye: true }:
                StartExcluding(request.Requester);
                _intake.Add(request);
                break;
            default:
                _intake.Add(request);
                break;
        }
    }

    public void OnLeaseAsk(int peer, in Replica from, LeaseAsk ask)
    {
        if (_log.Leading is not { } leader)
        {
            Redirect(peer, 0);
            return;
        }
        if (ask.Process.Node != from.Node) _node.Counters.Refuse(RefusalReason.WrongSender);
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
        if (!suspect.Withdrawn && !MayAccuse(observer, subject, suspect.Evidence))
        {
            _node.Counters.Refuse(RefusalReason.WrongSender);
            return;
        }
        if (!IsSettled(peer, observer)) return;
        if (suspect.Withdrawn) _detector.Withdraw(suspect.Subject, observer.Id);
        else _detector.Accuse(suspect.Subject, observer.Id, suspect.Evidence, suspect.Health);
        // All reports of this turn are weighed together: weighing with each report would cost the square of their number.
        _evidence = true;
    }

    /// <summary>
    /// A watcher of a process may report anything of it; a process that shares a group with it, what a group sees. A process that watched it until a
    /// moment ago, and was not told otherwise yet, is not needed: other watchers report the same by now.
    /// </summary>
    private bool MayAccuse(ProcessRecord observer, ProcessRecord subject, Accusation evidence) =>
        _observers.Watches(observer.Id, subject.Id, _state) || (evidence is Accusation.FlushStall or Accusation.Slow && observer.Shares(subject));

    /// <summary>
    /// Whether nothing speaks against this link being that process's. A peer that only dialled in may be anybody, two reports of a refused address are proof, and a new
    /// leader has asked for few processes so far. If not settled, the process is asked for where it is registered; it repeats its report within 500 ms.
    /// </summary>
    private bool IsSettled(int peer, ProcessRecord process)
    {
        if (peer == Outlet.Own || _node.Links.IsSettled(peer)) return true;
        _node.Links.Open(process.Address, process.Id.Node);
        return false;
    }

    /// <summary>
    /// Something was committed, or a learner took more of the log: the next step of the configuration may be allowed. The first commit of a
    /// leadership begins it here, not at the end of the turn: a flush report that only leases hold back may follow in the same turn.
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
        if (_node.Now >= _pruneAt)
        {
            _pruneAt = _node.Now + PruneEvery;
            _leases.Prune();
        }
        _progress = true;
        _announcer.Step(_state, _log);
        if (_names.Release(_state, _intake)) _log.Port.RequestTurn();
    }

    public void EndOfTurn()
    {
        // Before it is active this leader may not know everything; it decides when it begins.
        if (!Active || _log.Leading is not { } leader) return;
        if (_evidence) Decide();
        _leases.Grant(_log, _state, _excluding, _observers);
        ConfirmDecision(leader);
        if (_progress)
        {
            _keeper.Step(_log, _state);
            TellReplicas();
        }
        _progress = false;
        if (_gate.Due <= _node.Now) ReleaseFlushes();
        if (_intake.HasWork) Append(leader);
        // Everything is applied: rule A5 kept the processes that are still marked.
        else if (_excluding.Count > 0 && _log.Commit == _log.Entries.LastIndex) _excluding.Clear();
    }

    public void OnAnswered(Request request, OperationResult result)
    {
        if (_intake.TryEnd(request, out int peer)) _outlet.Reply(peer, new ResponseFrame(request.Number, ResponseStatus.Applied, result, _log.LeaderHint));
    }

    /// <summary>A request had no effect and gets no answer: its sender does not wait for one.</summary>
    public void OnIgnored(Request request) => _intake.TryEnd(request, out _);

    public void OnFailed(ProcessRecord process)
    {
        if (process.Status == ProcessStatus.Failed) _excluding.Remove(process.Id);
        _detector.OnGoing(process.Id);
        if (!Knowing) return;
        if (process.Proved)
        {
            if (_gate.OnProved(_node.Now)) _log.Port.RequestTurn();
            _names.OnProved();
        }
        _announcer.Poison(process);
    }

    public void OnProposed(GroupRecord group)
    {
        if (Knowing) _announcer.Propose(_state, group);
    }

    public void OnInstalled(GroupRecord group, IReadOnlyList<ViewMember> goers)
    {
        if (Knowing) _announcer.Install(group, goers);
    }

    public void OnOver(GroupRecord group, string reason, IReadOnlyList<ProcessId> concerned)
    {
        if (Knowing) _announcer.Over(_state, group, reason, concerned, _log);
        if (_began && _state.FindLost(group.Id) is { } lost) _names.Add(_state, lost);
    }

    private void Begin(Log.Leader leader)
    {
        _began = true;
        _leases.Begin(leader.Since, assumeLeases: _log.Term > 1);
        _names.Begin(_state);
        _told = _log.Entries.ConfigurationAt(_log.Commit);
        _announcer.Begin(_state, _log);
        _announcer.Repeat(_state);
        if (_detector.Any) Decide();
    }

    private void StartExcluding(ProcessId process)
    {
        if (!_excluding.Add(process)) return;
        _unlogged.Add(process);
        _detector.OnGoing(process);
    }

    /// <summary>Appends requests. If the log refuses an exclusion, repeated reports decide it again; until then the process is a member like others.</summary>
    private void Append(Log.Leader leader)
    {
        _intake.Append(leader, _appended, _refused);
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
        if (request.Operation is not Fail fail) return;
        foreach (var failure in fail.Failures) then(failure.Process);
    }

    private void TellReplicas()
    {
        var replicas = _log.Entries.ConfigurationAt(_log.Commit);
        if (replicas == _told) return;
        _told = replicas;
        _announcer.Replicas(_state, _log);
    }

    private void Redirect(int peer, ulong number) =>
        _outlet.Reply(peer, new ResponseFrame(number, ResponseStatus.NotLeader, OperationResult.Done, _log.Leading is null ? _log.LeaderHint : default));

    /// <summary>Whether the process is registered. An excluded process is told so; one whose registration is not applied here yet gets no answer.</summary>
    private bool Knows(int peer, ProcessId process)
    {
        if (_state.IsAlive(process)) return true;
        if (process.Incarnation <= _state.Index) _outlet.Reply(peer, new PoisonFrame(process, "the Oracle excluded this process"));
        return false;
    }

    /// <summary>Whether a flush report does not count any more, or not from this process: it must not replace one that counts.</summary>
    private bool IsOver(ProcessId from, Done done) => _node.Without != Rule.A3PendingProposalOnly
        && (_state.Find(done.Group) is not { Pending: { } pending } group || group.View.Id != done.View || pending.Number != done.Proposal || !pending.IsLedBy(from, group.View));

    /// <summary>Whether a flush report names more members than the view has: it could be held here as long as a lease lasts, for each group.</summary>
    private bool NamesMore(Done done) => _state.Find(done.Group) is { View: var view } && view.Id == done.View && done.Initialised.Count > view.Members.Count;

    private void ReleaseFlushes()
    {
        _released.Clear();
        _gate.Release(_state, _released);
        foreach (var request in _released) _intake.Add(request);
        if (_released.Count > 0) _log.Port.RequestTurn();
    }

    /// <summary>Number of processes that are not excluded, or <paramref name="most"/> where that is less.</summary>
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
        var failures = _detector.Decide(_state, alive, Needed(), MayGo);
        failures.RemoveAll(failure => _excluding.Contains(failure.Process) && !failure.Proved);
        if (failures.Count == 0 || _log.Leading is not { } leader) return;
        VoterMajority.Keep(failures, leader, _log.Entries.Configuration, _state, _excluding, _node.Id, _node.Now);
        if (failures.Count == 0) return;
        bool mass = 2 * failures.Count > alive;
        if (!confirmed && (mass || failures.Exists(static failure => !failure.Proved)))
        {
            // Silence, or very many exclusions at once, may mean that this process is cut off. Without a majority it leads on for a second, longer than it may
            // take to report silent processes; entries that it writes then would come into force when the partition heals.
            _decision ??= leader.BeginRead();
            failures.RemoveAll(failure => mass || !failure.Proved);
        }
        if (failures.Count > 0) Exclude(failures);
    }

    /// <summary>This process, if it is the only voter.</summary>
    private ProcessId Needed() => _log.Entries.Configuration.Voters.Count == 1 && _state.FindNode(_node.Id) is { } self ? self.Id : default;

    private void ConfirmDecision(Log.Leader leader)
    {
        if (leader.ConfirmedRead < _decision || _decision is null) return;
        _decision = null;
        // Reports may have been withdrawn since.
        Decide(confirmed: true);
    }

    /// <summary>Whether a majority of the voters is left without this process.</summary>
    private bool MayGo(ProcessId process)
    {
        if (_log.Leading is not { } leader) return false;
        var alone = new List<Failure> { new(process, false) };
        VoterMajority.Keep(alone, leader, _log.Entries.Configuration, _state, _excluding, _node.Id, _node.Now);
        return alone.Count > 0;
    }

    private void Exclude(List<Failure> failures)
    {
        foreach (var failure in failures) StartExcluding(failure.Process);
        for (int at = 0; at < failures.Count; at += FailuresPerEntry)
            _intake.Add(new(default, 0, 0, new Fail(failures.GetRange(at, Math.Min(FailuresPerEntry, failures.Count - at)))));
        _log.Port.RequestTurn();
    }
}
