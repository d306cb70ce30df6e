using GroupCore.Runtime;
using Ida.Interleavings.Scenarios;
using Ida.Interleavings.Scheduling;

namespace GroupCore.Transport.Mesh;

/// <summary>
/// Stands in for the sockets of a node: what arrives is an action that the poll of a turn runs, and what is sent is a count that a flush takes. Each of these calls is a step of a
/// turn, and so is each command: two threads in steps at a time fail the schedule. A command or a flush may end a link, which is news that the next poll takes. What was sent may be
/// acknowledged only some polls after the stop.
/// </summary>
internal sealed class TcpMesh : ILinks, IDisposable
{
    public const string Undrained = "what was sent is not acknowledged at the stop", HasThrown = "the sockets throw";
    private const int NewsOneIn = 4, MostPolls = 3;
    private readonly Queue<Action> _arrived = new();
    private readonly Schedule _schedule = Lane.Current!.Schedule;
    private bool _woken;
    private bool _stops;
    private int _undrained;

    public TcpMesh(Node node, TcpMeshOptions options, ulong seed)
    {
        Node = node;
        Explored.Of<List<TcpMesh>>(typeof(TcpMesh)).Add(this);
    }

    /// <summary>The sockets of the loop that the schedule started last.</summary>
    public static TcpMesh Latest => Explored.Of<List<TcpMesh>>(typeof(TcpMesh))[^1];

    public Node Node { get; }

    public Exclusive Turn { get; } = new("a turn");

    /// <summary>Frames that wait for a flush.</summary>
    public int Unsent { get; private set; }

    public int Sent { get; private set; }

    public bool IsDisposed { get; private set; }

    public NodeAddress Local => new("127.0.0.1:1");

    public NodeAddress Bound => Local;

    public string Accepts => "";

    public long NextTimer => long.MaxValue;

    public bool HasWork => Unsent > 0;

    // What has come and is not polled is no news: it wakes a sleeper by itself.
    public bool HasNews { get; private set; }

    public bool IsDrained => _undrained == 0;

    /// <summary>One of its steps has thrown.</summary>
    public bool Throws { get; private set; }

    /// <summary>The step that throws, counted from the next one; 0: none.</summary>
    public int StepsToFault { get; set; }

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
        MayThrow();
        int count = HasNews ? 1 : 0;
        HasNews = false;
        if (_undrained > 0) _undrained--;
        for (; !_stops && _arrived.TryDequeue(out var work); count++) work();
        return count;
    }

    public void Flush()
    {
        using var turn = Turn.Enter("flush");
        MayThrow();
        if (Unsent > 0 && _schedule.Draw(NewsOneIn) == 0) HasNews = true;
        Sent += Unsent;
        Unsent = 0;
    }

    /// <summary>A frame is made in a turn.</summary>
    public void Send() => Unsent++;

    /// <summary>To be called in a turn; the users of the link hear of it in a later turn.</summary>
    public void EndLink() => HasNews = true;

    public void Wait(long timeout)
    {
        MayThrow();
        if (HasNews) return;
        Explored.Wait(() => _woken || _arrived.Count > 0, timeout, "sleeps");
    }

    public void Wake()
    {
        Explored.Fence("wakes");
        _woken = true;
    }

    public void BeginStop()
    {
        using var turn = Turn.Enter("begin stop");
        _stops = true;
        _undrained = _schedule.Draw(MostPolls);
        Reached.At(Undrained, _undrained > 0);
    }

    public void Dispose()
    {
        Turn.Enter("dispose").Dispose();
        IsDisposed = true;
    }

    // A bug of a protocol, or of the sockets.
    private void MayThrow()
    {
        if (StepsToFault == 0 || --StepsToFault > 0) return;
        Throws = true;
        Reached.At(HasThrown);
        throw new InvalidDataException("on purpose");
    }

    public int Open(NodeAddress address, ulong nodeId = 0) => throw new NotSupportedException();

    public void Close(int peer) => throw new NotSupportedException();

    public void Probe(int peer) => throw new NotSupportedException();

    public ulong NodeIdOf(int peer) => throw new NotSupportedException();

    public NodeAddress AddressOf(int peer) => throw new NotSupportedException();

    public long Backlog(int peer) => throw new NotSupportedException();

    public long Room(int peer) => throw new NotSupportedException();

    public Span<byte> Reserve(int size) => throw new NotSupportedException();

    public Span<byte> Reserved(int size) => throw new NotSupportedException();

    public void Send(int peer, int length) => throw new NotSupportedException();

    public void Send(ReadOnlySpan<int> peers, int length) => throw new NotSupportedException();
}
