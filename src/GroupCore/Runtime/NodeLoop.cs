using System.Diagnostics;
using GroupCore.Transport;
using GroupCore.Transport.Sockets;

namespace GroupCore.Runtime;

/// <summary>
/// Hosts one <see cref="Node"/> on one thread, which owns its protocols, timers and sockets.
/// </summary>
/// <remarks>
/// <para>A turn: read sockets (64 KiB each at most) and deliver their frames · up to 256 callers' commands · due timers · end of turn ·
/// one gathered write per peer · completions to the pool. When nothing happened the loop looks again for <see cref="NodeLoopOptions.Spin"/>,
/// yielding its core each time, then sleeps until a socket, a timer or a caller wakes it. A caller makes a system call only if the loop sleeps.</para>
/// <para>Failure cases: an exception in a turn is a bug of a protocol, whose state cannot be trusted any more. The node stops as if it had crashed: callers
/// get a <see cref="NodeStoppedException"/> with the fault inside, <see cref="Faulted"/> tells it, the process goes on.</para>
/// <para>Source: groupcore-oracle 1.4.</para>
/// </remarks>
internal sealed class NodeLoop : IHostPort, IAsyncDisposable
{
    private const int CommandsPerTurn = 256;
    private const long FlushTime = 200_000_000;
    private const long FlushPoll = 5_000_000;
    private readonly Node _node;
    private readonly CompletionBatchPool _batches;
    private readonly TaskCompletionSource _ended = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly long _mostSpin;
    private TcpMesh _mesh = null!;
    private long _spin;
    private long _idleSince;
    private int _wakeAsked;
    private int _sleeping;
    private volatile bool _stopping;

    private NodeLoop(NodeLoopOptions options)
    {
        NodeLoopOptions.Validate(options);
        var listen = EndPointText.Parse(options.Listen, nameof(options.Listen));
        NodeAddress? advertise = options.Advertise is null ? null : EndPointText.Format(EndPointText.ParseReachable(options.Advertise, nameof(options.Advertise)));
        _batches = new(OnCompletionFault);
        _spin = _mostSpin = (long)options.Spin.TotalNanoseconds;
        var port = CreatePort(options.Port);
        try
        {
            _node = new(NodeLoopOptions.RandomNumber() | 1, options.Seed ?? NodeLoopOptions.RandomNumber(), this,
                node => _mesh = new(node, new(options.Cluster, port, listen, advertise), NodeLoopOptions.RandomNumber()), options.CommandCapacity);
        }
        catch
        {
            port.Dispose();
            throw;
        }
        _node.Advance(Clock());
    }

    /// <summary>The node, for protocols and callers.</summary>
    public INode Node => _node;

    /// <summary>Where others reach the node.</summary>
    public NodeAddress Local => _mesh.Local;

    /// <summary>Where the node listens: the same unless another address is advertised.</summary>
    public NodeAddress Bound => _mesh.Bound;

    /// <summary>What ended the loop against its will; null while it runs and after a stop.</summary>
    public Exception? Fault { get; private set; }

    /// <summary>Completes when the loop's thread has ended and its sockets are closed, whatever the reason.</summary>
    public Task Ended => _ended.Task;

    /// <summary>A protocol or a completion threw. Raised on the thread where that happened.</summary>
    public event Action<Exception>? Faulted;

    /// <summary>
    /// Listens, lets <paramref name="compose"/> attach protocols, and starts the loop's thread.
    /// </summary>
    /// <exception cref="AddressInUseException">The port is taken.</exception>
    /// <exception cref="InsecureBindException">The address is not a loopback address.</exception>
    /// <exception cref="ArgumentException">An option is outside its limits.</exception>
    /// <exception cref="IOException">The system refused to listen.</exception>
    public static NodeLoop Start(NodeLoopOptions options, Action<INode>? compose = null)
    {
        var loop = new NodeLoop(options);
        try
        {
            compose?.Invoke(loop._node);
        }
        catch
        {
            loop._mesh.Dispose();
            throw;
        }
        new Thread(loop.Run) { IsBackground = true, Name = $"node:{EndPointText.Parse(loop.Bound.Text, nameof(options)).Port}" }.Start();
        return loop;
    }

    /// <summary>
    /// Ends the node: waiting commands are abandoned, what is queued for connected peers gets up to 200 ms to arrive, sockets are closed.
    /// Completes when all that is done; may be called again.
    /// </summary>
    public Task StopAsync()
    {
        _stopping = true;
        Wake();
        return Ended;
    }

    /// <summary>The same as <see cref="StopAsync"/>.</summary>
    public ValueTask DisposeAsync() => new(StopAsync());

    /// <inheritdoc/>
    public void Wake()
    {
        // Order matters: what the caller did, then the request, then the look at the sleeper; the loop does the reverse before it sleeps.
        Volatile.Write(ref _wakeAsked, 1);
        Interlocked.MemoryBarrier();
        if (Volatile.Read(ref _sleeping) == 1 && Interlocked.Exchange(ref _sleeping, 0) == 1) _mesh.Wake();
    }

    /// <inheritdoc/>
    public void RunCompletions(List<ICompletion> completions) => _batches.Rent().Start(completions);

    /// <inheritdoc/>
    public void Resume(ICompletion work)
    {
        if (work is IThreadPoolWorkItem item) ThreadPool.UnsafeQueueUserWorkItem(item, preferLocal: true);
        else ThreadPool.UnsafeQueueUserWorkItem(static work => work.Run(), work, preferLocal: true);
    }

    private static long Clock() => Stopwatch.Frequency == 1_000_000_000
        ? Stopwatch.GetTimestamp()
        : (long)((Int128)Stopwatch.GetTimestamp() * 1_000_000_000 / Stopwatch.Frequency);

    private static ISocketPort CreatePort(SocketPortKind kind) =>
        OperatingSystem.IsLinux() && kind != SocketPortKind.Completion ? new EpollPort() : new CompletionPort();

    private void Run()
    {
        try
        {
            while (!_stopping)
            {
                if (!Turn()) Idle();
                else _idleSince = 0;
            }
            _node.Stop(new NodeStoppedException("The node was stopped."));
            Drain();
        }
        catch (Exception error)
        {
            OnTurnFault(error);
        }
        _mesh.Dispose();
        _ended.SetResult();
    }

    // True when something happened.
    private bool Turn()
    {
        _node.Advance(Clock());
        int work = _mesh.Poll() + _node.RunCommands(CommandsPerTurn) + _node.FireTimers();
        if (work > 0) _node.EndTurn();
        if (work > 0 || _mesh.HasWork) _mesh.Flush();
        _node.Release();
        return work > 0 || _mesh.HasWork;
    }

    private void Idle()
    {
        long now = Clock();
        if (_idleSince == 0) _idleSince = now;
        if (now - _idleSince < _spin)
        {
            Thread.Yield();
            return;
        }
        Volatile.Write(ref _sleeping, 1);
        Interlocked.MemoryBarrier();
        if (Interlocked.Exchange(ref _wakeAsked, 0) == 0 && !_node.HasCommands && !_stopping) Sleep(now);
        Volatile.Write(ref _sleeping, 0);
        _idleSince = 0;
    }

    // Looking found nothing: look less next time, until work comes so soon after falling asleep that looking would have found it.
    private void Sleep(long now)
    {
        long due = Math.Min(_node.NextTimer, _mesh.NextTimer);
        if (due <= now) return;
        _mesh.Wait(due == long.MaxValue ? long.MaxValue : due - now);
        bool soon = Clock() - now < 8 * _mostSpin;
        _spin = soon ? _mostSpin : _spin > 1000 ? _spin - (_spin / 4) : 0;
    }

    private void Drain()
    {
        _mesh.BeginStop();
        long now = Clock();
        for (long end = now + FlushTime; now < end; now = Clock())
        {
            _node.Advance(now);
            _mesh.Poll();
            _mesh.Flush();
            if (_mesh.IsDrained) return;
            _mesh.Wait(Math.Min(end - now, FlushPoll));
        }
    }

    private void OnTurnFault(Exception error)
    {
        Fault = error;
        try
        {
            _node.Stop(new NodeStoppedException("The node ended by a fault of one of its protocols.", error));
        }
        catch (Exception further)
        {
            error = new AggregateException(error, further);
        }
        Faulted?.Invoke(error);
    }

    private void OnCompletionFault(Exception error) => Faulted?.Invoke(error);
}
