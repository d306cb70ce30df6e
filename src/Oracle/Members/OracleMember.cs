using GroupCore.Membership;
using GroupCore.Runtime;
using GroupCore.Transport;
using GroupCore.Wire;
using Oracle.Client;
using Oracle.Detection;
using Oracle.Frames;
using Oracle.Raft;
using Oracle.State.Operations;

namespace Oracle;

/// <summary>
/// Membership in one process: finds or founds the system, registers, keeps the lease, watches others, carries requests to the Oracle and its
/// decisions to the group layer; and hosts a copy of the Oracle when this process is one of its replicas.
/// </summary>
/// <remarks>
/// States: <see cref="MembershipState.Starting"/> until registered, then <see cref="MembershipState.Active"/>;
/// <see cref="MembershipState.Blocked"/> after 3 s without an answer of a leader that a majority confirms, Active again with the next answer;
/// <see cref="MembershipState.Excluded"/> when excluded, when it has left, or after 60 s of being blocked: this life is over, a later one needs another node.
/// Created before the node's group layer, so that frames caused by what it delivers at the end of a turn still leave with that turn.
/// Source: oracle.md#without-contact-a-process-blocks-then-ends, #a-replica-is-believed-over-a-confirmed-link-only.
/// </remarks>
internal sealed partial class OracleMember : IMembership, IFrameHandler, ITimerTarget, ILinkObserver, ITurnParticipant
{
    private const long Tick = 0;
    private const long Kick = 1;
    private const long Due = 2;
    private const long Ask = 3;
    private const int RoundsPerTurn = 64;
    private readonly INode _node;
    private readonly OracleOptions _options;
    private readonly FrameSender _sender;
    private readonly OracleDirectory _directory;
    private readonly Bootstrap _bootstrap;
    private readonly PendingRequests _requests;
    private readonly LeaseHolder _lease;
    private readonly KnownGroups _groups = new();
    private readonly FailureDetector _detector;
    private readonly SeedList _seeds;
    private readonly SeedBeacon _beacon;
    private readonly LanDiscovery _lan;
    private readonly Introductions _introductions;
    private readonly LinkReaper _reaper;
    private readonly List<SystemId> _others = [];

    // Nodes that claim to be replicas, that no known replica has named, and that this process dials to find out.
    private readonly List<ulong> _asked = [];

    // Replicas at whose address no process was when it was dialled.
    private readonly List<ulong> _vacant = [];
    private readonly LocalHealth _health = new();
    private IMembershipSink? _sink;
    private MembershipLog? _log;
    private OracleReplica? _replica;
    private Replica _askedOf;
    private TimerHandle _due;
    private long _dueAt = long.MaxValue;
    private ulong _learned;
    private Configuration _reached = Configuration.Empty;
    private long _tickDue;
    private long _nextSync;
    private long _synchronised;

    // The node that was last asked for missing views and proposals, until it answers. And how long to wait for an answer, while more is known to be missing.
    private ulong _unanswered;
    private long _moreWithin;
    private long _startedAt;
    private long _adoptedAt;
    private long _foundedAt;
    private bool _started, _over, _kicked, _syncWanted, _turnWanted, _silenceReported;
    private Departure _departure;

    /// <summary>Attaches membership to a node that has not begun to run.</summary>
    /// <exception cref="InvalidOptionException">An option is out of range.</exception>
    public OracleMember(INode node, OracleOptions options)
    {
        ArgumentNullException.ThrowIfNull(node);
        ArgumentNullException.ThrowIfNull(options);
        options.Validate();
        (_node, _options) = (node, options);
        _sender = new(node);
        _directory = new(node) { Heard = () => _replica is { Log: { HearsLeader: true } log } ? log.LeaderHint : default };
        _seeds = new(node, options);
        _bootstrap = new(node, options, _seeds, _sender) { OnForeign = OnForeignSeed, OnShared = OnSharedSeed };
        _beacon = new(node, _seeds, _sender);
        _lan = new(node, options, _seeds) { OnFound = OnFoundOnLan };
        _introductions = new(node, _sender, _directory);
        _reaper = new(node, options);
        _requests = new(node, _sender, _directory) { Self = Self };
        _lease = new(node, options);
        _detector = new(node, options, _sender, _directory, _introductions) { OnGone = OnGone, OnDropped = _reaper.OnDropped };
        _reaper.OnClosing = _detector.OnClosing;
        Self = new(node.Id, 0);
        node.Route(FrameType.Ping, FrameType.IndirectPong, this);
        node.Route(FrameType.Propose, FrameType.Install, this);
        node.Route(FrameType.Sync, FrameType.Excluded, this);
        node.Route(FrameType.PreVote, FrameType.OracleIs, this);
        node.Observe(this);
        node.AtEndOfTurn(this);
    }

    private enum Departure
    {
        None,
        Asked,
        Leaving,
        Goodbye,
    }

    /// <inheritdoc/>
    public ProcessId Self { get; private set; }

    /// <inheritdoc/>
    public MembershipState State { get; private set; }

    /// <inheritdoc/>
    public long LeaseUntil => _over || _health.HasJumped(_node.Now) ? 0 : _lease.Until;

    /// <summary>The voters, as far as this process knows. On any thread.</summary>
    internal IReadOnlyList<Replica> Voters => _directory.Replicas.Voters;

    /// <summary>The leader, as far as this process knows; node 0 while unknown.</summary>
    internal Replica Leader => _directory.Leader;

    /// <summary>The copy of the Oracle in this process, if it has one.</summary>
    internal OracleReplica? Replica => _replica;

    /// <summary>Called with the copy of the Oracle when this process gets one; for checkers.</summary>
    internal Action<OracleReplica>? OnReplica { get; set; }

    /// <summary>Whether this process is not registered and cannot be: all seeds belong to another cluster.</summary>
    internal bool Stranded => !Registered && _sender.System.IsNone && _bootstrap.Stranded;

    /// <summary>Number of nodes dialled because they claim to be replicas, though no known replica has named them; for checks.</summary>
    internal int AskedFor => _asked.Count;

    /// <summary>Number of processes over whose links others may be probed; for checks.</summary>
    internal int Reached => _detector.Reached;

    /// <summary>The system to which this process belongs.</summary>
    internal SystemId System => _sender.System;

    /// <inheritdoc/>
    public void Attach(IMembershipSink sink) => _sink = _node.Log.IsOn ? _log = new(_node, this, sink) : sink;

    /// <summary>Begins to look for the system. Called once, inside a turn or before the node runs.</summary>
    public void Start()
    {
        if (_started) throw new InvalidOperationException("Membership of this node was started already.");
        _started = true;
        _startedAt = _node.Now;
        _health.Begin(_node.Now);
        _bootstrap.Start();
        _lan.Start();
        _tickDue = _node.Now;
        _node.SetTimer(_tickDue, this, Tick);
    }

    /// <summary>
    /// Leaves for good: the Oracle takes this process out of all groups and, once a successor votes, out of its voters; then the state is
    /// <see cref="MembershipState.Excluded"/>. If no node answers, that never happens: bound the wait.
    /// </summary>
    public void Depart()
    {
        if (_over || _departure != Departure.None) return;
        if (Self.Incarnation == 0)
        {
            End("left before it was registered");
            return;
        }
        _departure = Departure.Asked;
        _requests.Submit(new Depart(false));
        Wake();
    }

    /// <inheritdoc/>
    public void OnFrame(int peer, in FrameHeader header, ReadOnlySpan<byte> body)
    {
        if (!_started || _over) return;
        CheckClock();
        ulong nodeId = _node.Links.NodeIdOf(peer);
        if (nodeId == 0)
        {
            _node.Counters.Refuse(RefusalReason.WrongSender);
            return;
        }
        Handle(peer, _directory.NameOf(nodeId, _node.Links.AddressOf(peer)), header.Type, body);
    }

    /// <inheritdoc/>
    public void OnLinkUp(int peer)
    {
        if (_over) return;
        // Others may have dialled before this member began.
        _detector.OnLinkUp(peer);
        if (!_started) return;
        _beacon.OnUp(peer);
        _reaper.OnUp(peer);
    }

    /// <inheritdoc/>
    public void OnLinkFault(int peer, LinkFault fault)
    {
        if (_over) return;
        if (!_started)
        {
            _detector.OnClosing(peer);
            return;
        }
        CheckClock();
        _bootstrap.OnFault(peer, fault);
        if (fault == LinkFault.Replaced && State == MembershipState.Blocked) _bootstrap.Replaced(peer);
        _beacon.OnFault(peer, fault);
        // The connection may be up although a probe of the listener fails.
        if (fault is not (LinkFault.Refused or LinkFault.Unreachable)) _introductions.OnFault(peer);
        _detector.OnFault(peer, fault);
        _reaper.OnFault(peer, fault);
        ArmDue();
    }

    /// <inheritdoc/>
    public void OnTimer(long token)
    {
        if (_over) return;
        switch (token)
        {
            case Tick:
                CheckClock();
                OnTick();
                break;
            case Due:
                _dueAt = long.MaxValue;
                _detector.LookAgain();
                break;
            case Kick:
                _kicked = false;
                break;
        }
    }

    /// <inheritdoc/>
    public void EndOfTurn()
    {
        if (!_started || _over) return;
        if (_syncWanted && _node.Now >= _synchronised + SyncApart) Synchronise();
        else if (_moreWithin > 0 && _node.Now >= _synchronised + _moreWithin) AskAnother();
        int rounds = 0;
        do
        {
            _turnWanted = false;
            while (_sender.TryTakeOwn(out var type, out byte[] body)) Handle(FrameSender.Own, new(_node.Id, _node.Links.Local), type, body);
            if (_over) return;
            _replica?.Services.EndOfTurn();
            _replica?.Log.EndOfTurn();
            LearnReplicas();
        }
        while ((_turnWanted || _sender.HasOwn) && ++rounds < RoundsPerTurn);
        if (_turnWanted || _sender.HasOwn) Wake();
        ArmDue();
    }

    private void Handle(int peer, in Replica from, FrameType type, ReadOnlySpan<byte> body)
    {
        if (!FrameCodec.TryRead(type, body, out var system, out var frame))
        {
            _node.Counters.Refuse(RefusalReason.Malformed);
            return;
        }
        switch (frame)
        {
            case WhoIsOracle ask: OnWhoIsOracle(peer, ask); return;
            case OracleIs answer: OnOracleIs(peer, from, system, answer); return;
        }
        if (system != _sender.System || system.IsNone)
        {
            OnOtherSystem(system);
            return;
        }
        if (peer != FrameSender.Own) _detector.Heard(from.Node);
        if (!MayTell(peer, from, frame))
        {
            _node.Counters.Refuse(RefusalReason.WrongSender);
            return;
        }
        switch (frame)
        {
            case ProbeFrame { Answer: false } ping:
                _introductions.OnNumber(peer, ping.Number);
                _detector.OnPing(peer, ping);
                break;
            case ProbeFrame: _detector.OnPong(from.Node); break;
            case IndirectProbeFrame { Answer: false } request: _detector.OnIndirectPing(peer, request); break;
            case IndirectProbeFrame answer: _detector.OnIndirectPong(answer); break;
            case RequestFrame request: OnRequest(peer, from, request.Request); break;
            case ResponseFrame response: OnResponse(response); break;
            case LeaseAsk ask: OnLeaseAsk(peer, from, ask); break;
            case LeaseGrant grant: OnLeaseGrant(from, grant); break;
            case SuspectFrame suspect: OnSuspect(peer, from, suspect); break;
            case SyncAsk ask: _replica?.OnSync(peer, from, ask); break;
            case SyncAnswer answer: OnSyncAnswer(from, answer); break;
            case ProposeFrame propose: OnPropose(propose.Proposal); break;
            case InstallFrame install: OnInstall(install.View); break;
            case ExcludedFrame excluded when excluded.Process == Self: EndAsExcluded(excluded.Reason); break;
            case ExcludedFrame: _node.Counters.Refuse(RefusalReason.Unexpected); break;
            case AppendRequest or SnapshotChunk:
                MakeReplica().Log.OnFrame(from, frame);
                break;
            default: _replica?.Log.OnFrame(from, frame); break;
        }
    }

    /// <summary>
    /// Whether this node may send this frame. Decisions come from replicas (<see cref="IsReplica"/>); a replica that is not known here is believed once a known one has named
    /// it. While the log hears no leader it also takes frames of nodes that no replica has named (<see cref="MayJoinLog"/>): a replica that was cut off may know none of its
    /// fellow voters. A node that asks the log for something, and does not only answer, has to be confirmed (<see cref="IsConfirmed"/>), since what it appends is applied and
    /// told to others. So has a node that answers in the name of a replica at whose address no process was: with the word of a dead voter, two other voters that do not hear
    /// each other would both lead.
    /// </summary>
    private bool MayTell(int peer, in Replica from, IFrame frame) => frame switch
    {
        ProposeFrame or InstallFrame or ExcludedFrame or SyncAnswer or LeaseGrant or ResponseFrame => IsReplica(peer, from),
        VoteRequest or AppendRequest or SnapshotChunk or TimeoutNow => IsOfLog(from) && (peer == FrameSender.Own || IsConfirmed(peer, from)),
        VoteReply or AppendReply or SnapshotAck => IsOfLog(from) && (!_vacant.Contains(from.Node) || IsConfirmed(peer, from)),
        // An answer from a node that was not asked could keep a frozen process in the system for any time.
        IndirectProbeFrame { Answer: true } => _detector.Asks(from.Node) && _node.Links.IsSettled(peer),
        _ => true,
    };

    /// <summary>
    /// Whether the other end of a link really is a replica, or the leader, that is known here, and does not only claim to be: some decisions of replicas cannot be taken back.
    /// </summary>
    private bool IsReplica(int peer, in Replica from) => peer == FrameSender.Own || (_directory.Knows(from.Node) && IsConfirmed(peer, from));

    private bool IsOfLog(in Replica from) => from.Node == _node.Id || _directory.Knows(from.Node) || _replica is { } replica && (replica.Knows(from.Node) || MayJoinLog(from, replica));

    /// <summary>
    /// Whether a node that no replica has named may have become a replica. A registered process at its own address may. So may any node, once this process has had no answer of
    /// a leader for so long that it believes any node that answers its search.
    /// </summary>
    private bool MayJoinLog(Replica from, OracleReplica replica) =>
        !replica.Log.HearsLeader && (State != MembershipState.Active || (replica.State.FindNode(from.Node) is { Alive: true } process && process.Address == from.Address));

    /// <summary>
    /// The one rule for whether a node is the replica that it claims to be. It is if this process reached it by dialling that replica's address, or if the process that listens
    /// there says that the session is its own (<see cref="ILinks.IsConfirmed"/>); both hold when the link is made again, whichever side dials then. It also is if it cannot be
    /// dialled from here but other voters can, and introduce it (<see cref="Introductions"/>). A node that only dialled in is asked for in both ways. Nothing that it said
    /// meanwhile is lost: it repeats that, or this process asks every second.
    /// </summary>
    private bool IsConfirmed(int peer, in Replica from)
    {
        if (_node.Links.IsConfirmed(peer) || _introductions.Has(peer)) return true;
        // Any number of strangers may claim to be replicas. Of those that no known replica has named, only a few are asked for.
        bool named = _directory.Knows(from.Node) || _replica?.Knows(from.Node) == true;
        if (!named && !_asked.Contains(from.Node))
        {
            if (_asked.Count >= Limits.Replicas) return false;
            _asked.Add(from.Node);
        }
        _node.Links.Open(from.Address, from.Node);
        if (named) _introductions.Ask(peer, from.Node);
        return false;
    }

    private OracleReplica MakeReplica()
    {
        if (_replica is { } existing) return existing;
        _replica = new(_node, _options, _sender, () => _turnWanted = true, OnRoleChanged) { IsIntroduced = _introductions.HasNode, OnExcluded = _detector.Excluding };
        OnReplica?.Invoke(_replica);
        return _replica;
    }

    /// <summary>Makes sure that a turn follows, in which queued frames leave.</summary>
    private void Wake()
    {
        if (_kicked) return;
        _kicked = true;
        _node.SetTimer(_node.Now, this, Kick);
    }

    private void ArmDue()
    {
        long due = Math.Min(_replica?.Services.Due ?? long.MaxValue, _detector.Due);
        if (due >= _dueAt || due == long.MaxValue) return;
        _node.CancelTimer(_due);
        _dueAt = due;
        _due = _node.SetTimer(due, this, Due);
    }
}
