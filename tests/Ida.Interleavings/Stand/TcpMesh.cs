using GroupCore.Runtime;
using Ida.Interleavings.Scenarios;

namespace GroupCore.Transport;

/// <summary>
/// Stands for the sockets of a node: what arrives is an action that is run by the poll of a turn, what is sent is a count that a flush takes. Each of its members is a step of a
/// turn, and so is each command: two at a time fail the schedule.
/// </summary>
internal sealed class TcpMesh : ILinks, IDisposable
{
    private readonly Queue<Action> _arrived = new();
    private bool _woken;
    private bool _stops;

    public TcpMesh(Node node, TcpMeshOptions options, ulong seed)
    {
        Node = node;
        Explored.Of<List<TcpMesh>>(typeof(TcpMesh)).Add(this);
    }

    /// <summary>That of the loop which the schedule started last.</summary>
    public static TcpMesh Latest => Explored.Of<List<TcpMesh>>(typeof(TcpMesh))[^1];

    public Node Node { get; }

    public Exclusive Turn { get; } = new("a turn");

    /// <summary>Frames that wait for a flush.</summary>
    public int Unsent { get; private set; }

    public int Sent { get; private set; }

    public bool IsDisposed { get; private set; }

    public NodeAddress Local => new("127.0.0.1:1");

    public NodeAddress Bound => Local;

    public long NextTimer => long.MaxValue;

    public bool HasWork => Unsent > 0;

    // What has come and is not polled wakes a sleeper by itself.
    public bool HasNews => false;

    public bool IsDrained => true;

    public bool IsFull => false;

    public TimeSpan TimeToRoom => default;

    /// <summary>Something comes in.</summary>
    public void Arrive(Action work)
    {
        Explored.Fence("arrives");
        _arrived.Enqueue(work);
    }

    public int Poll()
    {
        using var turn = Turn.Enter("poll");
        _woken = false;
        int count = 0;
        for (; !_stops && _arrived.TryDequeue(out var work); count++) work();
        return count;
    }

    public void Flush()
    {
        using var turn = Turn.Enter("flush");
        Sent += Unsent;
        Unsent = 0;
    }

    /// <summary>A frame is made in a turn.</summary>
    public void Send() => Unsent++;

    public void Wait(long timeout) => Explored.Wait(() => _woken || _arrived.Count > 0, timeout, "sleeps");

    public void Wake()
    {
        Explored.Fence("wakes");
        _woken = true;
    }

    public void BeginStop()
    {
        using var turn = Turn.Enter("begin stop");
        _stops = true;
    }

    public void Dispose()
    {
        Turn.Enter("dispose").Dispose();
        IsDisposed = true;
    }

    public int Open(NodeAddress address, ulong nodeId = 0) => throw new NotSupportedException();

    public void Close(int peer) => throw new NotSupportedException();

    public void Probe(int peer) => throw new NotSupportedException();

    public ulong NodeIdOf(int peer) => throw new NotSupportedException();

    public NodeAddress AddressOf(int peer) => throw new NotSupportedException();

    public long Backlog(int peer) => throw new NotSupportedException();

    public long Room(int peer) => throw new NotSupportedException();

    public Span<byte> Reserve(int size) => throw new NotSupportedException();

    public void Send(int peer, int length) => throw new NotSupportedException();

    public void Send(ReadOnlySpan<int> peers, int length) => throw new NotSupportedException();
}
