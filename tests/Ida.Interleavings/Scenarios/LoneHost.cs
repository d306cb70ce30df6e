using GroupCore.Hosting;
using GroupCore.Runtime;
using GroupCore.Transport.Mesh;
using GroupCore.Transport.Sockets;
using Ida.Interleavings.Scheduling;

namespace Ida.Interleavings.Scenarios;

/// <summary>Hosts a node on one lane that runs its turns; completions go to the pool in batches. For scenarios in which it does not matter who runs a turn.</summary>
internal sealed class LoneHost : IHostPort
{
    private readonly Schedule _schedule;
    private readonly CompletionBatchPool _batches;
    private bool _woken;
    private bool _stops;

    public LoneHost(Schedule schedule, int capacity = 16)
    {
        _schedule = schedule;
        _batches = new(error => schedule.Fail($"A completion threw {error}"), static () => { });
        Node = new(1, 1, this, static node => new TcpMesh(node, new("", new SocketPort(), null!, null, 0, 0, 0, 0), 0), capacity);
    }

    public Node Node { get; }

    public TcpMesh Mesh => (TcpMesh)Node.Links;

    /// <summary>Runs turns on the calling lane until it is stopped, and ends the node.</summary>
    public void Run()
    {
        while (!_stops)
        {
            Explored.Wait(() => _woken || _stops || Node.NextTimer <= _schedule.Now, Node.NextTimer == long.MaxValue ? long.MaxValue : Math.Max(0, Node.NextTimer - _schedule.Now), "sleeps");
            _woken = false;
            using (Mesh.Turn.Enter("turn"))
            {
                Node.Advance(_schedule.Now);
                Node.RunCommands();
                Node.FireTimers();
                Node.EndTurn();
            }
            Node.Release();
            if (Node.HasCommands) _woken = true;
        }
        Node.Stop(new NodeStoppedException("The node was stopped."));
    }

    public void Stop()
    {
        Explored.Fence("stop");
        _stops = true;
    }

    public long Clock() => _schedule.Now;

    public void Wake()
    {
        Explored.Fence("wake");
        _woken = true;
    }

    public void RunCompletions(List<ICompletion> completions)
    {
        var batch = _batches.Rent();
        batch.Take(completions);
        batch.Queue();
    }

    public void Resume(ICompletion work) => PoolSeam.UnsafeQueueUserWorkItem(static work => work.Run(), work, preferLocal: true);
}
