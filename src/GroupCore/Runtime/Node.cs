using System.Runtime.ExceptionServices;
using GroupCore.Basics;
using GroupCore.Diagnostics;
using GroupCore.Transport;
using GroupCore.Wire;

namespace GroupCore.Runtime;

/// <summary>
/// One life of a node: its protocols, timers and command queue, and the turn that drives them. Hosted by <c>NodeLoop</c> in
/// production and by the simulator in tests; both call the same members in the same order.
/// </summary>
/// <remarks>
/// A turn: <see cref="Advance"/> · any number of <see cref="Deliver"/>, <see cref="LinkUp"/>, <see cref="LinkFailed"/> ·
/// <see cref="RunCommands"/> · <see cref="FireTimers"/> · <see cref="EndTurn"/> · (the host writes) · <see cref="Release"/>.
/// </remarks>
internal sealed class Node : INode
{
    private const int CommandsPerTurn = 256;
    private const int FrameTypes = 256;
    private readonly IHostPort _host;
    private readonly CommandQueue _commands;
    private readonly TimerQueue _timers = new();
    private readonly IFrameHandler?[] _routes = new IFrameHandler?[FrameTypes];
    private readonly List<ILinkObserver> _observers = [];
    private readonly List<ITurnParticipant> _participants = [];
    private readonly List<IStopListener> _stopListeners = [];
    private readonly List<ICompletion> _completions = [];
    private readonly CommandLine _line;
    private volatile Exception? _stopped;
    private Exception? _failure;
    private NodeCommand? _command;
    private int _keepers;

    public Node(ulong id, ulong seed, IHostPort host, Func<Node, ILinks> links, int commandCapacity = 16_384, string? without = null)
    {
        Id = id;
        Random = new(seed);
        Without = without;
        _host = host;
        _commands = new(commandCapacity);
        _line = new(_commands);
        Links = links(this);
    }

    public ulong Id { get; }

    public long Now { get; private set; }

    public long Clock() => Math.Max(Now, _host.Clock());

    public Prng Random { get; }

    public ILinks Links { get; }

    public NodeCounters Counters { get; } = new();

    public string? Without { get; }

    public NodeLog Log { get; set; } = NodeLog.None;

    /// <summary>When the next timer is due, <see cref="long.MaxValue"/> without one.</summary>
    public long NextTimer => _timers.NextDue;

    public bool HasCommands => !_commands.IsEmpty || _line.Count > 0;

    /// <summary>Timers that wait; for checks.</summary>
    public int Timers => _timers.Count;

    /// <summary>Commands whose callers wait for room in the queue.</summary>
    public int CommandsWaiting => _line.Count;

    /// <summary>Whether callers may run turns. They may not while handlers run inside of turns: a handler could need a lock that the caller holds.</summary>
    public bool LendsTurns => _keepers == 0;

    public TimerHandle SetTimer(long due, ITimerTarget target, long token) => _timers.Set(due, target, token);

    public void CancelTimer(TimerHandle handle) => _timers.Cancel(handle);

    public void Route(FrameType first, FrameType last, IFrameHandler handler)
    {
        for (int type = (int)first; type <= (int)last; type++)
        {
            if (_routes[type] is not null) throw new InvalidOperationException($"Frame type {(FrameType)type} already has a handler.");
            _routes[type] = handler;
        }
    }

    public void Observe(ILinkObserver observer) => _observers.Add(observer);

    public void AtEndOfTurn(ITurnParticipant participant) => _participants.Add(participant);

    public void AtStop(IStopListener listener) => _stopListeners.Add(listener);

    public void Complete(ICompletion work)
    {
        // After the stop no turn ends any more, and any thread may abandon a late command.
        if (_stopped is null) _completions.Add(work);
        else _host.Resume(work);
    }

    public void Resume(ICompletion work) => _host.Resume(work);

    public void KeepTurns() => _keepers++;

    public void LendTurns() => _keepers--;

    public bool TryPost(NodeCommand command)
    {
        bool kept = command.IsKept;
        if (_stopped is not null || !_line.TryEnqueue(command)) return false;
        Posted(command, kept);
        return true;
    }

    public ValueTask PostAsync(NodeCommand command, CancellationToken cancellationToken = default)
    {
        bool kept = command.IsKept;
        if (_stopped is { } reason) return ValueTask.FromException(ISharedError.ForCall(reason));
        if (!_line.TryEnqueue(command) && _line.Enter(command, cancellationToken) is { } waiter)
        {
            _host.Wake();
            return new(waiter.Task);
        }
        Posted(command, kept);
        return default;
    }

    public void Fail(Exception error)
    {
        // Kept first, so that a stop that comes before the command does not hide the error.
        Interlocked.CompareExchange(ref _failure, error, null);
        this.Post(new FailureCommand(error));
    }

    /// <summary>Throws the error that <see cref="Fail"/> was told, unless that error is why the node ends, or was thrown here before.</summary>
    public void ThrowFailure(Exception? cause)
    {
        if (Interlocked.Exchange(ref _failure, null) is { } failure && !ReferenceEquals(failure, cause)) ExceptionDispatchInfo.Throw(failure);
    }

    public void Advance(long now) => Now = Math.Max(Now, now);

    public void Deliver(int peer, in FrameHeader header, ReadOnlySpan<byte> body)
    {
        if (_routes[(int)header.Type] is { } handler) handler.OnFrame(peer, header, body);
        else Counters.Refuse(RefusalReason.UnknownType);
    }

    public void LinkUp(int peer)
    {
        foreach (var observer in _observers) observer.OnLinkUp(peer);
    }

    public void LinkFailed(int peer, LinkFault fault)
    {
        foreach (var observer in _observers) observer.OnLinkFault(peer, fault);
    }

    public void LinkHasRoom(int peer)
    {
        foreach (var observer in _observers) observer.OnRoom(peer);
    }

    /// <summary>Runs at most <paramref name="max"/> queued commands and lets waiting callers go on; returns how many ran.</summary>
    public int RunCommands(int max = CommandsPerTurn)
    {
        int count = 0;
        while (count < max && _commands.TryDequeue(out var command))
        {
            try
            {
                command.Run();
            }
            catch
            {
                // Stored here and not before each command: callers on other threads read the neighbouring fields (2 to 4 of 131 ns per message of 100 bytes).
                _command = command;
                throw;
            }
            count++;
        }
        if (_line.Count > 0) _line.Advance(_completions);
        return count;
    }

    /// <summary>Fires the timers that are due; returns how many.</summary>
    public int FireTimers()
    {
        int count = 0;
        while (_timers.FireOne(Now)) count++;
        return count;
    }

    /// <summary>Ends the turn. Commands that inline handlers posted in it still run, so that their frames leave with the same write.</summary>
    public void EndTurn()
    {
        foreach (var participant in _participants) participant.EndOfTurn();
        if (LendsTurns || RunCommands() == 0) return;
        foreach (var participant in _participants) participant.EndOfTurn();
    }

    /// <summary>At most this many places are kept for the completions of the next turn; the further places that a burst needed are dropped.</summary>
    public const int CompletionsKept = 8_192;

    /// <summary>Removes a completion from those of this turn: the caller that runs the turn runs it itself.</summary>
    public bool TryKeep(ICompletion own) => _completions.Remove(own);

    /// <summary>Hands the completions of this turn to the host.</summary>
    public void Release()
    {
        if (_completions.Count == 0) return;
        _host.RunCompletions(_completions);
        _completions.Clear();
        if (_completions.Capacity > CompletionsKept) _completions.Capacity = CompletionsKept;
    }

    /// <summary>
    /// Ends every call that waits for this node with <paramref name="reason"/>: the command in which a turn threw, calls that wait in its
    /// protocols, and commands that are queued or wait for room. Called by the host on the loop, after its last turn.
    /// </summary>
    public void Stop(Exception reason)
    {
        var steps = default(StopSteps);
        if (_command is { } command) steps.Do(() => command.Abandon(reason));
        foreach (var listener in _stopListeners) steps.Do(() => listener.OnStop(reason));
        // A turn that threw half-way may have left one call in two places, or answered it before.
        var once = new HashSet<ICompletion>(ReferenceEqualityComparer.Instance);
        _completions.RemoveAll(completion => !once.Add(completion));
        steps.Do(() => Refuse(reason));
        steps.ThrowIfAny();
    }

    /// <summary>Refuses all later commands and abandons the queued ones; calls that wait in the protocols are not answered, as in a crash.</summary>
    public void Refuse(Exception reason)
    {
        _stopped = reason;
        Interlocked.MemoryBarrier();
        var steps = default(StopSteps);
        steps.Do(() => AbandonQueued(reason));
        steps.Do(() => EndWaiting(reason));
        steps.Do(Release);
        steps.Do(() => ThrowFailure(reason.InnerException));
        steps.ThrowIfAny();
    }

    private void Posted(NodeCommand command, bool kept)
    {
        _host.Posted(command, kept);
        // The node may have stopped meanwhile, and abandoned its queue before this command entered it.
        if (_stopped is { } reason) AbandonLate(reason);
    }

    // On a caller's thread: if another caller's command throws here, this caller does not get the error. The host does, and the node's end reports it unless it is over.
    private void AbandonLate(Exception reason)
    {
        try
        {
            AbandonQueued(reason);
        }
        catch (AggregateException error)
        {
            Interlocked.CompareExchange(ref _failure, error, null);
            _host.Resume(new ActionCompletion(() => ExceptionDispatchInfo.Throw(error)));
        }
    }

    private void EndWaiting(Exception reason)
    {
        foreach (var waiter in _line.Stop(reason)) Complete(waiter);
    }

    private void AbandonQueued(Exception reason)
    {
        var steps = default(StopSteps);
        while (_line.TryAbandon(out var command)) steps.Do(() => command.Abandon(reason));
        steps.ThrowIfAny();
    }
}
