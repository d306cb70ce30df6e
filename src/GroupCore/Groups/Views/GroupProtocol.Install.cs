using GroupCore.Groups.Calls;
using GroupCore.Groups.Dispatch;
using GroupCore.Groups.Shared;
using GroupCore.Groups.State;
using GroupCore.Membership;
using GroupCore.Runtime;

namespace GroupCore.Groups.Views;

/// <summary>From one view to the next.</summary>
internal sealed partial class GroupProtocol
{
    private const long AskForInitialised = 2;
    private const long HookTimeout = 3;
    private const long LeaveTimeout = 4;
    private const long JoinTimeout = 5;
    private const long HandlersTimeout = 7;
    private readonly EarlyFrames _early = new(GroupLimits.EarlyMostBytes);
    private EarlyFrames? _strangers;
    private StateLoader? _loader;
    private TerminationHooks? _hooks;
    private bool _viewAsked;
    private long _transferTook;
    // The position of the handlers when a view began, and since when they have been at it.
    private (long Position, long Since) _handled;
    private List<SendOperation> _betweenViews = [];

    /// <summary>Whether termination hooks have nothing more to do (R7).</summary>
    public bool HooksEnded => _hooks is not { IsOpen: true };

    /// <summary>Whether a hook may still send: the view change that is under way still waits for it.</summary>
    public bool Awaits(TerminationContext hook) => _hooks?.Awaits(hook) == true;

    public void OnInstall(View next)
    {
        Touch();
        if (IsOver) return;
        if (View is null)
        {
            int rank = next.RankOf(Membership.Self);
            if (rank >= 0) EnterFirst(next, rank);
            return;
        }
        if (next.Id <= View.Id) return;
        int own = next.RankOf(Membership.Self);
        bool follows = next.Id == View.Id + 1 && Flush.Acked && Flush.Wedge == next.Proposal;
        if (!follows && own < 0)
        {
            EndWithout(next);
            return;
        }
        if (!follows)
        {
            // Every survivor of the next view has acknowledged its flush (R8). This member has not, so it asks the membership instead of guessing.
            Membership.Sync(View.Group, View.Id, Flush.Wedge);
            return;
        }
        bool stuck = AreHandlersStuck;
        if (Flush.Cut is { } cut && Rules.FlushDelivers) DeliverCut(cut);
        var contributions = Flush.Contributions();
        var left = View;
        bool failed = own < 0 && !_life.IsGoing && !Contains(next.Left, Membership.Self);
        LeaveView(own < 0 ? new NotMemberException(Name, failed ? "it was excluded" : "it has left") : null);
        if (own >= 0)
        {
            Enter(next, own, contributions, stuck);
            return;
        }
        End(new NotMemberException(Name, failed ? $"excluded after view {left.Id}" : $"left after view {left.Id}"), failed);
    }

    /// <summary>
    /// The group has gone on without this member, and the Oracle may no longer keep the first view without it. If this member was to leave, and had acknowledged the
    /// flush before that view, it has left. Otherwise it counts as excluded: what it did last may be lost.
    /// </summary>
    private void EndWithout(View next)
    {
        bool left = next.Id > View!.Id + 1 && HasAckedToLeave;
        if (left && Flush.Cut is { } cut) DeliverCut(cut);
        LeaveView(new NotMemberException(Name, left ? "it has left" : "it was excluded"));
        End(new NotMemberException(Name, $"{(left ? "left" : "excluded")} after view {View.Id}; the group is in view {next.Id}"), failed: !left);
    }

    /// <summary>Whether this member has acknowledged the flush of a proposal with which it leaves, even if nobody asked it to leave this group but its process departs.</summary>
    private bool HasAckedToLeave => Flush is { Acked: true, Proposal: { } last } && Contains(last.Leavers, Membership.Self);

    /// <summary>Delivers what the flush agreed on. Early answers of members that take no part in the flush do not count: those members may have had another order.</summary>
    private void DeliverCut(FlushCut cut)
    {
        var failed = new List<ProcessId>();
        for (int rank = 0; rank < View!.Members.Count; rank++)
            if (!Flush.TakesPart(rank)) failed.Add(View.Members[rank].Id);
        Queries.OnFailed(failed);
        Multicast.DeliverCut(cut);
    }

    /// <summary>
    /// Whether too much waits for handlers that have made no progress since an earlier view, and for a long time. What the end of a view delivers at once does not count, as
    /// the handlers have had no time for it.
    /// </summary>
    private bool AreHandlersStuck => Dispatcher.IsBeyond(_host.Options.HandlerBacklogBytes) && Dispatcher.Position == _handled.Position
        && Node.Now - _handled.Since >= GroupLimits.StuckNanoseconds;

    // The same messages wait at all members: if all that hold the state left, the group would lose it. More than one stays, since one may leave for another reason.
    private static bool IsOfFirstHolders(View view, int rank)
    {
        int before = 0;
        for (int other = 0; other < rank; other++)
            if (view.Members[other].Initialised) before++;
        return before < GroupLimits.HoldersThatStay;
    }

    private static bool Contains(IReadOnlyList<ProcessId> list, ProcessId id)
    {
        for (int i = 0; i < list.Count; i++)
            if (list[i] == id) return true;
        return false;
    }

    private void LeaveView(Exception? reason)
    {
        Watch.OnViewEnded(View!);
        Flush.Close();
        Suspicions.WithdrawAll(this);
        Multicast.Close(reason);
        Peers.Close();
        _loader?.Close();
        Offer.Close();
        _hooks?.GiveUp();
        (_loader, _hooks) = (null, null);
    }

    private void EnterFirst(View next, int rank)
    {
        bool wanted = _life.Phase == GroupPhase.Joining;
        _life.Become(!wanted ? GroupPhase.Withdrawn : next.Members[rank].Initialised ? GroupPhase.Member : GroupPhase.Loading);
        Joining.OnProgress("the group's state");
        if (_life.Phase != GroupPhase.Loading) EndJoin();
        Enter(next, rank, null);
        if (!wanted) Membership.Leave(next.Group);
    }

    private void Enter(View next, int rank, List<LayerContribution>? contributions, bool stuck = false)
    {
        _betweenViews = Peers?.TakeUnsent() ?? [];
        bool initialised = Initialised;
        var before = View;
        (View, Rank, _viewAsked) = (next, rank, false);
        Watch.OnView(next, rank, before);
        if (Dispatcher.Position != _handled.Position) _handled = (Dispatcher.Position, Node.Now);
        var load = initialised ? null : new LoadBudget(_host.Options.MaxJoinBacklogBytes);
        Multicast = new(this, this, _queue, next, rank, load);
        Peers = new(this, next, rank, Peers?.NextHandling ?? 1);
        Flush = new(this, Multicast, Peers, next);
        Links.Connect(next, rank, peer => _host.Bindings.IsIn(peer, next.Group, next.Id));
        if (initialised)
        {
            Offer.Begin(next);
            Dispatcher.Add(new() { Kind = EventKind.View, Target = next });
            if (!next.Members[rank].Initialised) AskForInitialisedView();
        }
        else if (_life.Phase == GroupPhase.Loading) _loader = new(this, next, _host.Options.MaxCheckpointBytes);
        FailUnasked(next);
        Queries.OnView(next);
        BindAll(next);
        Replies.OnView(next);
        var parts = GroupLayers.Read(contributions ?? []);
        foreach (var port in Layers.All) port.OnInstalled(next, parts);
        foreach (var call in _betweenViews) Peers.Take(call);
        _betweenViews = [];
        _queue.Restart();
        CheckLost(next);
        if (stuck && !IsOfFirstHolders(next, rank)) Withdraw(GroupOverloadedException.ByHandlers(Name, _host.Options.HandlerBacklogBytes), failed: true);
        ReplayEarly(next);
    }

    /// <summary>Fails queries that waited for a member that is gone: they were never sent, so they fail with another error than queries that it left unanswered.</summary>
    private void FailUnasked(View next)
    {
        foreach (var call in _betweenViews)
            if (call.Query != 0 && next.RankOf(call.To!.Value) < 0) Queries.Fail(call.Query, new MemberGoneException(Name, call.To.Value.ToString()));
    }

    /// <summary>The checkpoint of this view is here: it is loaded before the view event and what was held.</summary>
    public void Load(View view, ReadOnlyMemory<byte> state, long took)
    {
        if (_life.Phase != GroupPhase.Loading) return;
        _transferTook = took;
        Watch.OnState(state.Length, took);
        _life.Become(GroupPhase.Member);
        EndJoin();
        Dispatcher.Add(new() { Kind = EventKind.Load, Target = new LoadedState(state) });
        Dispatcher.Add(new() { Kind = EventKind.View, Target = view });
        Multicast.Initialise();
        AskForInitialisedView();
    }

    /// <summary>
    /// The initialised flag is constant within a view: until the next view this member's state does not count if all others fail. So it asks for that view. But that view
    /// makes the transfers of members that still load begin again. So it first waits as long as its own transfer took, at most 5 s: then only a transfer that takes twice as
    /// long, or 5 s longer, begins again.
    /// </summary>
    private void AskForInitialisedView()
    {
        bool alone = true;
        for (int rank = 0; rank < View!.Members.Count; rank++) alone &= rank == Rank || View.Members[rank].Initialised;
        long wait = GroupLimits.InitialisedNanoseconds + (alone ? 0 : Math.Min(_transferTook, GroupLimits.LoadTogetherNanoseconds));
        Node.SetTimer(Node.Now + wait, this, AskForInitialised | ((long)View.Id << 8));
    }

    void ITimerTarget.OnTimer(long token)
    {
        Touch();
        if (token == HandlersTimeout) GiveHandlersUp();
        if (IsOver) return;
        switch (token & 0xFF)
        {
            case LeaveTimeout:
                Withdraw(new NotMemberException(Name, "it gave up waiting for the others to decide the view without it"), failed: false);
                break;
            case JoinTimeout:
                LookAtJoin();
                break;
            case AskForInitialised when (ulong)(token >> 8) == View!.Id && !IsWedged:
                Membership.RequestView(View.Group);
                break;
            case HookTimeout when (ulong)(token >> 8) == Flush.Wedge:
                if (!HooksEnded) GiveHookUp();
                break;
        }
    }

    /// <summary>The time of the hooks is over: the flush goes on without them.</summary>
    private void GiveHookUp()
    {
        _hooks!.GiveUp();
        Count(ref _hooksGivenUp);
        ReportLater(new("view proposed", default, new TimeoutException(
            $"The hook of group '{Name}' did not call Done within {GroupLimits.HookNanoseconds / 1_000_000_000} s; the view change went on without it.")));
        Flush.TryAck();
    }

    /// <summary>Has the users' termination hooks called; they must end within 2 s. Source: views-and-flush.md#a-hook-has-two-seconds-of-each-proposal.</summary>
    public void StartHooks(Proposal proposal)
    {
        // Hooks of an earlier proposal no longer hold anything up and are not begun, whether or not this member starts hooks now.
        _hooks?.GiveUp();
        _hooks = null;
        if (Table.OnProposed.Count == 0 || !Initialised) return;
        _hooks = new(Facade, proposal, View!, Table.OnProposed.Count);
        Dispatcher.Add(new() { Kind = EventKind.Proposed, Target = _hooks });
        Node.SetTimer(Node.Now + GroupLimits.HookNanoseconds, this, HookTimeout | ((long)proposal.Number << 8));
    }

    /// <summary>From any thread.</summary>
    public void PostHookEnd(TerminationContext hook) => Post(new CallCommand(() =>
    {
        if (_hooks?.End(hook) != true) return;
        Touch();
        if (IsWedged) Flush.TryAck();
    }));
}
