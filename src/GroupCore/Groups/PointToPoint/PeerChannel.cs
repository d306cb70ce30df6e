using System.Buffers.Binary;
using GroupCore.Groups.Buffers;
using GroupCore.Groups.Calls;
using GroupCore.Groups.Dispatch;
using GroupCore.Groups.Shared;
using GroupCore.Membership;
using GroupCore.Runtime;
using GroupCore.Wire;

namespace GroupCore.Groups.PointToPoint;

/// <summary>
/// Point-to-point messages inside one view: FIFO by the links, and exactly once between survivors, since a member acknowledges the
/// flush only when all it sent is handled. Source: multicast.md#a-message-is-acknowledged-after-all-that-its-handler-sent,
/// views-and-flush.md#acknowledge-with-own-messages-handled, #nothing-from-removed-members, #hook-messages-wait-for-the-wedge.
/// </summary>
internal sealed class PeerChannel
{
    /// <summary>id u32, flags u8 with the depth above them, handler u32; then proposal u64 and query u64 if the flags say so.</summary>
    private const int Head = 9;
    private const byte QueryFlag = 1;
    private const byte HookFlag = 2;
    private const int DepthShift = 2;
    private readonly IViewMember _group;
    private readonly INode _node;
    private readonly GroupRules _rules;
    private readonly ViewLinks _links;
    private readonly Dispatcher _dispatcher;
    private readonly PendingCalls _calls;
    private readonly View _view;
    private readonly int _self;
    private readonly List<uint>?[] _acks;
    private readonly bool[] _speaks;
    // By rank of the sender: cost of the messages that are not acknowledged.
    private readonly int[] _unhandled;
    private readonly PeerWindows _windows;
    private readonly HookMessages _hooks;
    // Messages that handlers of this view's messages sent: they are under way (R13), and already have their numbers. They wait only for room on links. The
    // receivers' loops make that room, not their handlers: so these waits end, whichever handlers wait for each other.
    private readonly RoomQueues<(SendOperation Call, uint Id, byte Depth)> _chains;
    // Messages of hooks that wait: hooks send while all calls wait for the next view.
    private readonly RoomQueues<SendOperation> _hookCalls;
    private readonly HandlingTable _handling;
    private MessageSlab? _slab;
    private Participants? _flush;
    private bool _ackDirty;

    public PeerChannel(IViewMember group, View view, int self, ulong firstHandling)
    {
        (_group, _view, _self, _handling) = (group, view, self, new(firstHandling));
        (_node, _rules, _links, _dispatcher, _calls) = (group.Node, group.Rules, group.Links, group.Dispatcher, group.Calls);
        int members = view.Members.Count;
        _acks = new List<uint>?[members];
        _speaks = new bool[members];
        _unhandled = new int[members];
        _windows = new(_node, members);
        _hooks = new(_node, members);
        _chains = new(members);
        _hookCalls = new(members);
    }

    /// <summary>Messages of this member that are not handled yet (R7).</summary>
    public int Outstanding => _windows.Outstanding;

    /// <summary>Whether all that this member sent is handled, and none of what its hooks sent waits for a receiver (R7).</summary>
    public bool IsQuiet => _windows.Outstanding == 0 && _hookCalls.Count == 0;

    /// <summary>Whether calls wait for a receiver.</summary>
    public bool HasWaiting => _windows.Waiting > 0;

    /// <summary>Numbers of handlings from this one on are the next view's.</summary>
    public ulong NextHandling => _handling.Next;

    /// <summary>
    /// Takes a caller's message. Ordinary calls wait while this member is wedged or blocked, while the receiver has too much of this member unhandled, and while the link
    /// has no room. Messages of hooks wait for the receiver and the link only. Messages of handlers of this view's messages wait for the link alone, and are under way from
    /// the call on: what a receiver has not handled may wait for them, so they must not wait for it. A message to a member that is not known to have the state waits for
    /// the view in which that member has it. A hook's message does not: it is about the view that ends, and a member without state only acknowledges it, like multicasts.
    /// Source: multicast.md#messages-to-one-member-wait-for-its-state.
    /// </summary>
    /// <remarks>
    /// Calls to one receiver stay in order if each has completed before the next one is made. A handler's call, which completes at once, goes before calls that wait for a
    /// receiver's window, but not before another handler's call: earlier ones that a blocked member holds back go out first. While this member is wedged, what
    /// a handler of a point-to-point message sends goes before all calls that wait for the next view, completed or not: it is of the view that ends.
    /// </remarks>
    public void Take(SendOperation call, bool mayWait = true)
    {
        if (call.Hook is { } hook && !_group.Awaits(hook))
        {
            // The hook said Done, was given up, or is of an earlier view change: the others may have installed the next view.
            _group.ReportLater(new("view proposed", default, new InvalidOperationException("A hook sent a message after its part in the view change was over; it was not sent.")));
            _calls.Finish(call);
            return;
        }
        int rank = _view.RankOf(call.To!.Value);
        if (call.Hook is not null)
        {
            if ((rank >= 0 && _hookCalls.CountOf(rank) > 0) || !TrySend(call, inside: false)) _hookCalls.Add(rank, call);
            return;
        }
        if (rank >= 0 && !Takes(rank))
        {
            Wait(rank, call, mayWait);
            return;
        }
        bool inside = _handling.IsAwaited(call.Parent);
        bool free = _flush is null && !_group.IsBlocked;
        bool first = rank < 0 || (free && !_windows.HasWaiting(rank));
        if (inside && _flush is null && !first) SendHandlersCalls(rank);
        if (!(inside || first) || !TrySend(call, inside)) Wait(rank, call, mayWait);
    }

    private void Wait(int rank, SendOperation call, bool may)
    {
        if (may)
        {
            _windows.Wait(rank, call);
            return;
        }
        var error = new NotMemberException(_group.Name, "it is leaving; a handler's message would have had to wait and was not sent");
        _group.ReportLater(new(_group.Table.Find(call.Handler)?.Name ?? "", default, error));
        if (call.Query != 0) _group.Queries.Fail(call.Query, error);
        _calls.Finish(call);
    }

    /// <summary>Whether a member is known to have the state: since this view began, or by a message of its own, which no member without the state sends.</summary>
    private bool Takes(int rank) => rank == _self || _view.Members[rank].Initialised || _speaks[rank];

    /// <summary>Sends other handlers' calls that wait for a receiver: these have completed, so they go before a message that must not wait for the receiver.</summary>
    private void SendHandlersCalls(int rank)
    {
        while (_windows.TryDequeueOfHandlers(rank, out var call)) TrySend(call, inside: true);
    }

    /// <summary>Takes the calls that are not under way, for the next view or to fail. What handlers sent stays under way: it is waited for (R13).</summary>
    public List<SendOperation> TakeWaiting()
    {
        var calls = _windows.TakeWaiting();
        calls.AddRange(_hookCalls.TakeAll());
        return calls;
    }

    /// <summary>Takes all calls of which nothing is sent, since this member sends nothing more in the view.</summary>
    public List<SendOperation> TakeUnsent()
    {
        List<SendOperation> calls = [];
        foreach (var (call, _, _) in _chains.TakeAll()) calls.Add(call);
        calls.AddRange(TakeWaiting());
        return calls;
    }

    /// <summary>Ends the waiting calls whose callers do not wait any more.</summary>
    public void RemoveCancelled() => _windows.RemoveCancelled(_calls);

    private bool TrySend(SendOperation call, bool inside)
    {
        if (_calls.TryCancel(call)) return true;
        int rank = _view.RankOf(call.To!.Value);
        if (rank < 0 || (_flush is not null && !_flush[rank]))
        {
            call.Error = new MemberGoneException(_group.Name, call.To.Value.ToString());
            if (call.Query != 0) _group.Queries.Fail(call.Query, call.Error);
            _calls.Finish(call);
            return true;
        }
        // No window bounds what handlers send: a receiver that is not in this view yet could not keep all of it.
        bool room = _chains.CountOf(rank) == 0 && _links.RoomTo(rank) > 0 && (!inside || _links.IsHere(rank));
        if (!inside && (!room || _windows.IsFull(rank))) return false;
        ulong parent = _handling.IsAwaited(call.Parent) ? call.Parent : 0;
        byte depth = 0;
        if (parent != 0)
        {
            ref var handling = ref _handling[parent];
            handling.Children++;
            depth = handling.NextDepth;
        }
        uint id = _windows.Add(rank, parent, call.Payload.Length);
        if (!room)
        {
            _chains.Add(rank, (call, id, depth));
            return true;
        }
        if (inside) _windows.Owe(rank, id, call.Share);
        if (rank == _self) Enqueue(new() { Rank = _self, Id = id, Parent = parent, Depth = depth }, rank, call.Query, call.Handler, call.Payload.Written);
        else Transmit(call, rank, id, depth);
        _calls.Finish(call);
        return true;
    }

    private void Transmit(SendOperation call, int rank, uint id, byte depth)
    {
        int head = Head + (call.Hook is not null ? 8 : 0) + (call.Query != 0 ? 8 : 0);
        var frame = _links.Frame(FrameType.Peer, head + call.Payload.Length);
        BinaryPrimitives.WriteUInt32LittleEndian(frame, id);
        frame[4] = (byte)((depth << DepthShift) | (call.Query != 0 ? QueryFlag : 0) | (call.Hook is not null ? HookFlag : 0));
        BinaryPrimitives.WriteUInt32LittleEndian(frame[5..], call.Handler);
        int at = Head;
        if (call.Hook is { } hook)
        {
            BinaryPrimitives.WriteUInt64LittleEndian(frame[at..], hook.Proposal.Number);
            at += 8;
        }
        if (call.Query != 0) BinaryPrimitives.WriteUInt64LittleEndian(frame[at..], call.Query);
        call.Payload.Written.CopyTo(frame[head..]);
        _links.SendTo(rank);
        if (call.Query != 0) _group.Queries.OnSent(call.Query);
    }

    /// <summary>A message of a member. Untrusted.</summary>
    public void OnPeer(int rank, ReadOnlySpan<byte> body)
    {
        int head = body.Length < Head ? int.MaxValue : Head + ((body[4] & HookFlag) != 0 ? 8 : 0) + ((body[4] & QueryFlag) != 0 ? 8 : 0);
        if (body.Length < head)
        {
            _node.Counters.Refuse(RefusalReason.Malformed);
            return;
        }
        _speaks[rank] = true;
        // The sender is out of the next view, and nobody waits for what it starts now (R12).
        if (_flush is not null && !_flush[rank] && _rules.R12RefuseRemoved) return;
        // More than windows let through: it is dropped, and its sender waits for the acknowledgement in vain.
        if (_unhandled[rank] > GroupLimits.PeerUnhandled)
        {
            _node.Counters.Refuse(RefusalReason.Unexpected);
            return;
        }
        ulong hook = (body[4] & HookFlag) != 0 ? BinaryPrimitives.ReadUInt64LittleEndian(body[Head..]) : 0;
        if (hook > (_flush?.Wedge ?? 0))
        {
            _hooks.Hold(rank, body);
            return;
        }
        ulong query = (body[4] & QueryFlag) != 0 ? BinaryPrimitives.ReadUInt64LittleEndian(body[(head - 8)..]) : 0;
        Enqueue(new() { Rank = rank, Id = BinaryPrimitives.ReadUInt32LittleEndian(body), Depth = (byte)(body[4] >> DepthShift) }, rank, query, BinaryPrimitives.ReadUInt32LittleEndian(body[5..]), body[head..]);
    }

    private void Enqueue(in Handling handling, int from, ulong query, uint handler, ReadOnlySpan<byte> payload)
    {
        if (_group.Initialised)
        {
            Deliver(handling, from, query, handler, payload);
            return;
        }
        // This member has given up, or has no state and a hook sent the message: no handler gets it, and nobody must wait for one.
        Acknowledge(from, handling.Id);
    }

    private void Acknowledge(int rank, uint id)
    {
        (_acks[rank] ??= []).Add(id);
        _ackDirty = true;
    }

    private void Deliver(Handling handling, int from, ulong query, uint handler, ReadOnlySpan<byte> payload)
    {
        var slab = RoomFor(payload.Length);
        int offset = slab.Used;
        payload.CopyTo(slab.Bytes.AsSpan(offset));
        slab.Used += payload.Length;
        (handling.Open, handling.Event, handling.Bytes) = (true, _dispatcher.Added, payload.Length);
        _unhandled[from] += GroupLimits.PeerMessage + payload.Length;
        _dispatcher.Add(new()
        {
            Kind = query != 0 ? EventKind.PeerQuery : EventKind.PeerMessage,
            Rank = (ushort)from,
            Handler = handler,
            Slab = slab,
            Offset = offset,
            Length = payload.Length,
            Number = query,
            Handling = _handling.Add(handling),
        });
    }

    private MessageSlab RoomFor(int size)
    {
        if (_slab is { } slab)
        {
            if (slab.Free >= size) return slab;
            // Besides this channel only the dispatcher holds the slab.
            _dispatcher.TakeHolds();
            if (slab.Alone && slab.Bytes.Length >= size)
            {
                slab.Used = 0;
                return slab;
            }
            slab.Release(1);
        }
        return _slab = _group.Slabs.Rent(size);
    }

    /// <summary>Events before <paramref name="events"/> were handled, and what their handlers sent is taken. Returns whether messages of this channel are still unhandled.</summary>
    public bool OnHandled(long events)
    {
        while (_handling.TryHandle(events, out ulong handling)) TryFinish(handling);
        return _handling.HasUnhandled;
    }

    // Before the wedge a long chain is acknowledged in parts: this member still waits for what it sent, and has not said yet that
    // all of it is handled. A member that is wedged may have said so.
    private bool WaitsForChildren(in Handling handling) => handling.Children > 0 && (_flush is not null || handling.Depth < Handling.LastDepth);

    // A loop: a chain of messages that a member sends to itself ends with the last one, however long it is.
    private void TryFinish(ulong number)
    {
        do
        {
            ref var handling = ref _handling[number];
            if (!handling.IsEnded || (WaitsForChildren(handling) && _rules.R13NestedAcks)) return;
            var (rank, id, parent, bytes) = (handling.Rank, handling.Id, handling.Parent, handling.Bytes);
            // If the handler has not returned, the entry stays: the table still has to pass over it.
            if (handling.Handled) _handling.Close(number);
            else handling.Rank = Handling.Nobody;
            if (rank == Handling.Nobody) return;
            _unhandled[rank] -= GroupLimits.PeerMessage + bytes;
            if (rank != _self)
            {
                Acknowledge(rank, id);
                return;
            }
            _windows.TryClose(_self, id, out _);
            number = parent;
        }
        while (IsLastOf(number));
    }

    /// <summary>
    /// The handlers are given up: nobody waits for messages that they have not handled, only for those that they have sent, since the receivers' handlers may send more in
    /// this view.
    /// </summary>
    public void GiveHandlersUp()
    {
        for (ulong number = 0; _handling.TryNext(ref number); number++) GiveUp(number);
    }

    /// <summary>One message is not going to be handled, or nobody waits for its handler.</summary>
    public void GiveUp(ulong number)
    {
        if (!_handling.IsOpen(number)) return;
        _handling[number].GivenUp = true;
        TryFinish(number);
    }

    private void Release(ulong parent)
    {
        if (IsLastOf(parent)) TryFinish(parent);
    }

    /// <summary>A message that a handler sent is acknowledged; returns whether it was the last one. Without R13 the handled message itself was acknowledged before.</summary>
    private bool IsLastOf(ulong parent) => _handling.IsOpen(parent) && --_handling[parent].Children == 0 && _rules.R13NestedAcks;

    /// <summary>The view is over: delivered messages belong to the dispatcher.</summary>
    public void Close()
    {
        _windows.Close();
        _dispatcher.TakeHolds();
        _slab?.Release(1);
        _slab = null;
    }

    /// <summary>count u16, ids u32.</summary>
    public void OnPeerAck(int rank, ReadOnlySpan<byte> body)
    {
        if (body.Length < 2 || body.Length != 2 + (4 * BinaryPrimitives.ReadUInt16LittleEndian(body)))
        {
            _node.Counters.Refuse(RefusalReason.Malformed);
            return;
        }
        for (int at = 2; at < body.Length; at += 4)
        {
            uint id = BinaryPrimitives.ReadUInt32LittleEndian(body[at..]);
            // Messages that wait for room have numbers, but nobody can have handled them. Nothing overtakes them, so theirs are the last numbers.
            bool sent = rank != _self && !_windows.IsAmongLast(rank, id, _chains.CountOf(rank));
            if (sent && _windows.TryClose(rank, id, out var parent)) Release(parent);
            else _node.Counters.Refuse(RefusalReason.Unexpected);
        }
    }

    /// <summary>A new proposal: what was sent to members that take no part is over, and what others' hooks sent ahead of time is delivered.</summary>
    /// <remarks>
    /// What handlers of removed members' messages send from now on is of the next view: no acknowledgement waits for such a handler, so others
    /// may have installed that view already, and would refuse it.
    /// </remarks>
    public void OnWedged(Participants flush)
    {
        _flush = flush;
        for (int rank = 0; rank < _acks.Length; rank++)
        {
            if (flush[rank] || rank == _self) continue;
            while (_chains.TryDequeue(rank, out var gone)) _calls.Finish(gone.Call);
            while (_windows.TryCloseFirst(rank, out var parent)) Release(parent);
        }
        for (ulong number = 0; _handling.TryNext(ref number); number++)
        {
            ref var handling = ref _handling[number];
            if (handling.Rank >= 0 && handling.Rank != _self && !flush[handling.Rank]) handling.Rank = Handling.Nobody;
        }
        foreach (var (rank, body) in _hooks.Take()) OnPeer(rank, body);
    }

    public void EndOfTurn()
    {
        SendWaiting();
        _dispatcher.TakeHolds();
        _group.Slabs.GiveBack(ref _slab);
        if (!_ackDirty) return;
        _ackDirty = false;
        for (int rank = 0; rank < _acks.Length; rank++)
        {
            if (_acks[rank] is not { Count: > 0 } ids) continue;
            for (int from = 0; from < ids.Count; from += 16_384)
            {
                int count = Math.Min(16_384, ids.Count - from);
                var frame = _links.Frame(FrameType.PeerAck, 2 + (4 * count));
                BinaryPrimitives.WriteUInt16LittleEndian(frame, (ushort)count);
                for (int i = 0; i < count; i++) BinaryPrimitives.WriteUInt32LittleEndian(frame[(2 + (4 * i))..], ids[from + i]);
                _links.SendTo(rank);
            }
            ids.Clear();
        }
    }

    /// <summary>Sends what waits, as far as there is room.</summary>
    public void SendWaiting()
    {
        for (int rank = 0; _chains.Count > 0 && rank < _acks.Length; rank++)
        {
            while (_chains.CountOf(rank) > 0 && _links.RoomTo(rank) > 0 && _links.IsHere(rank) && _chains.TryDequeue(rank, out var chained))
            {
                _windows.Owe(rank, chained.Id, chained.Call.Share);
                Transmit(chained.Call, rank, chained.Id, chained.Depth);
                _calls.Finish(chained.Call);
            }
        }
        for (int rank = 0; _hookCalls.Count > 0 && rank < _acks.Length; rank++)
            while (_hookCalls.TryPeek(rank, out var hook) && TrySend(hook, inside: false)) _hookCalls.TryDequeue(rank, out _);
        if (_windows.Waiting == 0 || _flush is not null || _group.IsBlocked) return;
        for (int rank = 0; rank < _acks.Length; rank++)
            while (Takes(rank) && _windows.TryPeek(rank, out var call) && TrySend(call, inside: false)) _windows.Dequeue(rank);
    }

    /// <summary>Nothing has happened for some time: releases memory that grew.</summary>
    public void Trim()
    {
        _windows.Trim();
        _chains.Trim();
        _hookCalls.Trim();
        _handling.Trim();
        for (int rank = 0; rank < _acks.Length; rank++)
            if (_acks[rank] is { Count: 0 }) _acks[rank] = null;
    }

    /// <summary>Whether another member has not handled what this one, or its hook, has sent it or will send it as soon as there is room.</summary>
    public bool AwaitsHandling(int rank) => rank != _self && (_windows.Awaits(rank) || _hookCalls.CountOf(rank) > 0);

    /// <summary>Whether a link may have lost one of these messages.</summary>
    public bool AwaitsLost(int rank) => _windows.AwaitsLost(rank);

    /// <summary>What was on the link to a member is lost.</summary>
    public void OnLinkLost(int rank) => _windows.OnLinkLost(rank);

    /// <summary>
    /// A number that changes with what goes out to a member and with what it has handled; if something waits for room on its link, also with whatever
    /// the member takes from the link.
    /// </summary>
    public long ProgressOf(int rank) =>
        _windows.ClosedOf(rank) + _chains.SentTo(rank) + _hookCalls.SentTo(rank) + (WaitsForRoom(rank) ? _links.TakenBy(rank) : 0);

    /// <summary>Whether nothing is out to a member because this node holds as much for all links as it may: that is not the member's fault.</summary>
    public bool AwaitsOwnNode(int rank) => WaitsForRoom(rank) && _links.WaitsForNode(rank) && _windows.CountOf(rank) == _chains.CountOf(rank);

    private bool WaitsForRoom(int rank) => _chains.CountOf(rank) + _hookCalls.CountOf(rank) > 0;

    /// <summary>Whether this member has not handled a message that it sent to itself.</summary>
    public bool HandlesOwn
    {
        get
        {
            Span<WaitReason> reasons = stackalloc WaitReason[_acks.Length];
            reasons.Clear();
            return Handles(reasons) && reasons[_self] == WaitReason.OwnCode;
        }
    }

    /// <summary>By rank of the sender: whether its messages are being handled here, or what their handlers sent is being handled elsewhere. False if there are none.</summary>
    public bool Handles(Span<WaitReason> reasons)
    {
        bool any = false;
        for (ulong number = 0; _handling.TryNext(ref number); number++)
        {
            ref var handling = ref _handling[number];
            if (handling.Rank == Handling.Nobody) continue;
            any = true;
            if (!handling.IsEnded) reasons[handling.Rank] = WaitReason.OwnCode;
            else if (reasons[handling.Rank] == WaitReason.None) reasons[handling.Rank] = WaitReason.Others;
        }
        return any;
    }
}
