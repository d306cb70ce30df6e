using System.Runtime.ExceptionServices;
using GroupCore.Groups.Buffers;
using GroupCore.Groups.Calls;
using GroupCore.Runtime;

namespace GroupCore.Groups.Dispatch;

/// <summary>
/// The event stream of one group: the loop appends in delivery order, and one worker at a time runs the handlers, in batches of what has
/// gathered meanwhile. Source: node-and-turn.md#user-code-runs-outside-the-turn, multicast.md#acknowledgements-stop-before-memory-does.
/// </summary>
/// <remarks>
/// Two arrays change hands, so nothing is shared while either side works: the loop fills one, and the worker empties the other. The worker tells
/// the loop by a command how far it is, at most one at a time. A backlog above the bound stops acknowledgements and so the senders.
/// An event counts as handled for others (R13) when a command that was posted after it runs: what its handler posted has run by then.
/// <c>Inline</c> groups run their handlers on the loop at the end of the turn.
/// </remarks>
internal sealed class Dispatcher : ICompletion
{
    private const int ProgressEvery = 256;
    private readonly INode _node;
    private readonly IEventTarget _target;
    private readonly bool _inline;
    private readonly Progress _progress;
    private GroupEvent[] _filling = [];
    private GroupEvent[] _running = [];
    private int _filled;
    private int _toRun;
    // Number of events before the worker's batch.
    private long _batchFrom;
    private bool _busy;
    private bool _closing;
    private long _catchUpTo;
    private long _catchUpBytes;
    private long _addedEvents;
    private long _addedBytes;
    private long _doneEvents;
    private long _doneBytes;
    // Dropped events that do not count as handled before the worker is idle, since they lie behind its batch.
    private long _droppedEvents;
    private Exception? _dropsWith;
    private MessageSlab? _holdSlab;
    private int _holdCount;
    // Used by the worker; the loop sets them when it begins a batch, and reads how far the worker is.
    private int _next;
    private Exception? _fault;
    private long _batchBytes;
    private MessageSlab? _releaseSlab;
    private int _releaseCount;
    // Written by the worker, read by the loop.
    private long _workedEvents;
    private long _workedBytes;
    private int _posted;
    // Events handled when the command was posted: written by the thread that posts it, then read by the command.
    private long _reported;
    private volatile bool _idle = true;

    public Dispatcher(INode node, IEventTarget target, bool inline)
    {
        (_node, _target, _inline) = (node, target, inline);
        _progress = new(this);
        if (inline) node.KeepTurns();
    }

    /// <summary>Whether handlers are so far behind that senders must wait.</summary>
    public bool Full => IsCatchingUp
        ? Backlog >= _catchUpBytes
        : Unhandled >= GroupLimits.DispatchEvents || _addedBytes - _doneBytes >= GroupLimits.DispatchBytes;

    /// <summary>What the handlers have not handled, in units of <see cref="GroupLimits.Cost"/>.</summary>
    public long Backlog => Math.Max(Unhandled * GroupLimits.Cost(0), _addedBytes - _doneBytes);

    private long Unhandled => _addedEvents - _doneEvents - _droppedEvents;

    /// <summary>Whether more than <paramref name="limit"/> waits; what a joiner held may wait on top.</summary>
    public bool IsBeyond(long limit) => Backlog > limit + (IsCatchingUp ? _catchUpBytes : 0);

    /// <summary>Whether the handlers have not yet reached the end of what was held while the state was loaded.</summary>
    public bool IsCatchingUp => _doneEvents < _catchUpTo;

    /// <summary>Number of the next event.</summary>
    public long Added => _addedEvents;

    /// <summary>Events that are not handled; from any thread.</summary>
    public long Waiting => Math.Max(0, Volatile.Read(ref _addedEvents) - Volatile.Read(ref _workedEvents) - Volatile.Read(ref _droppedEvents));

    /// <summary>How many events are handled, counted one by one and not only as the worker reports them; on the loop.</summary>
    public long Position => _batchFrom + Volatile.Read(ref _next);

    /// <summary>Appends an event. Takes a hold on its slab, unless the caller passes its own hold on (<paramref name="owned"/>).</summary>
    public void Add(in GroupEvent entry, bool owned = false)
    {
        _addedEvents++;
        if (_dropsWith is not null && entry.Kind != EventKind.Left)
        {
            Drop(entry, held: owned);
            CountDropped();
            return;
        }
        _addedBytes += entry.Length;
        if (entry.Slab is { } slab && !owned)
        {
            if (!ReferenceEquals(slab, _holdSlab)) TakeHolds();
            _holdSlab = slab;
            _holdCount++;
        }
        Append(entry);
    }

    private void Append(in GroupEvent entry)
    {
        if (_filled == _filling.Length) Array.Resize(ref _filling, Math.Max(16, _filled * 2));
        _filling[_filled++] = entry;
    }

    /// <summary>
    /// No handler is called any more: events that wait for the worker, or are added later, are dropped at once, however long the worker stays in a handler. Callers are told.
    /// The worker passes over the rest of its batch. Only the event that tells of the end is kept. On the loop.
    /// </summary>
    public void Drop(Exception reason)
    {
        Abandon(reason);
        TakeHolds();
        _dropsWith = reason;
        var waiting = _filling.AsSpan(0, _filled);
        (_filling, _filled) = ([], 0);
        foreach (ref var entry in waiting)
        {
            if (entry.Kind == EventKind.Left)
            {
                Append(entry);
                continue;
            }
            _addedBytes -= entry.Length;
            Drop(entry, held: true);
        }
        CountDropped();
    }

    private void Drop(GroupEvent entry, bool held)
    {
        if (held) entry.Slab?.Release(1);
        _droppedEvents++;
        Abandon(ref entry, _dropsWith!);
        _target.OnDropped(entry);
    }

    private void CountDropped()
    {
        if (_busy || _droppedEvents == 0) return;
        Volatile.Write(ref _workedEvents, _workedEvents + _droppedEvents);
        _doneEvents = _workedEvents;
        _droppedEvents = 0;
    }

    /// <summary>All that a joiner held has been added. Until it is handled, more may wait: up to <paramref name="bytes"/>, the joiner's bound.</summary>
    public void CatchUp(long bytes) => (_catchUpTo, _catchUpBytes) = (_addedEvents, bytes);

    /// <summary>Takes the holds on slabs that were only noted so far; before any message is dropped from the store. One atomic operation per run of a slab.</summary>
    public void TakeHolds()
    {
        if (_holdCount > 0) _holdSlab!.Hold(_holdCount);
        (_holdSlab, _holdCount) = (null, 0);
    }

    /// <summary>Hands what has gathered to the worker if it is free. End of turn.</summary>
    public void Publish()
    {
        TakeHolds();
        PublishFilled();
        if (!_closing || _filled > 0) return;
        _closing = false;
        if (_inline) _node.LendTurns();
    }

    /// <summary>Nothing has happened for some time: releases memory that grew.</summary>
    public void Trim()
    {
        if (!_busy && _filled == 0) (_filling, _running) = ([], []);
    }

    /// <summary>The group is over: nothing comes after what was added. Called once.</summary>
    public void Close() => _closing = true;

    private void PublishFilled()
    {
        if (_busy || _filled == 0) return;
        (_filling, _running) = (_running, _filling);
        (_toRun, _filled) = (_filled, 0);
        (_batchFrom, _next) = (_workedEvents, 0);
        _busy = true;
        _idle = false;
        if (_inline) Run();
        else _node.Complete(this);
    }

    /// <summary>
    /// The node ends: callers whose own messages wait here for their handler are told, though the worker may be in a handler that never
    /// returns. The worker passes over what it still has. On the loop.
    /// </summary>
    public void Abandon(Exception reason)
    {
        for (int i = 0; i < _filled; i++) Abandon(ref _filling[i], reason);
        for (int i = 0; _busy && i < _toRun; i++) Abandon(ref _running[i], reason);
    }

    private void Abandon(ref GroupEvent entry, Exception reason)
    {
        if (!TryTakeCall(ref entry, out var call)) return;
        call.Error = reason;
        _node.Complete(call);
    }

    // Either the worker that has handled the message, or the node that ends, answers the caller.
    private static bool TryTakeCall(ref GroupEvent entry, [System.Diagnostics.CodeAnalysis.NotNullWhen(true)] out SendOperation? call)
    {
        call = Volatile.Read(ref entry.Target) as SendOperation;
        return call is not null && Interlocked.CompareExchange(ref entry.Target, null, call) == call;
    }

    /// <summary>Runs a batch, or what is left of it; outside of the loop unless inline.</summary>
    public void Run()
    {
        try
        {
            if (_fault is { } fault) ExceptionDispatchInfo.Throw(fault);
            ExecutionContext.Run(_target.Context, static dispatcher => ((Dispatcher)dispatcher!).RunBatch(), this);
        }
        catch (Exception error)
        {
            // Users' code is guarded, so this is a defect, or memory is short. The group would handle nothing any more, and nobody would learn of it. So the node ends with
            // the error, as with one that is thrown in a turn.
            _node.Fail(error);
            throw;
        }
    }

    private void RunBatch()
    {
        if (RunToPending(out var pending)) EndBatch();
        else _ = FinishAsync(pending);
    }

    /// <summary>
    /// A handler waits for something: the rest of the batch runs after it, but not on the thread that ends its wait. That thread may hold a caller's lock, or run
    /// another group's handler, on the loop if that is inline.
    /// </summary>
    private async Task FinishAsync(ValueTask pending)
    {
        try
        {
            await pending.ConfigureAwait(false);
            OnEventEnded();
        }
        catch (Exception error)
        {
            // Nobody awaits this task: the next Run throws the error.
            _fault = error;
        }
        _node.Resume(this);
    }

    /// <summary>Runs events until one is pending; true when none is left.</summary>
    private bool RunToPending(out ValueTask pending)
    {
        object? outer = _target.Enter();
        try
        {
            while (_next < _toRun)
            {
                pending = _target.Handle(ref _running[_next]);
                if (!pending.IsCompletedSuccessfully) return false;
                OnEventEnded();
            }
            pending = default;
            return true;
        }
        finally
        {
            _target.Exit(outer);
        }
    }

    private void OnEventEnded()
    {
        ref var done = ref _running[_next++];
        _batchBytes += done.Length;
        if (TryTakeCall(ref done, out var call)) call.Complete(_target.Skipped);
        if (done.Slab is { } slab)
        {
            if (!ReferenceEquals(slab, _releaseSlab)) ReleaseHeld();
            _releaseSlab = slab;
            _releaseCount++;
        }
        done = default;
        if (_next % ProgressEvery != 0 || _next == _toRun) return;
        ReleaseHeld();
        Report(ProgressEvery, last: false);
    }

    private void EndBatch()
    {
        ReleaseHeld();
        Report(_toRun % ProgressEvery == 0 ? ProgressEvery : _toRun % ProgressEvery, last: true);
    }

    /// <summary>One atomic operation per run of a slab.</summary>
    private void ReleaseHeld()
    {
        _releaseSlab?.Release(_releaseCount);
        (_releaseSlab, _releaseCount) = (null, 0);
    }

    private void Report(int events, bool last)
    {
        Volatile.Write(ref _workedBytes, _workedBytes + _batchBytes);
        _batchBytes = 0;
        Volatile.Write(ref _workedEvents, _workedEvents + events);
        // Once the loop sees this the arrays are its own again.
        if (last) _idle = true;
        if (!_inline) PostProgress();
        else if (last)
        {
            TakeProgress();
            if (_target.OnHandled(0)) PostProgress();
        }
    }

    private void PostProgress()
    {
        if (Interlocked.Exchange(ref _posted, 1) != 0) return;
        _reported = Volatile.Read(ref _workedEvents);
        _node.Post(_progress);
    }

    private void OnProgress()
    {
        long reported = _reported;
        // A full fence: if a worker still finds the report posted, the end of its batch must be seen below, or nobody starts the next batch.
        Interlocked.Exchange(ref _posted, 0);
        TakeProgress();
        // Handlers that have ended since may have posted something behind this command.
        if (_target.OnHandled(reported) && reported < _doneEvents) PostProgress();
    }

    private void TakeProgress()
    {
        bool idle = _idle;
        _doneEvents = Volatile.Read(ref _workedEvents);
        _doneBytes = Volatile.Read(ref _workedBytes);
        if (idle)
        {
            _busy = false;
            CountDropped();
        }
        _target.OnProgress();
    }

    private sealed class Progress(Dispatcher dispatcher) : NodeCommand
    {
        public override void Run() => dispatcher.OnProgress();

        public override void Abandon(Exception reason)
        {
        }
    }
}
