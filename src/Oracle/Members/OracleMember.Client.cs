using GroupCore.Membership;
using GroupCore.Runtime;
using GroupCore.Transport;
using Oracle.Client;
using Oracle.Detection;
using Oracle.Frames;
using Oracle.Raft;
using Oracle.State;
using Oracle.State.Operations;
using DepartOperation = Oracle.State.Operations.Depart;
using RegisterOperation = Oracle.State.Operations.Register;

namespace Oracle;

/// <content>How this process lives with the Oracle: its start, its lease, how it blocks, and the decisions that it receives.</content>
internal sealed partial class OracleMember
{
    private const long SyncEvery = Durations.Second;
    private const long SyncApart = 100 * Durations.Millisecond;
    private const long MoreWithin = 200 * Durations.Millisecond;
    private const long AdoptAgainAfter = 5 * Durations.Second;
    private const long FreshFor = 60 * Durations.Second;
    private const int MaxOthersReported = 8;
    private const long SilenceReportedAfter = 3 * Durations.Second;

    private bool Registered => Self.Incarnation != 0;

    private void CheckClock()
    {
        long jump = _health.TakeJump(_node.Now);
        if (jump == 0) return;
        _detector.Doubt();
        _seeds.Doubt(jump);
        if (!Registered)
        {
            // One tick still counts as waiting, so that the waits end even if every turn is late.
            _bootstrap.Doubt(jump - LocalHealth.TickEvery);
            return;
        }
        _lease.Doubt(jump);
        AskLease();
        Synchronise();
    }

    private void OnTick()
    {
        _log?.Look(_node.Now - _tickDue);
        if (_health.Tick(_node.Now, _tickDue)) _detector.Late();
        if (_replica is { } replica) replica.Log.TimeoutFactor = _health.RunsLate ? _options.LateFactor : 1;
        _tickDue = _node.Now + LocalHealth.TickEvery;
        _node.SetTimer(_tickDue, this, Tick);
        if (!Registered) StepStart();
        _requests.Step();
        if (Registered) StepMember();
        if (_over) return;
        var standing = _replica is { Services.Active: true } ? LanDiscovery.Standing.Leader : _replica is { Log.IsVoter: true } ? LanDiscovery.Standing.Voter : Registered ? LanDiscovery.Standing.Member : LanDiscovery.Standing.Looking;
        _lan.Step(standing, isLost: State == MembershipState.Blocked, _sender.System);
        _detector.Step();
        _reaper.Step();
        _replica?.Services.Tick();
    }

    private void StepStart()
    {
        if (!_sender.System.IsNone && _node.Now - _adoptedAt >= AdoptAgainAfter)
        {
            // A process that became a replica before it heard of its registration belongs to the system, but all nodes of that system that it knows may be gone.
            if (_replica is null) Abandon();
            else _bootstrap.Search([.. _directory.Addresses]);
        }
        if (_sender.System.IsNone && _bootstrap.Step()) Found();
        if (_silenceReported || !_sender.System.IsNone || _node.Now - _startedAt < SilenceReportedAfter || !_bootstrap.Silent) return;
        _silenceReported = true;
        _sink?.OnMembershipState(State, $"none of the seeds answers: {string.Join(", ", _options.Seeds)}{UnknownSeeds}");
    }

    /// <summary>
    /// The adopted system has not registered this process in time: its voters may be gone, and the process that told of them may be cut off. This process begins again as at
    /// its start, and may adopt that system once more. Requests made meanwhile wait until it is registered, in whichever system.
    /// </summary>
    private void Abandon()
    {
        _sender.System = default;
        _requests.ForgetRegistration();
        _reaper.CloseAll();
        _bootstrap.Start();
        _lan.Start();
        _startedAt = _node.Now;
    }

    /// <summary>Which seeds are names that stand for no address, as the end of a sentence; empty if none is.</summary>
    internal string UnknownSeeds => _seeds.Unknown is { Length: > 0 } unknown ? $"; no address is known for {unknown}" : "";

    private bool IsSettled => _foundedAt == 0 || _node.Now - _foundedAt >= FreshFor;

    private void OnFoundOnLan()
    {
        CheckClock();
        if (!_over && !Registered && _sender.System.IsNone) _bootstrap.Discovered();
    }

    private void OnForeignSeed(NodeAddress seed)
    {
        if (!Registered) _sink?.OnMembershipState(State, $"{seed} belongs to another cluster");
    }

    private void OnSharedSeed(NodeAddress seed)
    {
        if (!Registered) _sink?.OnMembershipState(State, $"{seed} leads to this process itself, which is known as {_node.Links.Local}; if several processes share that address, let the name stand for their own");
    }

    private void StepMember()
    {
        var ask = _lease.Ask(Self, out bool unanswered);
        if (ask is not null)
        {
            if (unanswered) _directory.Doubt();
            _askedOf = _directory.Target();
            _sender.Send(_askedOf, ask);
        }
        long silence = _node.Now - _lease.Contact, isolation = _options.IsolationTimeout.Nanoseconds();
        if (State == MembershipState.Active && silence > isolation) Change(MembershipState.Blocked, "no contact with the Oracle");
        if (silence > isolation + _options.ExclusionTimeout.Nanoseconds())
        {
            EndAsExcluded("no contact with the Oracle for too long");
            return;
        }
        // The replicas known here may all have been replaced since. Then the seeds know better, or a process that has started where one of the replicas was.
        if (State == MembershipState.Blocked) _bootstrap.Search([.. _directory.Addresses, .. _detector.Addresses]);
        if (_node.Now >= _nextSync) Synchronise();
        var votes = State == MembershipState.Active && _replica is { Log.IsVoter: true } replica ? replica : null;
        if (votes is not null) ReachVoters(votes);
        if (_departure != Departure.None) StepDeparture();
        else if (votes is not null) _beacon.Step(votes.State, _directory.Replicas, _directory.Leader, IsSettled);
    }

    private void Found()
    {
        _sender.System = new(_node.Random.NextUInt64(), _node.Random.NextUInt64());
        (_adoptedAt, _foundedAt) = (_node.Now, _node.Now);
        var self = new Replica(_node.Id, _node.Links.Local);
        var replicas = new Configuration([self], []);
        _directory.Learn(replicas);
        _directory.Hint(self);
        MakeReplica().Log.Found(self);
        Register();
    }

    private void OnWhoIsOracle(int peer, WhoIsOracle ask)
    {
        _bootstrap.Asked(peer, ask.Founds);
        bool knows = Registered || _replica is not null;
        var replicas = knows ? _directory.Replicas : Configuration.Empty;
        if (!knows && !_sender.System.IsNone) return;
        _sender.Reply(peer, new OracleIs(replicas, knows ? _directory.Leader : _bootstrap.Announces ? new(_node.Id, _node.Links.Local) : default, IsSettled));
    }

    private void OnOracleIs(int peer, in Replica from, SystemId system, OracleIs answer)
    {
        if (system.IsNone)
        {
            _bootstrap.Answered(peer, answer.Leader.Node != 0);
            return;
        }
        if (Registered || _replica is not null)
        {
            if (system != _sender.System) OnOtherSystem(peer, from, system, answer);
            else if (State is MembershipState.Blocked or MembershipState.Starting) Follow(peer, from, answer);
            return;
        }
        if (answer.Replicas.Voters.Count == 0) return;
        if (system == _sender.System && answer.Leader.Node != 0)
        {
            // The process that answered first may itself have lost contact and named replicas that are dead by now.
            Follow(peer, from, answer);
            return;
        }
        // An adopted system is given time to register this process. A system that was not asked shows itself only at a vacant seed address.
        if (!_sender.System.IsNone || !(_bootstrap.Asks(peer) || _bootstrap.IsSeed)) return;
        _sender.System = system;
        _adoptedAt = _node.Now;
        _directory.Doubt();
        _directory.Learn(answer.Replicas);
        _directory.Hint(answer.Leader);
        Register();
    }

    /// <summary>A seed, a replica, or a process that listens where one was, names a leader: the leader known here has fallen silent, or was never heard.</summary>
    private void Follow(int peer, in Replica from, OracleIs answer)
    {
        if (answer.Leader.Node == 0 || !(_bootstrap.Asks(peer) || IsReplica(peer, from))) return;
        _directory.Learn(answer.Replicas);
        OnLeaderHint(answer.Leader);
    }

    private void Register() =>
        _requests.Submit(new Register(_node.Id, _node.Links.Local, _options.Tag, _options.Host, _options.ProcessNumber, _options.ProcessStart,
            _options.LeaseDuration.Nanoseconds(), _options.OwnsAddress));

    private void OnOtherSystem(SystemId other)
    {
        _node.Counters.Refuse(RefusalReason.WrongCluster);
        // Each system is reported once, and only a few are: a stranger can name any number of them.
        if (other.IsNone || !Registered || _others.Count >= MaxOthersReported || _others.Contains(other)) return;
        _others.Add(other);
        _sink?.OnMembershipState(State, $"SplitFoundation: another system of this cluster, {other}, beside {_sender.System}; frames of the other are refused");
    }

    /// <summary>
    /// Another system of the same cluster shows itself. A system of a lone process, which founded it when it could not know of the other, gives way to a larger one; and in the first minute
    /// after it was founded also to another of one process, if that is older, or as young and has the higher name. Of two larger systems
    /// neither does: each has state of its own, and neither is wrong. Every process that hears of the other system tells its user once, with both names. Giving way ends this
    /// process with all that it has, so not every sender is believed: only a seed that this process asked itself, or a replica of the other system that was reached where it
    /// listens. The other system's replicas go on telling this process who they are (<see cref="Client.SeedBeacon"/>).
    /// </summary>
    private void OnOtherSystem(int peer, in Replica from, SystemId other, OracleIs answer)
    {
        OnOtherSystem(other);
        int replicas = answer.Replicas.Voters.Count + answer.Replicas.Learners.Count;
        // Of two that may give way to each other only one does: a system that has said it is settled is no longer young.
        if (replicas == 0 || (replicas == 1 && (IsSettled || !(answer.IsSettled || _sender.System.IsBefore(other))))) return;
        if (_replica is not { Services.Alone: true }) return;
        if (_bootstrap.Asks(peer) || (answer.Replicas.Contains(from.Node) && IsConfirmed(peer, from)))
            EndAsExcluded($"SplitFoundation: this process founded {_sender.System} while {other} of the same cluster existed; it gives way");
    }

    private void OnRequest(int peer, in Replica from, Request request)
    {
        if (_replica is { } replica) replica.Services.OnRequest(peer, from, request);
        else Redirect(peer, request.Number);
    }

    private void OnLeaseAsk(int peer, in Replica from, LeaseAsk ask)
    {
        if (_replica is { } replica) replica.Services.OnLeaseAsk(peer, from, ask);
        else Redirect(peer, 0);
    }

    private void OnSuspect(int peer, in Replica from, SuspectFrame suspect)
    {
        if (_replica is { } replica) replica.Services.OnSuspect(peer, from, suspect);
        else Redirect(peer, 0);
    }

    private void Redirect(int peer, ulong number) =>
        _sender.Reply(peer, new ResponseFrame(number, ResponseStatus.NotLeader, OperationResult.Completed, _directory.Leader));

    private void OnResponse(ResponseFrame response)
    {
        if (response.Status == ResponseStatus.NotLeader)
        {
            if (response.Leader.Node == 0) _directory.Doubt();
            else OnLeaderHint(response.Leader);
            return;
        }
        _directory.Hint(response.Leader);
        if (_requests.Take(response.Number) is not { } operation) return;
        var result = response.Result;
        switch (operation)
        {
            case RegisterOperation when result.Ok: OnRegistered(result.Process); break;
            case RegisterOperation: EndAsExcluded(result.Reason); break;
            case Join join: OnJoined(join.Name, result); break;
            case Create create: OnJoined(create.Name, result); break;
            case DepartOperation { Goodbye: true }: End("left"); break;
            case DepartOperation: OnDeparting(); break;
            case Leave leave when result.Group == leave.Group: _groups.GiveUp(leave.Group); break;
        }
    }

    /// <summary>The Oracle takes this process out of its groups. For groups that it only waited to join, no view will say so; it leaves those itself.</summary>
    private void OnDeparting()
    {
        _departure = Departure.Leaving;
        foreach (var group in _groups.Awaited()) _requests.Submit(new Leave(group));
    }

    private void OnRegistered(ProcessId self)
    {
        if (self.Node != _node.Id || Registered) return;
        Self = self;
        _requests.Self = self;
        _lease.Begin();
        _nextSync = _node.Now + SyncEvery;
        Change(MembershipState.Active, "registered");
        AskLease();
        _requests.Resend();
    }

    private void OnJoined(string name, OperationResult result)
    {
        if (!result.Ok)
        {
            _sink?.OnJoinRefused(name, result.Reason);
            return;
        }
        _groups.Accepted(result.Group);
        _sink?.OnJoinAccepted(name, result.Group);
        // When the answer to the departure came, this process did not know of this group yet. Perhaps no view will say that it left, so it leaves the group itself.
        if (_departure == Departure.Leaving) _requests.Submit(new Leave(result.Group));
    }

    private void AskLease()
    {
        if (_directory.IsEmpty) return;
        _askedOf = _directory.Target();
        _sender.Send(_askedOf, _lease.AskNow(Self));
    }

    private void OnLeaseGrant(in Replica from, LeaseGrant grant)
    {
        // A lease, with the current replicas, is taken from the node that was asked last or from any other voter. The other voter may have been asked before, and only a leader
        // that the voters confirm grants leases.
        if (!Registered || (from.Node != _askedOf.Node && !_directory.MayLead(from.Node)) || !_lease.Take(grant)) return;
        if (_directory.Leader.Node == 0) _directory.Hint(from);
        _detector.Trust();
        _directory.Learn(grant.Replicas);
        if (grant.Subjects is { } subjects)
        {
            _lease.Version = grant.Version;
            _detector.Assign(subjects);
        }
        if (State == MembershipState.Blocked && _node.Now - _lease.Contact <= _options.IsolationTimeout.Nanoseconds())
        {
            Change(MembershipState.Active, "contact with the Oracle again");
            Synchronise();
        }
    }

    private void OnLeaderHint(in Replica leader)
    {
        if (!_directory.Hint(leader)) return;
        _requests.Resend();
        _detector.SendSuspicions();
        if (Registered) AskLease();
    }

    private void OnRoleChanged()
    {
        _turnWanted = true;
        if (_replica is not { } replica || replica.Log.LeaderHint.Node == 0) return;
        if (replica.Log.HearsLeader) _asked.Clear();
        OnLeaderHint(replica.Log.LeaderHint);
    }

    /// <summary>
    /// A replica learns the replicas from its own log: what the leader last said may be older, and the leader may be gone.
    /// </summary>
    private void LearnReplicas()
    {
        if (_replica is not { Log: { } log } replica || log.Commit == _learned) return;
        _learned = log.Commit;
        var replicas = log.Entries.ConfigurationAt(log.Commit);
        _directory.Learn(replicas);
        if (replicas == _reached) return;
        _reached = replicas;
        // Each voter has to be believed at once when it asks for votes, or leads, so it is dialled in advance. An excluded voter votes until it is replaced, but its link is
        // closed.
        foreach (var voter in replicas.Voters)
            if (voter.Node != _node.Id && replica.State.FindNode(voter.Node) is { Alive: true }) _node.Links.Open(voter.Address, voter.Node);
    }

    /// <summary>
    /// When the leader dies, the votes of the other voters have to count at once, so each is dialled in advance or introduced by others. A voter that is gone is not asked for:
    /// that would turn the link to whatever process listens there now into a link to the old voter again.
    /// </summary>
    private void ReachVoters(OracleReplica replica)
    {
        foreach (var voter in replica.Log.Entries.Configuration.Voters)
            if (voter.Node != _node.Id && replica.State.FindNode(voter.Node) is { Alive: true }) IsConfirmed(_node.Links.Open(voter.Address, voter.Node), voter);
    }

    private void Synchronise()
    {
        (_synchronised, _syncWanted) = (_node.Now, false);
        _nextSync = _node.Now + SyncEvery + _node.Random.Next(0, SyncEvery / 4);
        if (_directory.IsEmpty) return;
        var to = _directory.Any(except: _unanswered);
        _unanswered = to.Node;
        _sender.Send(to, new SyncAsk(Self, _groups.Known()));
        if (_moreWithin > 0) _node.SetTimer(_node.Now + _moreWithin, this, Ask);
    }

    /// <summary>The node that was asked for the rest does not answer. It may be dead, or its link may only be slow, so each further question gets twice the time.</summary>
    private void AskAnother()
    {
        _moreWithin *= 2;
        Synchronise();
    }

    private void OnGone(ulong gone)
    {
        if (_replica is { } replica)
        {
            _vacant.RemoveAll(old => old == gone || !replica.Knows(old));
            if (replica.Knows(gone)) _vacant.Add(gone);
            replica.Log.Lost(gone);
        }
        if (_directory.Leader.Node == gone) _directory.Doubt();
    }

    private void OnSyncAnswer(in Replica from, SyncAnswer answer)
    {
        // Only a leader's own word counts: another replica may name a deposed leader. A leader that is not known here as a voter yet becomes known through the voters.
        if (answer.Leader == from && _directory.MayLead(from.Node))
        {
            _directory.Learn(answer.Replicas);
            OnLeaderHint(from);
        }
        foreach (var group in answer.Over)
        {
            if (!_groups.End(group)) continue;
            _requests.Forget(group);
            _sink?.OnGroupOver(group, answer.Reason);
        }
        bool asked = from.Node == _unanswered;
        // The next answer may take as long as this one, over a slow link: ask another node only after twice that time.
        if (asked) (_unanswered, _moreWithin) = (0, answer.More ? Math.Max(MoreWithin, 2 * (_node.Now - _synchronised)) : 0);
        if (answer.More && Registered && _unanswered == 0) AskSoon();
    }

    private void OnPropose(Proposal proposal)
    {
        if (!Registered) return;
        bool concerned = proposal.Survivors.Contains(Self) || proposal.Leavers.Contains(Self);
        foreach (var joiner in proposal.Joiners) concerned |= joiner.Id == Self;
        if (!_groups.TakePropose(proposal, concerned)) return;
        foreach (var failed in _groups.FailedOf(proposal)) _detector.Excluding(failed);
        _sink?.OnPropose(proposal);
    }

    private void OnInstall(View view)
    {
        if (!Registered || !_groups.TakeInstall(view, Self)) return;
        foreach (var failed in view.Failed) _detector.Excluded(failed);
        _requests.Forget(view.Group, view.Id);
        _sink?.OnInstall(view);
    }

    private void StepDeparture()
    {
        if (_departure != Departure.Leaving || _groups.Count > 0) return;
        // A copy of the log that hears no leader may be out of date: then the replicas that the last lease named count.
        var replicas = _replica?.Log is { HearsLeader: true } log ? log.Entries.ConfigurationAt(log.Commit) : _directory.Replicas;
        // The leases say which processes to watch, but only some time after those registered, so the state is asked too.
        bool alone = _detector.IsAlone && _replica is { Services.Alone: true } own && own.Log.Entries.Configuration is { Voters.Count: 1 } latest && latest.IsVoter(_node.Id);
        if ((replicas.IsVoter(_node.Id) || _replica?.Log.Leading is { Transferring: true }) && !alone) return;
        _departure = Departure.Goodbye;
        if (alone) End("left");
        else _requests.Submit(new Depart(true));
    }

    private void Change(MembershipState state, string reason)
    {
        if (State == state) return;
        State = state;
        _sink?.OnMembershipState(state, reason);
    }

    /// <summary>This process is excluded. Once its groups have stopped it says so itself, which spares the other processes the wait for its lease.</summary>
    private void EndAsExcluded(string reason)
    {
        if (_over) return;
        if (_departure == Departure.Goodbye)
        {
            // This process has said goodbye itself; the answer is on its way.
            End("left");
            return;
        }
        var target = _directory.IsEmpty ? default : _directory.Target();
        var (self, registered) = (Self, Registered);
        End(reason);
        if (registered && target.Node != 0 && target.Node != _node.Id) _sender.Send(target, new RequestFrame(new(self, ulong.MaxValue, 0, new Depart(true))));
    }

    private void End(string reason)
    {
        _lease.End();
        _requests.Clear();
        _groups.Clear();
        _lan.End();
        Change(MembershipState.Excluded, reason);
        _over = true;
    }
}
