using GroupCore.Basics;
using GroupCore.Platform;
using GroupCore.Runtime;
using GroupCore.Transport;
using GroupCore.Transport.Mesh;
using GroupCore.Transport.Sockets;

namespace GroupCore.Hosting;

/// <summary>
/// Hosts one <see cref="Node"/>: one thread at a time owns its protocols, timers and sockets.
/// </summary>
/// <remarks>
/// <para>A turn: read sockets (64 KiB each at most) and deliver their frames · up to 256 callers' commands · due timers · end of turn ·
/// one gathered write per peer · completions. When nothing happened the loop looks again for <see cref="NodeLoopOptions.Spin"/>,
/// yielding its core each time, then sleeps until a socket, a timer or a caller wakes it. <c>.Owner</c> and <c>.Callers</c> say which thread runs turns and completions.</para>
/// <para>Failure cases: an exception in a turn is a bug of a protocol, whose state cannot be trusted any more. The node ends as if it had crashed: every
/// caller gets a <see cref="NodeFaultedException"/> with the fault inside, sockets are closed at once, <see cref="Faulted"/> is raised, the process goes on.</para>
/// <para>Source: node-and-turn.md#one-turn-at-a-time, #user-code-runs-outside-the-turn.</para>
/// </remarks>
internal sealed partial class NodeLoop : IHostPort, IAsyncDisposable
{
    private const long FlushTime = 200_000_000;
    private const long FlushPoll = 5_000_000;
    private readonly Node _node;
    private readonly CompletionBatchPool _batches;
    private readonly TaskCompletionSource _ended = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly LoopOwnership _ownership = new();
    private readonly long _mostSpin;
    private TcpMesh _mesh = null!;
    private int _wakeAsked;
    private volatile bool _stopping;

    private NodeLoop(NodeLoopOptions options)
    {
        NodeLoopOptions.Validate(options);
        var listen = EndPointText.Parse(options.Listen, nameof(options.Listen));
        var advertise = options.Advertise is null ? null : EndPointText.ParseReachable(options.Advertise, nameof(options.Advertise), orBound: true);
        _batches = new(OnCompletionFault, SendLeft);
        _follower = new(portable: !NodePort.UsesEpoll(options.Port));
        _spin = _mostSpin = (long)options.Spin.TotalNanoseconds;
        ISocketPort? port = null;
        try
        {
            var opened = port = NodePort.Open(options);
            StartNumber = Entropy.Next();
            _node = new(NodePort.IdOf(opened, StartNumber), options.Seed ?? Entropy.Next(), this,
                node => _mesh = new(node, new(options.Cluster, opened, listen, advertise, options.MostQueuedBytes, options.MostMalformed, options.MostGuests, Start: StartNumber), Entropy.Next()), options.CommandCapacity);
        }
        catch
        {
            port?.Dispose();
            _follower.Dispose();
            throw;
        }
        _node.Advance(HostClock.Now());
    }

    /// <summary>The node, for protocols and callers.</summary>
    public INode Node => _node;

    /// <summary>The random number of this start, from which together with its identity the node's id follows; for checks.</summary>
    public ulong StartNumber { get; }

    /// <summary>The address at which other nodes reach this one.</summary>
    public NodeAddress Local => _mesh.Local;

    /// <summary>Where the node listens: the same as <see cref="Local"/> unless another address is advertised.</summary>
    public NodeAddress Bound => _mesh.Bound;

    /// <summary>Whose connections the node accepts, as a part of a sentence.</summary>
    public string Accepts => _mesh.Accepts;

    /// <summary>What ended the loop against its will; null while it runs and after a stop.</summary>
    public Exception? Fault { get; private set; }

    /// <summary>Completes when the loop has ended and its sockets are closed, whatever the reason.</summary>
    public Task Ended => _ended.Task;

    /// <summary>A protocol or a completion threw. Raised on the thread where that happened.</summary>
    public event Action<Exception>? Faulted;

    /// <summary>
    /// Listens, lets <paramref name="compose"/> attach protocols, and starts the loop's threads.
    /// </summary>
    /// <exception cref="AddressInUseException">The port is taken.</exception>
    /// <exception cref="InsecureBindException">The address is not a loopback address.</exception>
    /// <exception cref="ArgumentException">An option is outside its limits.</exception>
    /// <exception cref="IOException">The system refused to listen.</exception>
    /// <exception cref="OutOfMemoryException">The system refused a thread. After this, as after every other exception here, nothing is left behind.</exception>
    public static NodeLoop Start(NodeLoopOptions options, Action<INode>? compose = null)
    {
        var loop = new NodeLoop(options);
        int started = 0;
        try
        {
            compose?.Invoke(loop._node);
            string name = $"node:{EndPointText.Parse(loop.Bound.Text, nameof(options)).Port}";
            // The owner last: once it runs, the node serves, and the start cannot be given up any more.
            for (; started < Threads; started++)
            {
                bool owner = started == Threads - 1;
                options.StartThread(new(() => loop.Run(owner)) { IsBackground = true, Name = name });
            }
        }
        catch
        {
            loop.GiveUp(started);
            throw;
        }
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

    long IHostPort.Clock() => HostClock.Now();

    /// <inheritdoc/>
    public void Wake()
    {
        // Order matters: the caller makes its change, then the request, then looks whether the owner sleeps; the loop does the reverse before it sleeps.
        Volatile.Write(ref _wakeAsked, 1);
        Interlocked.MemoryBarrier();
        Rouse();
    }

    /// <inheritdoc/>
    public void RunCompletions(List<ICompletion> completions)
    {
        var batch = _batches.Rent();
        batch.Take(completions);
        if (_inTurn) _completed = batch;
        else batch.Queue();
    }

    /// <inheritdoc/>
    public void Resume(ICompletion work)
    {
        // A work item handles its own exceptions: it is queued without an object around it.
        if (work is IThreadPoolWorkItem item) ThreadPool.UnsafeQueueUserWorkItem(item, preferLocal: true);
        else ThreadPool.UnsafeQueueUserWorkItem(static resumed => resumed.Loop.RunGuarded(resumed.Work), (Loop: this, Work: work), preferLocal: true);
    }

    // Undoes a start whose owner never ran.
    private void GiveUp(int started)
    {
        _over = true;
        _follower.End();
        _mesh.Dispose();
        if (Interlocked.Add(ref _threads, started - Threads) == 0) _follower.Dispose();
    }

    private void Drain()
    {
        _mesh.BeginStop();
        long now = HostClock.Now();
        for (long end = now + FlushTime; now < end; now = HostClock.Now())
        {
            _node.Advance(now);
            _mesh.Poll();
            _mesh.Flush();
            if (_mesh.IsDrained) return;
            if (!_mesh.HasWork) _mesh.Wait(Math.Min(end - now, FlushPoll));
        }
    }

    // Whatever throws here, callers are answered and sockets closed. An exception that left this thread would end the process.
    private void End(Exception? fault)
    {
        Fault = fault;
        _inTurn = false;
        var steps = default(StopSteps);
        // The other thread may be stuck in one of its completions forever: the pool runs the others.
        steps.Do(() => _runningBatch?.AddRunner());
        steps.Do(() => _completed?.Queue());
        steps.Do(() => _node.Stop(fault is null ? new NodeStoppedException("The node was stopped.") : new NodeFaultedException(fault)));
        if (fault is null) steps.Do(Drain);
        steps.Do(_mesh.Dispose);
        steps.Do(() => _node.ThrowFailure(fault));
        try
        {
            steps.ThrowIfAny();
        }
        catch (AggregateException further)
        {
            var thrown = further.Flatten();
            Fault = fault is null ? thrown : new AggregateException([fault, .. thrown.InnerExceptions]);
        }
        _over = true;
        _follower.End();
        _ended.SetResult();
        if (Fault is { } told) OnCompletionFault(told);
    }

    private void RunGuarded(ICompletion work)
    {
        try
        {
            work.Run();
        }
        catch (Exception error)
        {
            OnCompletionFault(error);
        }
    }

    private void OnCompletionFault(Exception error)
    {
        try
        {
            Faulted?.Invoke(error);
        }
        catch (Exception)
        {
            // A listener that throws must not end the thread that told it; there is nobody else to tell.
        }
    }
}
