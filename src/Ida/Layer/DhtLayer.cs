using System.Buffers;
using GroupCore.Groups;
using GroupCore.Groups.Shared;
using GroupCore.Membership;
using GroupCore.Runtime;
using Ida.Coordination;
using Ida.Maps;
using Ida.Messages;
using Ida.Ordering;
using Ida.Placement;
using Ida.Shared;
using Ida.Transfer;
using Ida.ViewChange;

namespace Ida;

/// <summary>
/// The DHT of one member, as a layer above its group: it connects the parts, leads them through view changes, and routes frames.
/// Source: dht-view-change.md#the-normal-case, #the-first-view-change-counts.
/// </summary>
/// <remarks>
/// A member takes part from the first view change to which it contributes: a process that joins with a view has no contribution to it, so it
/// attaches, asks for a view with the same members, and is admitted there. Life: waiting (enabled, the DHT not founded or this member not
/// admitted) → serving → over (depopulated, closed, excluded). Between wedge and install nothing is proposed, executed or answered, and
/// the contribution is written once. After the install the decided puts are applied first, then slots are taken, transfers begin, and
/// callers' operations are issued again. A leaving member goes on until another member has what it holds (.Leaving).
/// </remarks>
internal sealed partial class DhtLayer : IGroupLayer, IOperationTaker, ITimerTarget
{
    private const long TickNanoseconds = 5_000_000, LeaveLimit = 1, EnableLimit = 2, CutTurn = 3;
    private const int WhoWantRoom = 3;
    private readonly RoomTurns _roomTurns = new(WhoWantRoom);
    private readonly DhtState _state;
    private readonly DhtSender _send;
    private readonly DhtMessages _messages;
    private readonly Participant _participant;
    private readonly CommitGarbageCollection _collection;
    private readonly StateSource _source;
    private readonly StateSink _sink;
    private readonly DhtConfig _config;
    private ulong _incarnation, _admitted;
    private readonly TimerHandle _enableLimit;
    private int _enabled = -1;
    private bool _ticking;

    // What the contribution to the view change under way says; null: none was written.
    private (bool Enabled, bool Leaving)? _contributed;

    public DhtLayer(IGroupPort port, DhtOptions options, DeclaredMaps maps, long clockOffset)
    {
        int shards = options.Validate();
        _config = new(options.ShardSize, options.TargetSize, maps.HashName);
        Shards = shards;
        Places = new(options, shards);
        Node = port.Node;
        _state = new(port, options, maps, new(clockOffset)) { Session = SessionId.Of(port.Self, port.Node.Random.NextUInt64()) };
        _send = new(_state);
        _messages = new(_state, _send, Places);
        _participant = new(_state, _messages);
        _collection = new(_state, _send, _participant);
        _source = new(_state, _send, _participant);
        _sink = new(_state, _send, _participant);
        (_participant.CommitGarbageCollection, _participant.Late.Sink) = (_collection, _sink);
        Coordinator = new(_state, _messages, _participant, _collection);
        (_messages.Participant, _messages.Coordinator) = (_participant, Coordinator);
        Watch = new(_state, Coordinator, _participant);
        if (options.Member.EnableTimeout != Timeout.InfiniteTimeSpan) _enableLimit = Node.SetTimer(Node.Clock() + (long)options.Member.EnableTimeout.TotalNanoseconds, this, EnableLimit);
    }

    public INode Node { get; }

    public Coordinator Coordinator { get; }

    public DhtWatch Watch { get; }

    public int Shards { get; }

    /// <summary>Where keys lie.</summary>
    public KeyPlaces Places { get; }

    public string GroupName => _state.GroupName;

    /// <summary>Whether this DHT has ended here.</summary>
    public bool IsOver => Ended is not null;

    /// <summary>Why this DHT has ended here, else null.</summary>
    public Exception? Ended { get; private set; }

    public DhtCounters Counters => _state.Counters;

    /// <summary>The state of this member's part; for the loop only.</summary>
    public DhtState State => _state;

    public Participant Participant => _participant;

    /// <summary>This member's side of a transfer, as the source and as a newcomer.</summary>
    internal StateSource Source => _source;

    internal StateSink Sink => _sink;

    /// <summary>Identifies the DHT of the group: the view in which it was founded; 0 before.</summary>
    internal ulong Incarnation => _incarnation;

    /// <summary>Called inside a turn when this member is admitted to the founded DHT, refused, or the DHT is over.</summary>
    public IDhtEvents? Events { get; set; }

    /// <summary>Takes a caller's operation from a command. The group calls nothing after a command, so its effects are handled here.</summary>
    public void Start(ClientOperation op)
    {
        Coordinator.Start(op);
        AfterCommand();
    }

    /// <summary>A caller gives up.</summary>
    public void Cancel(ClientOperation op)
    {
        Coordinator.Cancel(op);
        AfterCommand();
    }

    private void AfterCommand()
    {
        _messages.Drain();
        if (NeedsTick) Tick();
    }

    public void OnWedged(Proposal proposal) => _state.Wedged = true;

    public void Contribute(IBufferWriter<byte> into)
    {
        _contributed = (!IsOver, IsLeaving);
        bool member = _state.Map is not null && _state.Slot >= 0;
        var contribution = new Contribution
        {
            Config = _config,
            Maps = _state.Maps.Set,
            Enabled = !IsOver,
            Session = _state.Session,
            Incarnation = member ? _incarnation : 0,
            Admitted = _admitted,
            Slot = member ? _state.Slot : -1,
            Initialised = member && _state.Initialised,
            Leaving = IsLeaving,
            Physical = _state.Clock.Physical(Node.Now),
            Committed = _state.Clock.ToldCommitted(Node.Now),
        };
        if (member) _participant.Contribute(contribution.Unsettled);
        contribution.Write(into);
    }

    public void OnInstalled(View view, IReadOnlyList<LayerContribution> contributions)
    {
        _state.Wedged = false;
        var contributed = _contributed;
        _contributed = null;
        if (IsOver)
        {
            // This part ended after it had contributed that it goes on, so it may have a slot in this view. A view that it asked for during the flush was not granted.
            if (contributed is { Enabled: true }) _state.Port.RequestView();
            return;
        }
        if (contributed is not { } said)
        {
            // Attached during a flush, or to the current view: the next view change is the first to count.
            (_state.Rank, _state.View) = (_state.Port.Rank, view.Id);
            _state.Port.RequestView();
            return;
        }
        Install(Decision.Decide(contributions, view, _state.Rules), view);
        if (IsLeaving && !IsOver && !said.Leaving) _state.Port.RequestView();
        _messages.Drain();
        Tick();
    }

    public void OnBlocked(bool blocked)
    {
        _state.Blocked = blocked;
        if (blocked || IsOver || !_state.Acts) return;
        _participant.Retry();
        _messages.Drain();
    }

    /// <summary>A member's link has room again: waiting answers, operations and state take turns in going first (<see cref="RoomTurns"/>).</summary>
    public void OnRoom(int rank)
    {
        if (IsOver || !_state.Acts) return;
        int first = _roomTurns.Next(rank);
        for (int i = first; i < first + WhoWantRoom; i++)
        {
            switch (i % WhoWantRoom)
            {
                case 0: _messages.OnRoom(rank); break;
                case 1: Coordinator.OnRoom(); break;
                default: _source.OnRoom(rank); break;
            }
        }
        _messages.Drain();
        if (!_ticking && NeedsTick) Tick();
    }

    public void EndOfTurn()
    {
        if (IsOver || !_state.Acts) return;
        TakeArrived();
        _messages.Drain();
        _collection.Flush(all: false);
        _sink.Ask();
        if (!_ticking && NeedsTick) Tick();
    }

    public void OnOver(Exception reason) =>
        EndWith(reason is NodeFaultedException ? reason : new NotDhtMemberException("This process is no longer a member of the group: " + reason.Message, reason));

    public void OnTimer(long token)
    {
        if (token != 0)
        {
            if (IsOver) return;
            if (token == CutTurn) CopyOn();
            else if (token == LeaveLimit) LeaveAsItIs();
            else if (_incarnation == 0) GiveUpEnabling();
            return;
        }
        _ticking = false;
        if (IsOver) return;
        Coordinator.Tick(Node.Now);
        _participant.Slice.LimitSome();
        if (_state.Acts)
        {
            if (_participant.Reads.HasWaits) _participant.Retry();
            _collection.Flush(all: true);
            _source.Tick();
            TakeArrived();
        }
        _messages.Drain();
        if (NeedsTick) Tick();
    }

    private bool NeedsTick => Coordinator.HasWork || _participant.Records.Oldest is not null || _participant.Reads.HasWaits || _collection.HasNews || _source.HasWork || _participant.Late.HasArrived || _participant.Slice.Table.IsLimiting;

    private void Tick()
    {
        if (_ticking) return;
        _ticking = true;
        Node.SetTimer(Node.Now + TickNanoseconds, this, 0);
    }

    private void Install(Decision decision, View view)
    {
        if (decision.Refusal(_state.Port.Self) is { } difference)
        {
            bool mayHaveSlot = _state.Map is not null;
            EndWith(new DhtConfigurationException($"Options or declarations do not fit those of the DHT in this group: {difference}."));
            // A member that is refused keeps its slot in the decision: its shard would wait for it in this view.
            if (mayHaveSlot) _state.Port.RequestView();
            return;
        }
        if (decision.Kind == DecisionKind.Waiting && _state.Map is not null)
        {
            // No contribution names the old slots, not even this member's: they would be used with the ranks of another view.
            EndWith(new NotDhtMemberException("No contribution of the DHT's members at the view change could be read."));
            return;
        }
        if (decision.Kind == DecisionKind.Waiting)
        {
            if (_admitted == 0) _admitted = view.Id;
            (_state.Rank, _state.View) = (_state.Port.Rank, view.Id);
            _enabled = decision.Enabled;
            return;
        }
        if (decision.Kind == DecisionKind.Depopulated)
        {
            if (IsLeaving) EndWith(Closed());
            else if (_state.Map is not null) EndWith(new ShardDepopulatedException(decision.DepopulatedShard, view.Id));
            else _state.Port.RequestView();
            return;
        }
        _source.Close();
        if (!_state.Rules.SnapshotAfterDecision) OpenSnapshot(decision, view);
        _participant.ApplyDecision(decision);
        TakeSlot(decision, view);
        if (IsOver) return;
        if (_state.Rules.SnapshotAfterDecision) OpenSnapshot(decision, view);
        Watch.OnServing(decision.Founded, view, Shards);
        if (!_state.Initialised && _state.Map!.Source(_state.Shard) is >= 0 and var source) AskForState(_state.Map.RankOfSlot(source));
        Coordinator.BeginView();
        Events?.OnServing();
        Events?.OnInitialised(_state.Initialised);
    }

    private void AskForState(int rank)
    {
        Watch.OnTransfer(rank);
        _sink.Begin(rank);
    }

    private void TakeSlot(Decision decision, View view)
    {
        var map = new ShardMap(decision.Slots, Shards, view);
        int slot = map.SlotOfRank(_state.Port.Rank);
        if (slot < 0)
        {
            EndWith(IsLeaving ? Closed() : new NotDhtMemberException("The other members founded the DHT without this process."));
            return;
        }
        bool initialised = map.IsInitialised(slot), sameShard = _state.Shard == map.ShardOfSlot(slot) && _incarnation == decision.Incarnation;
        if (!sameShard)
        {
            _participant.DropSlice();
            _sink.Forget();
        }
        if (_admitted == 0) _admitted = view.Id;
        _incarnation = decision.Incarnation;
        (_state.Map, _state.View, _state.Rank) = (map, view.Id, _state.Port.Rank);
        (_state.Slot, _state.Shard, _state.Initialised) = (slot, map.ShardOfSlot(slot), initialised);
        if (_state.Rules.OnlyAgreedMaps) _state.Maps.Take(decision.Maps);
        _state.SessionOfRank = new UInt128[view.Members.Count];
        for (int rank = 0; rank < view.Members.Count; rank++)
            if (map.SlotOfRank(rank) >= 0) _state.SessionOfRank[rank] = decision.SessionOf(view.Members[rank].Id);
        _participant.Sessions.Update(decision.Sessions, view.Id, initialised, _participant.Admission.MostLostBytes);
        _collection.Begin(view.Members.Count);
        _messages.Forget();
        _sink.End();
        _wholeAt = null;
        _state.Clock.Align(decision.Physical, decision.Ground, decision.Committed, Node.Now);
        _participant.Slice.LimitClocks();
    }

    /// <summary>Opens the snapshot at the lowest initialised slot of a shard with newcomers, which gives them the state at the view change.</summary>
    private void OpenSnapshot(Decision decision, View view)
    {
        int shard = _state.Shard, first = -1;
        bool newcomers = false;
        if (shard < 0) return;
        for (int slot = shard; slot < decision.Slots.Count; slot += Shards)
        {
            if (!decision.Slots[slot].Taken) continue;
            if (!decision.Slots[slot].Initialised) newcomers = true;
            else if (first < 0) first = slot;
        }
        if (!newcomers || first < 0 || decision.Slots[first].Member != _state.Port.Self) return;
        _state.View = view.Id;
        _source.Open(_state.Clock.Committed);
    }

    /// <summary>The time for enabling is over: there are too few members, or no view came.</summary>
    private void GiveUpEnabling()
    {
        EndWith(_enabled >= 0
            ? new DhtNotFoundedException(_enabled, Shards, _state.Own.EnableTimeout)
            : new ViewUnavailableException($"No view with this member in the DHT came within {_state.Own.EnableTimeout}."));
        _state.Port.RequestView();
    }

    private void EndWith(Exception reason)
    {
        if (IsOver) return;
        if (reason is DhtException { View: null } error && _state.View != 0) error.View = _state.View;
        Ended = reason;
        Watch.OnOver(reason);
        // Callers first: after a fault of the node everything else may be in any state.
        EndCuts(reason);
        Coordinator.End(reason);
        Events?.OnOver(reason);
        if (reason is NodeFaultedException) return;
        // A running timer would keep the rest of this object alive.
        Node.CancelTimer(_enableLimit);
        Node.CancelTimer(_leaveLimit);
        Coordinator.Forget();
        _collection.Forget();
        _participant.Forget();
        _source.Forget();
        _sink.End();
        _messages.Forget();
        (_state.Map, _state.Slot, _state.Shard, _state.Initialised) = (null, -1, -1, false);
        if (_groupLeaves) _state.Port.Leave();
    }
}
