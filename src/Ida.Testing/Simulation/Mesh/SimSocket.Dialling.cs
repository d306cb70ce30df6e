using GroupCore.Transport.Sockets;

namespace Ida.Testing;

/// <content>
/// Making connections. A dial comes to the other host, whose kernel takes it even while the node is paused. The answer makes the connection at the dialler, and the first thing
/// that then comes from the dialler makes it at the other end. Each of the three may be lost.
/// </content>
internal sealed partial class SimSocket
{
    private const long OrphanPause = 1_000_000_000, UnreachableAfter = 500_000_000;
    private bool _lostAnswer;

    /// <summary>Whether the handshake of the kernels is over at this end.</summary>
    public bool IsConnected { get; private set; }

    /// <summary>Whether its node has it: from the beginning if the node dials, else once it is accepted.</summary>
    public bool IsAccepted { get; set; }

    public void Dial()
    {
        IsAccepted = true;
        Schedule(Latency(), SimEventKind.DialArrive, this);
    }

    private void HandleDial(SimEventKind kind)
    {
        if (IsClosed || IsConnected) return;
        switch (kind)
        {
            case SimEventKind.DialArrive: DialArrived(); break;
            case SimEventKind.DialUp when MayHear: Answered(); break;
            case SimEventKind.DialRefused when MayHear: _port.Tell(this, DialResult.Refused); break;
            case SimEventKind.DialTimeout: _port.Tell(this, DialResult.Unreachable); break;
        }
    }

    public bool Goes(SimHost host) => _remote == host;

    private bool MayHear => _remote is null || Simulation.Network.CutBetween(Remote, Node.Host) is null;

    private void DialArrived()
    {
        if (_remote is null or { Refuses: true })
        {
            Schedule(Latency(toRemote: false), SimEventKind.DialRefused, this);
            return;
        }
        if (!MayAnswer || !Simulation.Network.MayDial(Node.Host, Remote)) return;
        if (_remote.Node is not { Alive: true, Carrier: MeshCarrier { Port: var port } } there)
        {
            if (_remote.Answers) Schedule(Latency(toRemote: false), SimEventKind.DialRefused, this);
            // A router on the way says that there is no such host.
            else if (Chance(0.25)) Schedule(Choose(UnreachableAfter), SimEventKind.DialTimeout, this);
            return;
        }
        bool half = Chance(Model.HalfDial);
        if (half) Simulation.Tally.Add(SocketDeed.HalfDial);
        if (half && Chance(0.3)) return;
        if (there.PausedUntil > Simulation.Time) Simulation.Tally.Add(SocketDeed.DialledPaused);
        if (port.Dials(Node.Host)) Simulation.Tally.Add(SocketDeed.CrossingDial);
        Other = port.Take(Node);
        Other.Other = this;
        long answer = Latency(toRemote: false);
        // Either the answer is lost, or the connection is reset as soon as it is made.
        if (half) _lostAnswer = Chance(0.5);
        if (half && !_lostAnswer) Schedule(answer + Choose(2 * answer), SimEventKind.Reset, this);
        Schedule(answer, SimEventKind.DialUp, this);
    }

    private void Answered()
    {
        if (_lostAnswer || _reset) return;
        if (Other!.IsClosed)
        {
            if (Remote.Answers) _port.Tell(this, DialResult.Refused);
            return;
        }
        IsConnected = true;
        _channel.Send(Simulation.Packets.Rent(), Simulation.Time);
        _port.Tell(this, DialResult.Connected);
    }

    // Something came from the dialler.
    private void Knock()
    {
        if (IsConnected) return;
        IsConnected = true;
        // If the dialler has died since, nothing that this end waits for comes any more.
        if (Other is { IsClosed: true }) Ask();
        _port.Knock(this);
    }

    // Only the kernel of the other host has heard of it.
    private void Abandon()
    {
        if (Other is { IsConnected: false } other) other.IsClosed = true;
    }
}
