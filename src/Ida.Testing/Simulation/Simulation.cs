using System.Globalization;
using GroupCore.Runtime;
using GroupCore.Transport;
using GroupCore.Transport.Mesh;

namespace Ida.Testing;

/// <summary>
/// Many nodes in one process under virtual time: the protocols, frames and turns of production, over a simulated network, where every
/// choice (latencies, batch sizes, clock errors, losses) comes from one seed. Two runs of a seed take the same steps.
/// </summary>
/// <remarks>
/// Guarantees: events run by (time, order of scheduling) on the calling thread; links are reliable and FIFO between two lives whatever
/// happens to connections; <see cref="TraceHash"/> covers time, node, kind and bytes of everything that happened.
/// Choices of the schedule, of protocols and of the test (<see cref="Random"/>) are separate, and each
/// direction of each link draws its own, so leaving out one fault keeps the rest of a run stable.
/// Source: node-and-turn.md#the-simulator-runs-the-same-node.
/// </remarks>
public sealed partial class Simulation : IDisposable
{
    private readonly List<(string Name, Func<string?> Check)> _invariants = [];
    private readonly List<SimHost> _hosts = [];
    private readonly List<SimNode> _nodes = [];
    private readonly Dictionary<string, SimHost> _byAddress = new(StringComparer.Ordinal);
    private readonly int _thread = Environment.CurrentManagedThreadId;
    // Buffers outlive a simulation: campaigns run a hundred thousand of them.
    [ThreadStatic]
    private static PacketPool? t_packets;
    [ThreadStatic]
    private static SlabPool? t_slabs;
    private readonly long _rented;
    private long _epoch;
    private volatile string? _foreignCall;
    private bool _stepping, _disposed;
    internal TraceHash Trace;

    /// <summary>An empty simulation at virtual time 0.</summary>
    public Simulation(SimulationOptions options)
    {
        ArgumentNullException.ThrowIfNull(options);
        if (options.BrokenRule is { } rule) throw new ArgumentException($"A simulation needs {rule}.", nameof(options));
        Options = options;
        Sockets = options.Sockets;
        Random = new(Choices.Seed(options.Seed, ulong.MaxValue, 0));
        _rented = Slabs.RentedBytes;
        Buffer = new(Slabs);
        TimeProvider = new SimTimeProvider(this);
        Network = new(this);
        _context = new(this);
    }

    /// <summary>A simulation with default options and a seed.</summary>
    public Simulation(ulong seed)
        : this(new SimulationOptions { Seed = seed })
    {
    }

    /// <summary>The options it was made with.</summary>
    public SimulationOptions Options { get; }

    /// <summary>The seed of every choice.</summary>
    public ulong Seed => Options.Seed;

    /// <summary>Virtual time since the start.</summary>
    public TimeSpan Now => TimeSpan.FromTicks(Time / 100);

    /// <summary>Virtual time as a time provider, for code that takes one.</summary>
    public TimeProvider TimeProvider { get; }

    /// <summary>Randomness for the test itself; drawing from it changes no choice of the schedule or of protocols.</summary>
    public Prng Random { get; }

    /// <summary>Hash of everything that happened so far.</summary>
    public ulong TraceHash => Trace.Value;

    /// <summary>Events so far.</summary>
    public long Steps { get; private set; }

    /// <summary>The network between the nodes.</summary>
    public SimNetwork Network { get; }

    /// <summary>All lives of all nodes, in the order of their start.</summary>
    public IReadOnlyList<SimNode> Nodes => _nodes;

    internal long Time { get; private set; }
    internal SimEventQueue Events { get; } = new();
    internal SocketTally Tally { get; } = new();
    internal ThreadTally Threads { get; } = new();

    /// <summary>What sockets do from now on.</summary>
    internal SocketModel Sockets { get; set; }
    internal PacketPool Packets { get; } = t_packets ??= new();
    internal SlabPool Slabs { get; } = t_slabs ??= new();
    internal SendBuffer Buffer { get; }
    internal ArraySegment<byte>[] Pieces { get; } = new ArraySegment<byte>[LinkSession.MaxPieces];
    internal IReadOnlyList<SimHost> Hosts => _hosts;

    /// <summary>Adds a node at the next address. Its protocols are attached before the next step.</summary>
    internal SimNode AddNode(string? name = null) => AddNode(name, without: null);

    internal SimNode AddNode(string? name, string? without)
    {
        ObjectDisposedException.ThrowIf(_disposed, this);
        var host = new SimHost(_hosts.Count, name ?? $"n{_hosts.Count}", AddressOf(_hosts.Count, Options.Carrier).Text);
        _hosts.Add(host);
        _byAddress[host.Address] = host;
        return NewLife(host, without);
    }

    /// <summary>Adds a check that runs after every step; text that is not null ends the run with <see cref="InvariantViolatedException"/>.</summary>
    public void AddInvariant(string name, Func<string?> check)
    {
        ArgumentException.ThrowIfNullOrEmpty(name);
        ArgumentNullException.ThrowIfNull(check);
        _invariants.Add((name, check));
    }

    /// <summary>Runs <paramref name="action"/> at a virtual time since the start; in the next step if that time is past.</summary>
    public void At(TimeSpan when, Action action)
    {
        ArgumentNullException.ThrowIfNull(action);
        Events.Add(Math.Max(SimTime.Nanoseconds(when), Time), SimEventKind.Action, action);
    }

    /// <summary>Runs <paramref name="action"/> after some virtual time.</summary>
    public void After(TimeSpan delay, Action action) => At(Now + delay, action);

    /// <summary>Runs everything that happens within some virtual time.</summary>
    public void Run(TimeSpan virtualTime)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(virtualTime, TimeSpan.Zero);
        long end = Time + SimTime.Nanoseconds(virtualTime);
        DrainContinuations();
        while (Events.NextTime <= end) Step();
        Time = end;
    }

    /// <summary>Runs until <paramref name="condition"/> holds after a step, or some virtual time has passed; returns whether it holds.</summary>
    public bool RunUntil(Func<bool> condition, TimeSpan limit)
    {
        ArgumentNullException.ThrowIfNull(condition);
        long end = Time + SimTime.Nanoseconds(limit);
        DrainContinuations();
        if (condition()) return true;
        while (Events.NextTime <= end)
        {
            Step();
            if (condition()) return true;
        }
        Time = end;
        return false;
    }

    /// <summary>Runs one event; false when none is left.</summary>
    public bool Step()
    {
        ObjectDisposedException.ThrowIf(_disposed, this);
        if (_stepping) throw new InvalidOperationException("A simulation cannot be run from inside one of its own steps.");
        if (Environment.CurrentManagedThreadId != _thread) throw new InvalidOperationException("A simulation runs on the thread that made it.");
        if (Events.Count == 0) return false;
        var next = Events.Take();
        Time = Math.Max(Time, next.Time);
        Steps++;
        var outer = SynchronizationContext.Current;
        // Without a context, library code that resumes inside a turn runs inline; with one it would go to the pool.
        SynchronizationContext.SetSynchronizationContext(null);
        _stepping = true;
        try
        {
            Handle(in next);
            DrainContinuations();
        }
        catch (Exception exception) when (exception is not SimulationException)
        {
            throw new SimulationException(this, $"{Describe(in next)} threw {exception.GetType().Name}: {exception.Message}", exception);
        }
        finally
        {
            _stepping = false;
            SynchronizationContext.SetSynchronizationContext(outer);
        }
        CheckInvariants();
        return true;
    }

    /// <summary>Ends all nodes; nothing can be run any more.</summary>
    public void Dispose()
    {
        if (_disposed) return;
        _disposed = true;
        foreach (var host in _hosts)
        {
            try
            {
                LatestAt(host).Crash();
            }
            catch (Exception error)
            {
                Fail(error);
            }
        }
        foreach (var node in _nodes)
        {
            node.Carrier.LetGo();
            if (node.Carrier.SlabBytes != 0) Fail(new InvalidOperationException($"{node.Name} has ended and holds {node.Carrier.SlabBytes} bytes of slabs."));
        }
        Buffer.End();
        Leaked = Slabs.RentedBytes - _rented;
        ThrowFailure();
    }

    /// <summary>Bytes of slabs that its nodes still hold although they have ended; known once it is disposed.</summary>
    internal long Leaked { get; private set; }

    internal long NextEpoch() => ++_epoch;

    /// <summary>Where the node of that number listens in memory.</summary>
    internal static NodeAddress AddressOf(int host) => AddressOf(host, SimCarrier.Memory);

    /// <summary>
    /// Where the node of that number listens. It has the form of a real address, so that code that reads addresses reads it too; the mesh listens on loopback addresses only.
    /// </summary>
    internal static NodeAddress AddressOf(int host, SimCarrier carrier) =>
        new(string.Create(CultureInfo.InvariantCulture, $"{(carrier == SimCarrier.Mesh ? 127 : 10)}.{(host >> 16) & 255}.{(host >> 8) & 255}.{host & 255}:7700"));

    internal SimHost? FindHost(string address) => _byAddress.GetValueOrDefault(address);

    internal SimNode NewLife(SimHost host, string? without)
    {
        var node = new SimNode(this, host, without);
        host.Node = node;
        _nodes.Add(node);
        node.ScheduleTurn();
        return node;
    }

    /// <summary>False when the caller is on another thread; the run then fails at its next step, since its order would differ from run to run.</summary>
    internal bool OnOwnThread(string what)
    {
        if (Environment.CurrentManagedThreadId == _thread) return true;
        _foreignCall = what;
        return false;
    }

    private void Handle(in SimEvent next)
    {
        Trace.Add((ulong)next.Time);
        Trace.Add((ulong)next.Kind);
        switch (next.Target)
        {
            case SimNode node:
                Trace.Add(node.Id);
                node.Handle(next.Kind);
                break;
            case Packet packet:
                packet.Channel!.Arrive(packet);
                break;
            case SimLinkEnd end:
                Trace.Add(end.Owner.Id);
                end.Handle(next.Kind, next.Argument);
                break;
            case SimSocket socket:
                Trace.Add(socket.Node.Id);
                socket.Handle(next.Kind, next.Argument);
                break;
            default:
                ((Action)next.Target)();
                break;
        }
    }

    private void CheckInvariants()
    {
        RequireOwnThread();
        foreach (var (name, check) in _invariants)
            if (check() is { } violation) throw new InvariantViolatedException(this, name, violation);
    }

    private void RequireOwnThread()
    {
        if (_foreignCall is { } what)
        {
            throw new SimulationException(this, $"{what} came from another thread, so the run would not repeat. Code under simulation " +
                "must not use the thread pool: no Task.Run, no Task.Delay, no ConfigureAwait(false) on what does not complete in the simulation.");
        }
    }

    private static string Describe(in SimEvent next) => next.Target switch
    {
        SimNode node => $"A turn of {node.Name}",
        SimLinkEnd end => $"The network of {end.Owner.Name}",
        SimSocket socket => $"A socket of {socket.Node.Name}",
        _ => "An action",
    };
}
