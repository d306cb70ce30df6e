using GroupCore.Basics;
using GroupCore.Groups.Calls;
using GroupCore.Groups.Dispatch;
using GroupCore.Groups.PointToPoint;
using GroupCore.Groups.State;
using GroupCore.Membership;

namespace GroupCore.Groups.Views;

/// <summary>Runs a group's events on its worker: finds the handler and calls it. Exceptions of handlers go to the error handler, and no further.</summary>
internal sealed class Upcalls(GroupProtocol group) : IEventTarget
{
    private static readonly AsyncLocal<HandlerFlow?> s_flow = new();

    // The upcalls whose handlers run on this thread now; null where none do.
    [ThreadStatic]
    private static Upcalls? t_running;
    private ExecutionContext? _context;
    private Surroundings _surroundings;
    private View? _view;
    private ulong _handling;
    private bool _left;
    private bool _notLoaded;

    /// <summary>Name of the handler at work, null when none is; from any thread.</summary>
    public string? Running { get; private set; }

    /// <summary>Whether the caller is a handler of this group: not code that a handler started in parallel, nor code that goes on after it.</summary>
    public bool IsCurrent => s_flow.Value is { } flow && ReferenceEquals(flow.Owner, this) && (flow.IsAwaited ? !flow.HasEnded : ReferenceEquals(t_running, this));

    /// <summary>Number of the point-to-point message that the calling handler handles, else 0.</summary>
    public ulong CurrentHandling => IsCurrent ? Volatile.Read(ref _handling) : 0;

    /// <summary>Made once: setting an <see cref="AsyncLocal{T}"/> for each batch would make a context each time.</summary>
    public ExecutionContext Context => _context ??= CaptureContext();

    private ExecutionContext CaptureContext()
    {
        var outer = s_flow.Value;
        s_flow.Value = new(this, awaited: false);
        var context = ExecutionContext.Capture() ?? throw new InvalidOperationException("A worker does not suppress the flow of its context.");
        s_flow.Value = outer;
        return context;
    }

    public bool OnHandled(long events) => !group.IsOver && group.View is not null && group.Peers.OnHandled(events);

    public void OnProgress() => group.Touch();

    public Exception? Skipped { get; private set; }

    public object? Enter()
    {
        var outer = t_running;
        t_running = this;
        _surroundings = new(Context);
        return outer;
    }

    public void Exit(object? outer) => t_running = (Upcalls?)outer;

    public ValueTask Handle(ref GroupEvent entry)
    {
        var pending = Upcall(ref entry);
        // What a handler changed in its context must not reach the next handler, in this batch or another.
        _surroundings.Restore();
        return pending;
    }

    private ValueTask Upcall(ref GroupEvent entry)
    {
        Skipped = null;
        if ((_left || _notLoaded || group.Muted) && entry.Kind != EventKind.Left)
        {
            Skip(entry.Target);
            return default;
        }
        switch (entry.Kind)
        {
            case EventKind.Message or EventKind.PeerMessage: return OnMessage(ref entry);
            case EventKind.Query or EventKind.PeerQuery: return OnQuery(ref entry);
            case EventKind.View: OnView((View)entry.Target!); break;
            case EventKind.Proposed: OnProposed((TerminationHooks)entry.Target!); break;
            case EventKind.Save: OnSave((StateCut)entry.Target!); break;
            case EventKind.Left: _left = true; group.PostEnded(); break;
            default: OnLoad((LoadedState)entry.Target!); break;
        }
        return default;
    }

    /// <summary>The membership is over for the handlers, but not yet for the others: an event only counts as handled.</summary>
    private void Skip(object? target)
    {
        Skipped = group.CallError ?? new NotMemberException(group.Name, _left ? "it has left" : "its state could not be loaded");
        if (target is not TerminationHooks hooks) return;
        foreach (var context in hooks.Contexts) context.Done();
    }

    public void OnDropped(in GroupEvent entry)
    {
        if (entry.Target is TerminationHooks hooks) hooks.GiveUp();
        if (entry.Handling != 0 && !group.IsOver && group.View is not null) group.Peers.GiveUp(entry.Handling);
    }

    private ValueTask OnMessage(ref GroupEvent entry)
    {
        Volatile.Write(ref _handling, entry.Handling);
        var from = From(entry.Rank);
        if (group.Table.Find(entry.Handler) is not { } handler)
        {
            group.Facade.Unhandled(entry.Handler, from);
        }
        else
        {
            Running = handler.Name;
            var flow = BeginFlow(handler);
            try
            {
                var pending = handler.Invoke(from, entry.Slab!.Bytes.AsMemory(entry.Offset, entry.Length));
                if (!pending.IsCompletedSuccessfully) return FinishAsync(pending, handler, from, flow);
            }
            catch (Exception error)
            {
                Report(handler.Name, from, error);
            }
            flow?.End();
        }
        Volatile.Write(ref _handling, 0);
        Running = null;
        return default;
    }

    /// <summary>An awaited handler gets a flow of its own.</summary>
    private HandlerFlow? BeginFlow(HandlerEntry handler) => handler.IsAwaited ? s_flow.Value = new(this, awaited: true) : null;

    private async ValueTask FinishAsync(ValueTask pending, HandlerEntry handler, MemberRef from, HandlerFlow? flow)
    {
        try
        {
            await pending.ConfigureAwait(false);
        }
        catch (Exception error)
        {
            group.Facade.Report(new(handler.Name, from, error));
        }
        flow?.End();
        Volatile.Write(ref _handling, 0);
        Running = null;
    }

    private ValueTask OnQuery(ref GroupEvent entry)
    {
        Volatile.Write(ref _handling, entry.Handling);
        var from = From(entry.Rank);
        var reply = ReplyOperation.Rent(group.Replies, from.Id, entry.Number);
        if (group.Table.Find(entry.Handler) is not { } handler)
        {
            group.Facade.Unhandled(entry.Handler, from);
            reply.Abort("no such handler is registered here");
        }
        else
        {
            Running = handler.Name;
            var flow = BeginFlow(handler);
            try
            {
                var pending = handler.Answer(from, entry.Slab!.Bytes.AsMemory(entry.Offset, entry.Length), reply.Payload);
                if (!pending.IsCompletedSuccessfully) return FinishAsync(pending, handler, from, reply, flow);
                reply.Status = pending.Result;
            }
            catch (Exception error)
            {
                _surroundings.Restore();
                Abort(reply, handler, from, error);
            }
            flow?.End();
        }
        Volatile.Write(ref _handling, 0);
        Running = null;
        group.Post(reply);
        return default;
    }

    private async ValueTask FinishAsync(ValueTask<ReplyStatus> pending, HandlerEntry handler, MemberRef from, ReplyOperation reply, HandlerFlow? flow)
    {
        try
        {
            reply.Status = await pending.ConfigureAwait(false);
        }
        catch (Exception error)
        {
            Abort(reply, handler, from, error);
        }
        flow?.End();
        Volatile.Write(ref _handling, 0);
        Running = null;
        group.Post(reply);
    }

    private void Abort(ReplyOperation reply, HandlerEntry handler, MemberRef from, Exception error)
    {
        group.Facade.Report(new(handler.Name, from, error));
        reply.Abort(UserError.Text(error));
    }

    /// <summary>Restores the context first: the error handler must not see what the handler that threw has changed in it.</summary>
    private void Report(string handler, MemberRef from, Exception error)
    {
        _surroundings.Restore();
        group.Facade.Report(new(handler, from, error));
    }

    private MemberRef From(int rank) => new(rank, _view!.Members[rank]);

    private void OnView(View view)
    {
        _view = view;
        group.Facade.SetView(view);
        Running = "view";
        // If the membership fails during one handler, the handlers after it are not called any more.
        foreach (var handler in group.Table.OnView)
        {
            if (group.Muted) break;
            try
            {
                handler(view);
            }
            catch (Exception error)
            {
                Report("view", default, error);
            }
            finally
            {
                // The next handler begins as it would alone.
                _surroundings.Restore();
            }
        }
        Running = null;
        group.PostViewHandled(view);
    }

    private void OnProposed(TerminationHooks hooks)
    {
        Running = "view proposed";
        // Earlier handlers may have taken so long that the view change went on without the hooks, or another one began.
        for (int i = 0; i < hooks.Contexts.Count && !hooks.IsGivenUp; i++)
        {
            var context = hooks.Contexts[i];
            if (group.Muted)
            {
                // Neither this hook nor those behind it are called any more: the flush waits for none of them.
                context.Done();
                continue;
            }
            try
            {
                group.Table.OnProposed[i](context.Proposal, context);
            }
            catch (Exception error)
            {
                _surroundings.Restore();
                context.Failed(error);
            }
            finally
            {
                _surroundings.Restore();
            }
        }
        Running = null;
    }

    private void OnSave(StateCut cut)
    {
        Running = "checkpoint";
        cut.Take(group.Table);
        Running = null;
    }

    private void OnLoad(LoadedState state)
    {
        Running = "checkpoint";
        try
        {
            group.Table.Load?.Invoke(state.Bytes);
        }
        catch (Exception error)
        {
            // The loop learns of this only later: until then no handler may run on a state that is not there.
            _notLoaded = true;
            Report("checkpoint", default, error);
            // User code makes the text, so it is made here and not in a turn.
            string why = $"the state could not be loaded: {UserError.Text(error)}";
            group.Post(new CallCommand(() => group.FailJoin(why)));
        }
        Running = null;
    }
}
