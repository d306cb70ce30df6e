using System.Buffers.Binary;
using GroupCore.Groups.Buffers;
using GroupCore.Groups.Calls;
using GroupCore.Groups.Dispatch;
using GroupCore.Groups.Shared;
using GroupCore.Groups.State;
using GroupCore.Membership;
using GroupCore.Runtime;

namespace GroupCore.Groups.Multicast;

/// <summary>
/// Multicast inside one view: SendAsync (FIFO) and OrderedSendAsync (one total order: the sender sends the body and the sequencer its position, each once per turn).
/// </summary>
/// <remarks>
/// Guarantees, with the flush: multicast.md#what-it-guarantees. A message is <em>closed</em> when it and all before it of its sender are
/// here and the order is closed up to its <c>dep</c>; a position is closed when the one before it and its message are. Only what is
/// closed is delivered and acknowledged. Everything that a turn brought is closed, delivered, sequenced and acknowledged once, at its
/// end. Source: multicast.md#the-normal-case.
/// Parts: this file (closing and delivering), <c>.Send</c>, <c>.Receive</c>, <c>.Acks</c>, <c>.Flush</c>.
/// </remarks>
internal sealed partial class ViewMulticast
{
    private readonly IViewMember _group;
    private readonly IViewWitness _witness;
    private readonly INode _node;
    private readonly GroupRules _rules;
    private readonly ViewLinks _links;
    private readonly Dispatcher _dispatcher;
    private readonly PendingCalls _calls;
    private readonly CallQueue _queue;
    private readonly View _view;
    private readonly int _members;
    private readonly int _self;
    private readonly int _sequencer;
    private readonly long _begun;
    private readonly SenderLog[] _logs;
    // Stands in for the logs of senders from which nothing has arrived: always empty.
    private readonly SenderLog _none = new();
    private readonly MessageSlabPool _slabs;
    private readonly OrderLog _order = new();
    private readonly Queue<(uint Seq, SendOperation Call)> _ownOrdered = new();
    private SlowWatch? _slow;
    private readonly uint _viewRecords;
    private bool _initialised;
    // Only at a member without state, and until it has delivered what it held, in turns of a bounded size.
    private LoadHold? _hold;
    private (int Messages, long Bytes) _turn;
    private bool _hasMore;
    private bool _dirty;
    private bool _over;

    public ViewMulticast(IViewMember group, IViewWitness witness, CallQueue queue, View view, int self, LoadBudget? load)
    {
        (_group, _witness, _queue, _view, _self, _initialised) = (group, witness, queue, view, self, load is null);
        (_node, _rules, _links, _dispatcher, _calls) = (group.Node, group.Rules, group.Links, group.Dispatcher, group.Calls);
        _members = view.Members.Count;
        if (load is not null) _hold = new(load, _members);
        _sequencer = view.Coordinator;
        _begun = _node.Now;
        _viewRecords = group.HostOptions.ViewRecords;
        _logs = new SenderLog[_members];
        Array.Fill(_logs, _none);
        _slabs = group.Slabs;
        _acks = new(_logs);
        _ackedOrder = new uint[_members];
    }

    /// <summary>This member has loaded the group's state: what was held is delivered.</summary>
    public void Initialise()
    {
        _initialised = true;
        _dirty = _acksMoved = true;
    }

    /// <summary>Whether some of what was held while the state was loaded is not delivered yet.</summary>
    public bool IsCatchingUp => _initialised && _hold is not null;

    /// <summary>Whether this member, which has no state yet, holds so much that it acknowledges nothing more.</summary>
    public bool StopsAcks => _hold is { StopsAcks: true };

    private bool IsTurnFull => IsCatchingUp && (_turn.Messages >= GroupLimits.CatchUpMessages || _turn.Bytes >= GroupLimits.CatchUpBytes);

    /// <summary>Most records of a sender, or positions of the order, in this view, if no other view comes.</summary>
    private uint MostRecords => _viewRecords + (_viewRecords / 2);

    /// <summary>What was held is delivered, and dropped where it is stable: from here on this member is like any other.</summary>
    private void EndHold()
    {
        _hold = null;
        _dispatcher.CatchUp(_group.HostOptions.MaxJoinBacklogBytes);
    }

    /// <summary>Closes, delivers, sequences and acknowledges what this turn brought, and sends what it originated.</summary>
    public void EndOfTurn(bool wedged)
    {
        if (_dirty || _runCount > 0)
        {
            EmitRun();
            if (!wedged) Sequence();
            Progress();
            WatchSlow();
            if (_logs[_self].Received >= _viewRecords || (_self == _sequencer && _order.Length >= _viewRecords)) _witness.AskForView();
            _dirty = false;
        }
        if (!wedged) Acknowledge();
        _dispatcher.TakeHolds();
        ReleaseStable();
        if (IsCatchingUp && !_hasMore) EndHold();
        CompleteStabilityWaits();
        if (_runCount == 0) _slabs.GiveBack(ref _sendSlab);
        _slabs.GiveBack(ref _receiveSlab);
        _slabs.GiveBack(ref _oldSlab);
    }

    /// <summary>Nothing has happened for some time: releases memory that grew.</summary>
    public void Trim()
    {
        _acks.Trim(_self);
        foreach (var log in _logs) log.Trim();
        _order.Trim();
        if (_ownOrdered.Count == 0) _ownOrdered.TrimExcess();
        _positions.Clear();
        _positions.Capacity = 0;
    }

    private SenderLog LogToFill(int sender)
    {
        if (ReferenceEquals(_logs[sender], _none)) _logs[sender] = new();
        return _logs[sender];
    }

    private void WatchSlow()
    {
        foreach (var log in _logs)
            if (SlowWatch.IsHalfUsed(log)) (_slow ??= new(_group, _witness, _view, _logs, AckOf)).Arm();
    }

    /// <summary>Closes step by step what can be closed now, then delivers (multicast.md#only-closed-messages-are-delivered-and-acknowledged).</summary>
    private void Progress()
    {
        bool ignoreDep = !_rules.OrderDependency;
        bool again;
        do
        {
            bool blocked = false;
            again = false;
            foreach (var log in _logs)
            {
                uint closed = log.Closed, received = log.Received;
                while (closed != received && (ignoreDep || log[closed].Dep <= _order.Closed)) closed++;
                log.Closed = closed;
                blocked |= closed != received;
            }
            uint position = _order.Closed;
            while (position != _order.Length && _order[position] is var (rank, seq) && _logs[rank].Closed > seq) position++;
            if (position != _order.Closed)
            {
                _order.Closed = position;
                again = blocked;
            }
        }
        while (again);
        if (_initialised) Deliver();
    }

    private void Deliver()
    {
        _turn = default;
        for (int s = 0; s < _members; s++) Pass(s, _logs[s].Closed, bounded: IsCatchingUp);
        while (_order.Delivered != _order.Closed && !IsTurnFull)
        {
            var (rank, seq) = _order[_order.Delivered];
            if (_logs[rank].Passed <= seq) break;
            _order.Delivered++;
            _turn.Messages++;
            DeliverOrdered(rank, seq);
        }
        _hasMore = IsTurnFull;
        if (_hasMore) _node.SetTimer(_node.Now, this, CatchUp);
    }

    /// <summary>Hands on the messages of a sender up to <paramref name="to"/>: unordered ones are delivered, ordered ones now wait only for their position.</summary>
    private void Pass(int sender, uint to, bool bounded)
    {
        var log = _logs[sender];
        while (log.Passed != to && !(bounded && IsTurnFull))
        {
            uint seq = log.Passed++;
            ref var message = ref log[seq];
            _turn = (_turn.Messages + 1, _turn.Bytes + message.Length);
            bool whole = (message.Kind & MessageKind.Whole) == MessageKind.Whole;
            if (!whole && !log.Assemble(message))
            {
                _node.Counters.Refuse(RefusalReason.Malformed);
                continue;
            }
            if ((message.Kind & MessageKind.Last) == MessageKind.None) continue;
            if ((message.Kind & MessageKind.Ordered) != MessageKind.None)
            {
                if (!whole) log.KeepAssembly(seq);
            }
            else if (whole) Emit(sender, message, null);
            else EmitAssembled(sender, message, log.TakeAssembly(), null);
        }
    }

    private void DeliverOrdered(int sender, uint seq)
    {
        var log = _logs[sender];
        bool comesForward = seq >= log.OrderedDelivered && log.Holds(seq);
        if (comesForward) log.OrderedDelivered = seq + 1;
        // The sequencer named a message that takes no position, or one before the last of this sender: nothing is delivered, and at every member alike.
        if (!comesForward || !log[seq].TakesPosition)
        {
            _node.Counters.Refuse(RefusalReason.Unexpected);
            return;
        }
        ref var message = ref log[seq];
        var own = sender == _self ? TakeOwn(seq) : null;
        var kept = log.TakeKept(seq);
        if ((message.Kind & MessageKind.Whole) == MessageKind.Whole) Emit(sender, message, own);
        else EmitAssembled(sender, message, kept, own);
    }

    /// <summary>The call that waits for this member's message, if any. Calls of earlier messages fail: the sequencer passed over these, so they are never delivered.</summary>
    private SendOperation? TakeOwn(uint seq)
    {
        while (_ownOrdered.TryPeek(out var own) && own.Seq <= seq)
        {
            _ownOrdered.Dequeue();
            if (own.Seq == seq) return own.Call;
            Fail(own.Call, new NotMemberException(_view.Name, "the sequencer gave the message no position in the order"));
        }
        return null;
    }

    private void Emit(int sender, in StoredMessage message, SendOperation? own)
    {
        int head = message.Head;
        Emit(sender, message, message.Slab, message.Offset + head, message.Length - head, own, owned: false);
    }

    private void EmitAssembled(int sender, in StoredMessage message, (MessageSlab? Slab, int Length) assembled, SendOperation? own)
    {
        if (assembled.Slab is { } slab) Emit(sender, message, slab, 0, assembled.Length, own, owned: true);
        else _node.Counters.Refuse(RefusalReason.Malformed);
    }

    private void Emit(int sender, in StoredMessage message, MessageSlab slab, int offset, int length, SendOperation? own, bool owned)
    {
        var delivery = new GroupEvent
        {
            Kind = EventKind.Message,
            Rank = (ushort)sender,
            Handler = MessageRecord.HandlerAt(message.Record),
            Slab = slab,
            Offset = offset,
            Length = length,
            Target = own,
        };
        if ((message.Kind & MessageKind.Query) != MessageKind.None)
        {
            if (length < 8)
            {
                _node.Counters.Refuse(RefusalReason.Malformed);
                if (owned) slab.Release(1);
                return;
            }
            delivery.Kind = EventKind.Query;
            delivery.Number = BinaryPrimitives.ReadUInt64LittleEndian(slab.Bytes.AsSpan(offset));
            delivery.Offset += 8;
            delivery.Length -= 8;
            if (sender == _self) _group.Queries.OnDelivered(delivery.Number, _view);
        }
        _dispatcher.Add(delivery, owned);
    }
}
