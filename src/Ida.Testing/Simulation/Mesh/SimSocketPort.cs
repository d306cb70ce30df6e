using System.Net;
using System.Net.Sockets;
using GroupCore.Transport;
using GroupCore.Transport.Sockets;

namespace Ida.Testing;

/// <summary>
/// The sockets of one life of a simulated node, under the contract of <see cref="ISocketPort"/>. The kernel of its host goes on between the node's turns and while the node is
/// paused; <see cref="Poll"/> tells the node what has happened, in the order of the ports of production.
/// </summary>
internal sealed class SimSocketPort(ISimNode owner) : ISocketPort
{
    private const int MostAccepts = 64;
    private const long OrphanPause = 1_000_000_000;
    private readonly List<SimSocket> _all = [];
    private readonly Queue<(SimSocket Socket, DialResult? Result)> _news = new();
    private readonly List<SimSocket> _readable = [];
    private readonly Queue<SimSocket> _backlog = new();
    private Choices _choices = new(Choices.Seed(owner.ScheduleSeed, 6, 0));
    private bool _acceptFailed, _over;
    private int _descriptors = 1;
    private int _numbers;

    public ISimNode Node => owner;

    /// <summary>Whether the kernel is there. It is not if the host went down with its node, even if it was started again since.</summary>
    public bool IsThere { get; private set; } = true;

    /// <summary>When what is sent leaves; <see cref="long.MinValue"/> for at once.</summary>
    public long Departure { get; set; } = long.MinValue;

    public bool HasNews => _news.Count > 0 || _readable.Count > 0 || (_backlog.Count > 0 && !_acceptFailed);

    /// <summary>Sockets that the node has and has not closed, without the one that listens.</summary>
    public int Open => _descriptors - 1;

    private ISimulation Simulation => owner.Simulation;

    private SocketModel Model => Simulation.Sockets;

    public IPEndPoint Listen(IPEndPoint at)
    {
        // From now on the host answers what is sent to this address over connections of an earlier life.
        foreach (SimSocket orphan in owner.Host.Orphans) orphan.Orphan(OrphanPause);
        owner.Host.Orphans.Clear();
        return at;
    }

    public void ResumeAccepting()
    {
        _acceptFailed = false;
        owner.Wake();
    }

    public PortSocket Dial(IPEndPoint to)
    {
        if (_descriptors >= Model.Descriptors) Throw(descriptor: true);
        if (_choices.Chance(Model.DialThrows)) Throw(_choices.Chance(0.5));
        var address = EndPointText.Format(to);
        var socket = Add(address, Simulation.FindHost(address.Text));
        Count(socket);
        socket.Dial();
        return socket;
    }

    public void Wait(long timeout) => throw new NotSupportedException("Nothing waits in a simulation.");

    public void Poll(ISocketPortEvents events)
    {
        for (int left = _news.Count; left > 0; left--)
        {
            var (socket, result) = _news.Dequeue();
            if (socket.IsClosed) continue;
            Simulation.Trace.Add(((ulong)socket.Number << 8) | (result is { } told ? (ulong)told + 1 : 0));
            if (result is null)
            {
                events.OnWritable(socket);
                continue;
            }
            if (result != DialResult.Connected) Close(socket);
            events.OnDialled(socket, result.Value);
            if (socket is { IsClosed: false, IsReadable: true }) Readable(socket);
        }
        int listed = _readable.Count;
        for (int i = 0; i < listed; i++)
        {
            var socket = _readable[i];
            socket.IsListed = false;
            if (socket is { IsClosed: false, IsPaused: false }) events.OnReadable(socket);
            if (socket is { IsClosed: false, IsReadable: true }) Readable(socket);
        }
        _readable.RemoveRange(0, listed);
        for (int i = 0; i < MostAccepts && _backlog.Count > 0 && !_acceptFailed; i++) Accept(events);
    }

    public int Receive(PortSocket socket, Span<byte> to) => Live(socket).Receive(to);

    public void Pause(PortSocket socket) => socket.IsPaused = true;

    public void Resume(PortSocket socket)
    {
        socket.IsPaused = false;
        if (!socket.IsClosed) Readable((SimSocket)socket);
    }

    public int Send(PortSocket socket, ReadOnlySpan<ArraySegment<byte>> pieces) => Live(socket).Send(pieces, Math.Max(Departure, Simulation.Time));

    public IPEndPoint? RemoteOf(PortSocket socket) => EndPointText.TryParse(((SimSocket)socket).Address.Text, out var at) ? at : null;

    public void Close(PortSocket socket)
    {
        var closed = (SimSocket)socket;
        if (closed is { IsClosed: false, HasDescriptor: true }) _descriptors--;
        closed.Close();
    }

    public void Wake() => owner.Wake();

    public void Dispose() => Die(hostAnswers: true, atFrame: true);

    /// <summary>The node is no more; without <paramref name="hostAnswers"/>, nor is its host.</summary>
    public void Die(bool hostAnswers, bool atFrame)
    {
        if (_over) return;
        _over = true;
        IsThere = hostAnswers;
        foreach (var socket in _all) socket.Die(hostAnswers, atFrame);
    }

    public void CutOff(SimHost other)
    {
        foreach (var socket in _all)
            if (IsBetween(socket, other)) socket.Ask();
    }

    public void Break(SimHost other)
    {
        // What lands from the streams may make a host answer, which changes the list.
        foreach (var socket in _all.FindAll(socket => IsBetween(socket, other))) socket.Break();
    }

    public void Healed(Predicate<SimHost> to)
    {
        foreach (var socket in _all.FindAll(socket => socket.Other is not null && to(socket.Remote))) socket.Healed();
    }

    /// <summary>Whether a dial of that host is under way.</summary>
    public bool Dials(SimHost host) => _all.Exists(socket => socket is { IsClosed: false, IsConnected: false, IsAccepted: true } && socket.Goes(host));

    /// <summary>The kernel takes a connection; the node may accept it once the dialler is known to have heard of that.</summary>
    public SimSocket Take(ISimNode dialler) => Add(dialler.Address, dialler.Host);

    /// <summary>A connection waits to be accepted.</summary>
    public void Knock(SimSocket socket)
    {
        _backlog.Enqueue(socket);
        owner.Wake();
    }

    public void Readable(SimSocket socket)
    {
        if (socket.IsListed || socket.IsPaused) return;
        socket.IsListed = true;
        _readable.Add(socket);
        owner.Wake();
    }

    /// <summary>The outcome of a dial; null says that a send can go on.</summary>
    public void Tell(SimSocket socket, DialResult? result)
    {
        _news.Enqueue((socket, result));
        owner.Wake();
    }

    /// <summary>A socket that is over has something to say again.</summary>
    public void Keep(SimSocket socket)
    {
        if (!_all.Contains(socket)) _all.Add(socket);
    }

    private void Accept(ISocketPortEvents events)
    {
        if (_backlog.Peek().IsClosed)
        {
            _backlog.Dequeue();
            return;
        }
        bool full = _descriptors >= Model.Descriptors;
        if (full || _choices.Chance(Model.AcceptFails))
        {
            Simulation.Tally.Add(SocketDeed.AcceptFailed);
            _acceptFailed = true;
            events.OnAcceptFailed(full || _choices.Chance(0.5));
            return;
        }
        var socket = _backlog.Dequeue();
        Count(socket);
        socket.IsAccepted = true;
        Simulation.Trace.Add((ulong)socket.Number);
        events.OnAccepted(socket);
        if (socket is { IsClosed: false, IsReadable: true }) Readable(socket);
    }

    private SimSocket Add(NodeAddress address, SimHost? remote)
    {
        _all.RemoveAll(static socket => socket.IsOver);
        var socket = new SimSocket(this, address, remote, _numbers++);
        _all.Add(socket);
        return socket;
    }

    // With a closed socket, the ports of production would use the descriptor of another connection.
    private static SimSocket Live(PortSocket socket) => socket is SimSocket { IsClosed: false } live ? live : throw new InvalidOperationException("The connection is closed.");

    private void Count(SimSocket socket)
    {
        socket.HasDescriptor = true;
        _descriptors++;
    }

    private void Throw(bool descriptor)
    {
        Simulation.Tally.Add(SocketDeed.DialThrew);
        throw descriptor ? new NoDescriptorException("No descriptor is left.") : new SocketException((int)SocketError.NetworkUnreachable);
    }

    private static bool IsBetween(SimSocket socket, SimHost other) => socket.Other is not null && socket.Remote == other;
}
