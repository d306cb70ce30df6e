using GroupCore.Basics;
using GroupCore.Groups.Buffers;
using GroupCore.Groups.Calls;
using GroupCore.Groups.Dispatch;
using GroupCore.Groups.Flush;
using GroupCore.Groups.Multicast;
using GroupCore.Groups.PointToPoint;
using GroupCore.Groups.Queries;
using GroupCore.Groups.Shared;
using GroupCore.Groups.State;
using GroupCore.Membership;
using GroupCore.Runtime;

namespace GroupCore.Groups.Views;

/// <summary>
/// One group at one member, on the loop: its current view and the protocols of that view, which are new objects for each view.
/// </summary>
/// <remarks>
/// Life: <see cref="GroupPhase"/>; within it, for each view: normal, wedged, installed. The order at a view's end (views-and-flush.md#the-order-of-a-views-end): last
/// deliveries, checkpoint for joiners, view event, Bind to all peers, answers that waited, the layers' next view, calls to one member that waited, early frames; multicasts
/// that waited follow at the end of the turn. The protocols below reach it through the interfaces that it implements.
/// Parts: this file (life), <c>.Install</c>, <c>.Join</c>, <c>.Frames</c>, <c>.Links</c>, <c>.Calls</c>, <c>.Status</c>, <c>.Describe</c>.
/// </remarks>
internal sealed partial class GroupProtocol : IViewChange, IStateTaker, ICallTaker, ITimerTarget
{
    /// <summary>The reason given when something would begin in a process that leaves the system.</summary>
    public const string ProcessLeaves = "this process is leaving the system";

    private readonly IGroupHost _host;
    private readonly TaskCompletionSource _joined = new();
    private bool _touched;
    private bool _active;
    private bool _trimmed;
    private bool _blocked;
    private bool _leavingSoon;
    private TimerHandle _leaveTimer;
    private TimerHandle _handlersTimer;
    private bool _undecided;
    private readonly GroupLife _life;
    private readonly CallQueue _queue;
    private volatile Exception? _over;
    private volatile bool _muted;

    public GroupProtocol(IGroupHost host, IGroupFacade facade, string name, GroupOptions options, HandlerTable table, ushort slot)
    {
        (_host, Facade, Name, Options, Table, Slot) = (host, facade, name, options, table, slot);
        Node = host.Node;
        _life = new(Node.Counters, name);
        Completion = new(Facade.OnOver);
        Upcalls = new(this);
        Dispatcher = new(Node, Upcalls, table.Inline);
        Queries = new(Node, PostCancelled);
        Calls = new(Node, name, Queries);
        _queue = new(Node, Calls);
        Links = new(Node, slot);
        Replies = new(this);
        Layers = new(this, host.Layers);
        Joining = new(Node, Dispatcher);
        Offer = new(this);
        Watch = new(this);
    }

    public INode Node { get; }

    public GroupRules Rules => _host.Rules;

    public IMembership Membership => _host.Membership;

    public Suspicions Suspicions => _host.Suspicions;

    public IGroupHost Host => _host;

    public GroupHostOptions HostOptions => _host.Options;

    public MessageSlabPool Slabs => _host.Slabs;

    public string Name { get; }

    public GroupOptions Options { get; }

    public HandlerTable Table { get; }

    /// <summary>The number of the group in frames of this process.</summary>
    public ushort Slot { get; }

    /// <summary>Known once the join is accepted.</summary>
    public GroupId? Id { get; set; }

    public IGroupFacade Facade { get; }

    public Upcalls Upcalls { get; }

    public Dispatcher Dispatcher { get; }

    public QueryTable Queries { get; }

    public PendingCalls Calls { get; }

    public ViewLinks Links { get; }

    public ReplyQueue Replies { get; }

    public GroupLayers Layers { get; }

    public JoinProgress Joining { get; }

    public StateOffer Offer { get; }

    public GroupWatch Watch { get; }

    public View? View { get; private set; }

    public int Rank { get; private set; } = -1;

    /// <summary>Whether this member holds the group's state.</summary>
    public bool Initialised => _life.HasState;

    public GroupPhase Phase => _life.Phase;

    public ViewMulticast Multicast { get; private set; } = null!;

    public PeerChannel Peers { get; private set; } = null!;

    public FlushMember Flush { get; private set; } = null!;

    /// <summary>Where this member stands, for diagnosis.</summary>
    public override string ToString() => View is null ? $"{Name}: no view" :
        $"{Name} view {View.Id} rank {Rank}{(Initialised ? "" : " without state")} wedge {Flush.Wedge} leader {Flush.Leader} cut {(Flush.Cut is null ? "missing" : Multicast.Holds(Flush.Cut) ? "held" : "pulling")}, "
        + $"{(Flush.Acked ? "acked" : "not acked")}, {Peers.Outstanding} peer messages out, hooks {(HooksEnded ? "done" : "not done")}, {_queue.Count} calls queued";

    public bool IsWedged => Flush?.Proposal is not null;

    /// <summary>Whether the primary partition is out of reach: callers wait.</summary>
    public bool IsBlocked => _blocked;

    /// <summary>Whether this member was asked to leave, and a layer has something to hand over first.</summary>
    public bool IsHandingOver => Layers.KeepMember && _life.Phase == GroupPhase.HandingOver;

    /// <summary>Whether this member was asked to leave.</summary>
    public bool IsGoing => _life.IsGoing;

    /// <summary>Whether this member is out of the group.</summary>
    public bool IsOver => _life.Phase == GroupPhase.Over;

    /// <summary>What ended the membership for its callers; the protocol may still have to take part until a view without it.</summary>
    public Exception? Over => _over;

    /// <summary>Whether the membership failed, so that handlers are not called any more.</summary>
    public bool Muted => _muted;

    /// <summary>Completes when the first view is handled.</summary>
    public Task Joined => _joined.Task;

    /// <summary>The end of the membership, which is told outside of the loop.</summary>
    public SharedCompletion Completion { get; }

    /// <summary>
    /// The error with which <see cref="Completion"/> ends if the membership did not fail: none after a view without this member. A member that gave up before the others had
    /// decided is not told that it has left: it may still be excluded, and lose what it delivered or sent last. Nor is a member told so if some of what it sent had not gone
    /// out.
    /// </summary>
    private Exception? Outcome => _undecided ? _over : Calls.HasLost ? new NotMemberException(Name, "it left before everything it had sent had gone out") : null;

    /// <summary>Something happened here in this turn.</summary>
    public void Touch()
    {
        if (_touched) return;
        _touched = _active = true;
        _host.Touched(this);
    }

    /// <summary>Whether something happened since the last call; if not, releases memory that grew.</summary>
    public bool WasActive()
    {
        if (_active)
        {
            _active = _trimmed = false;
            return true;
        }
        if (_trimmed || View is null || IsOver) return false;
        _trimmed = true;
        Multicast.Trim();
        Peers.Trim();
        Dispatcher.Trim();
        Calls.Shares.Trim();
        _queue.Trim();
        return false;
    }

    public void EndOfTurn()
    {
        _touched = false;
        if (View is not null && !IsOver)
        {
            DrainCalls();
            Multicast.EndOfTurn(IsWedged);
            Peers.EndOfTurn();
            if (IsWedged) Flush.TryAck();
            foreach (var port in Layers.All) port.EndOfTurn();
            TryAnnounceLeave();
        }
        Dispatcher.Publish();
    }

    public void OnPropose(Proposal proposal)
    {
        Touch();
        if (View is null || IsOver || proposal.BaseView < View.Id) return;
        if (proposal.BaseView > View.Id) Membership.Sync(View.Group, View.Id, Flush.Wedge);
        else if (proposal.Number > Flush.Wedge) Flush.Start(proposal);
    }

    /// <summary>Whether the flush of that proposal still goes on.</summary>
    public bool IsInFlush(View view, Proposal proposal) => !IsOver && ReferenceEquals(View, view) && ReferenceEquals(Flush.Proposal, proposal);

    /// <summary>First wedge of this view: what was begun is sent out, and after that nothing is originated (R1).</summary>
    public void BeginWedge()
    {
        DrainCalls();
        Multicast.BeforeWedge();
    }

    public bool HasLayer => Layers.IsAny;

    public void OnWedged(Proposal proposal)
    {
        Watch.OnFlush(proposal);
        foreach (var port in Layers.All) port.OnWedged(proposal);
    }

    public IReadOnlyList<byte[]> Contribute() => Layers.Contribute();

    public void OnState(MembershipState state, string reason)
    {
        if (IsOver) return;
        Touch();
        bool blocked = state == MembershipState.Blocked;
        if (blocked != _blocked)
        {
            _blocked = blocked;
            foreach (var port in Layers.All) port.OnBlocked(blocked);
        }
        if (state != MembershipState.Excluded) return;
        // A process that leaves the system ends here too: it is in no view any more, and no longer asks for its joins.
        End(_host.Departs && View is null ? new NotMemberException(Name, ProcessLeaves) : new ExcludedException(reason), failed: true);
    }

    public void RequestLeave()
    {
        Touch();
        if (_life.Phase != GroupPhase.Member) return;
        foreach (var port in Layers.All) port.OnLeaving();
        _life.Become(GroupPhase.HandingOver);
        TryAnnounceLeave();
    }

    /// <summary>Leaves, and gives up after a bounded time if the others have not decided by then, or the handlers have not ended.</summary>
    public void LeaveSoon()
    {
        RequestLeave();
        if (_leavingSoon) return;
        _leavingSoon = true;
        if (_over is not null) LimitHandlers();
        else if (!IsHandingOver) LimitLeave();
    }

    /// <summary>The layers have handed over, so this member may leave.</summary>
    public void OnHandedOver()
    {
        if (_leavingSoon) LimitLeave();
        TryAnnounceLeave();
    }

    /// <summary>Announces the leave once earlier calls have gone out and the layers have handed over. No calls are added: they have been refused since the request.</summary>
    private void TryAnnounceLeave()
    {
        if (_life.Phase != GroupPhase.HandingOver || Layers.KeepMember || _queue.Count > 0 || Peers.HasWaiting) return;
        _life.Become(GroupPhase.Leaving);
        Membership.Leave(View!.Group);
    }

    private long DisposeNanoseconds => (long)_host.Options.DisposeTimeout.TotalNanoseconds;

    // Both by the clock, not the turn's time: the process may have been frozen between the start of the turn and the call.
    private void LimitLeave()
    {
        if (!IsOver) _leaveTimer = Node.SetTimer(Node.Clock() + DisposeNanoseconds, this, LeaveTimeout);
    }

    private void LimitHandlers()
    {
        // After a failure nobody waits for handlers.
        if (!_muted && !Completion.Task.IsCompleted) _handlersTimer = Node.SetTimer(Node.Clock() + DisposeNanoseconds, this, HandlersTimeout);
    }

    /// <summary>Neither the caller that disposes of the group nor anybody else waits for its handlers any longer: what they have not handled they never will.</summary>
    private void GiveHandlersUp()
    {
        if (Completion.Task.IsCompleted) return;
        _muted = true;
        Dispatcher.Drop(CallError!);
        if (View is not null && !IsOver) Peers.GiveHandlersUp();
        Node.Complete(new Ending(this, Outcome));
    }

    /// <summary>The node has stopped before it took a caller's request; on any thread.</summary>
    public void Abandon(Exception reason)
    {
        _over ??= reason;
        Node.Complete(new Ending(this, reason));
    }

    /// <summary>
    /// The node ends, perhaps by a fault of this very protocol: nothing of it is run any more, and all callers that wait are told. A member that has left
    /// is told that it has, even if its handlers are behind.
    /// </summary>
    public void OnStop(Exception reason)
    {
        bool left = IsOver && !_muted && !_undecided;
        _over ??= reason;
        _muted = true;
        var steps = default(StopSteps);
        steps.Do(() => Calls.Abandon(Peers?.TakeUnsent() ?? [], reason));
        steps.Do(() => Calls.Abandon(_betweenViews, reason));
        steps.Do(() => _queue.Abandon(reason));
        steps.Do(() => Queries.FailAll(reason));
        steps.Do(() => Multicast?.Abandon(reason));
        steps.Do(() => Dispatcher.Abandon(reason));
        foreach (var port in Layers.All) port.Abandon(reason, ref steps);
        steps.Do(() => Node.Complete(new Ending(this, left ? Outcome : reason)));
        steps.ThrowIfAny();
    }

    /// <summary>
    /// Over for callers and handlers, but this member leaves like any other: the others wait for its part in the flush (R8), so it stays
    /// in the protocol, without state, until a view without it is installed. The log is told of no failure if the end was <paramref name="wanted"/>.
    /// </summary>
    private void Withdraw(Exception reason, bool failed, bool wanted = false)
    {
        if (_over is not null) return;
        // Without a view the leave might overtake the join: it is sent when there is a view.
        if (View is { } view && _life.Phase != GroupPhase.Leaving) Membership.Leave(view.Group);
        _life.Become(View is null ? GroupPhase.Abandoned : GroupPhase.Withdrawn);
        (_muted, _undecided) = (failed, true);
        Conclude(reason, failed, wanted);
    }

    /// <summary>
    /// Asks once in a view for another one with the same members. Its flush brings messages that are missing here, and numbers of messages or positions that have
    /// become large begin again.
    /// </summary>
    public void AskForView()
    {
        if (_viewAsked || IsWedged) return;
        _viewAsked = true;
        Membership.RequestView(View!.Group);
    }

    /// <summary>
    /// The membership service has ended the group. For a member that is leaving, alone or with its process, that counts as a view without it: no member that stays holds the
    /// state. What the flush agreed on is delivered to its handlers like all before.
    /// </summary>
    public void EndWithGroup(string reason)
    {
        bool leaves = IsGoing || Phase == GroupPhase.Withdrawn || (Phase == GroupPhase.Member && HasAckedToLeave);
        if (leaves && Flush is { Acked: true, Cut: { } cut }) DeliverCut(cut);
        // Without the state the join has not completed, so it is refused.
        End(Phase == GroupPhase.Loading ? new JoinRefusedException(Name, reason) : new NotMemberException(Name, reason), failed: !leaves);
    }

    /// <summary>
    /// The group is over for this process; everything that waits ends with <paramref name="reason"/>. If the membership failed, no handler is called any
    /// more: the others have gone on without this member, and what it was to handle may be in the state that its next life loads.
    /// </summary>
    public void End(Exception reason, bool failed)
    {
        if (IsOver) return;
        Touch();
        // A join that is not complete when its process leaves is given up.
        bool wanted = _host.Departs && Phase is GroupPhase.Joining or GroupPhase.Loading;
        _life.Become(GroupPhase.Over);
        _undecided &= failed;
        _muted |= failed;
        Offer.Close();
        _hooks?.GiveUp();
        _hooks = null;
        Node.CancelTimer(_leaveTimer);
        _early.Clear();
        _strangers = null;
        Replies.Close();
        if (View is not null)
        {
            Watch.OnViewEnded(View);
            Flush.Close();
            Suspicions.WithdrawAll(this);
            Multicast.Close(CallErrorOf(reason));
            Peers.Close();
            Calls.Fail(Peers.TakeUnsent(), CallErrorOf(reason));
        }
        if (_over is null) Conclude(reason, failed, wanted);
        else if (failed) Dispatcher.Drop(CallError!);
        Dispatcher.Close();
        Links.Close();
        _host.Forget(this);
    }

    private void Conclude(Exception reason, bool failed, bool wanted)
    {
        _over = reason;
        Watch.OnOver(reason, failed && !wanted);
        var error = CallErrorOf(reason);
        EndJoin();
        if (View is not null)
        {
            Calls.Fail(Peers.TakeWaiting(), error);
            Multicast.Abandon(error);
        }
        _queue.Fail(error);
        Queries.FailAll(error);
        _loader?.Close();
        _loader = null;
        foreach (var port in Layers.All) port.End(reason, error);
        // A member that leaves has handled everything that came before; one that failed does not wait for its handlers.
        if (failed || View is null)
        {
            // Callers whose messages wait behind a handler do not wait for it either.
            Dispatcher.Drop(error);
            Node.Complete(new Ending(this, failed ? reason : Outcome));
        }
        else
        {
            _host.AwaitHandlers(this);
            Dispatcher.Add(new() { Kind = EventKind.Left });
            if (_leavingSoon) LimitHandlers();
        }
    }

    /// <summary>On the worker: the handlers have handled all that came before the end.</summary>
    public void PostEnded() => Post(new CallCommand(
        () =>
        {
            _host.HandlersEnded(this);
            Node.CancelTimer(_handlersTimer);
            Node.Complete(new Ending(this, Outcome));
        },
        _ => Node.Complete(new Ending(this, Outcome))));

    private sealed class Ending(GroupProtocol group, Exception? error) : ICompletion
    {
        public void Run()
        {
            // Fails the join if its caller has no group yet; does nothing if the join has completed.
            group._joined.TrySetException(ISharedError.ForCall(group._over!));
            // Marks the error as observed: nobody has to await it.
            _ = group._joined.Task.Exception;
            group.Completion.TrySet(group.Node, error);
        }
    }

    /// <summary>On the worker: the view handlers have handled a view. Readers of views, and the caller of a join, continue elsewhere.</summary>
    public void PostViewHandled(View view)
    {
        Facade.Handled(view);
        Post(new CallCommand(() => Node.Complete(new ViewHandled(this))));
    }

    private sealed class ViewHandled(GroupProtocol group) : ICompletion
    {
        public void Run()
        {
            group.Facade.Publish();
            group._joined.TrySetResult();
        }
    }
}
