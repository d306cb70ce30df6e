using GroupCore.Transport;
using GroupCore.Wire;

namespace Ida.Testing;

/// <summary>
/// One end of a link between two lives: what it sends and has not delivered, and its half of the connection.
/// </summary>
/// <remarks>
/// What is sent stays queued until it arrives at the other end. A break puts everything that has not arrived back to be sent again on the
/// next connection, so frames arrive once and in order whatever happens to connections. Events in flight carry the number of their
/// connection (<c>_connection</c>) or dial (<c>_attempt</c>); a later one makes them stale.
/// </remarks>
internal sealed class SimLinkEnd
{
    private readonly Simulation _simulation;
    private readonly ulong _remoteName;
    private Choices _choices;
    private Packet? _staged, _head, _tail, _unsent;
    private int _connection;
    private int _attempt;
    private int _failures;
    private bool _dialling;
    private bool _lost;
    private bool _closed;
    private long _lastDeparture, _lastArrival;

    public SimLinkEnd(SimNode owner, int number, NodeAddress address, ulong nodeId)
    {
        (Owner, Number, Address, NodeId, _simulation) = (owner, number, address, nodeId, owner.Simulation);
        _remoteName = Choices.Hash(address.Text);
        _choices = new(Choices.Seed(owner.ScheduleSeed, _remoteName, (ulong)number));
    }

    public SimNode Owner { get; }
    public int Number { get; }
    public NodeAddress Address { get; }
    public ulong NodeId { get; private set; }
    public SimLinkEnd? Other { get; private set; }
    public bool Connected { get; private set; }
    public bool IsOver { get; private set; }
    public long Backlog { get; private set; }

    /// <summary>Whether frames that are here may still be handed to the owner.</summary>
    public bool Delivers => !_closed;

    private LinkModel Model => _simulation.Options.Link;

    public void Expect(ulong nodeId)
    {
        if (NodeId == 0) NodeId = nodeId;
    }

    /// <summary>Adds a frame to the write of this turn; true for its first.</summary>
    public bool Stage(ReadOnlySpan<byte> frame)
    {
        if (IsOver) return false;
        Backlog += frame.Length;
        bool first = _staged is null;
        (_staged ??= _simulation.Packets.Rent()).Append(frame);
        return first;
    }

    public void Write(long departure)
    {
        if (_staged is not { } packet) return;
        _staged = null;
        if (_tail is null) _head = packet;
        else _tail.Next = packet;
        _tail = packet;
        _unsent ??= packet;
        if (Backlog > LinkLimits.QueueBytes) End(LinkFault.Overflow);
        else Pump(departure);
    }

    public void Dial()
    {
        _attempt++;
        _dialling = true;
        _simulation.Events.Add(_simulation.Time + Latency(toRemote: true), SimEventKind.DialArrive, this, _attempt);
        _simulation.Events.Add(_simulation.Time + Simulation.Nanoseconds(Model.ConnectTimeout), SimEventKind.DialTimeout, this, _attempt);
    }

    public void Probe()
    {
        if (!IsOver && !_dialling) Dial();
    }

    public void Close()
    {
        if (_closed) return;
        _closed = true;
        if (_staged is not null) _simulation.Packets.Return(_staged);
        _staged = null;
        if (IsOver) return;
        IsOver = true;
        DropUnsent();
        TellOther();
    }

    /// <summary>The link is over for good; what is queued is dropped.</summary>
    public void End(LinkFault fault)
    {
        IsOver = true;
        _attempt++;
        _connection++;
        Connected = _dialling = false;
        DropAll();
        TellOther();
        Fault(fault);
    }

    /// <summary>The connection is reset at this end.</summary>
    public void Disconnect()
    {
        if (IsOver || !Connected) return;
        Requeue();
        Connected = false;
        Fault(LinkFault.Reset);
        RedialLater();
    }

    /// <summary>Resets the connection at both ends.</summary>
    public void Break()
    {
        Disconnect();
        Other?.Disconnect();
    }

    /// <summary>The owner died: what was on its way arrives up to a random frame, the rest is lost.</summary>
    public void Die(bool hostAnswers)
    {
        IsOver = true;
        _attempt++;
        DropUnsent();
        int inFlight = 0;
        for (var packet = _head; packet is not null; packet = packet.Next) inFlight++;
        int kept = (int)_choices.UpTo(inFlight);
        KeepFirst(kept);
        if (hostAnswers) TellOther();
    }

    /// <summary>A cut on the way from here was healed.</summary>
    public void Healed()
    {
        if (_lost) Break();
        else Pump(_simulation.Time);
        _lost = false;
    }

    public void Handle(SimEventKind kind, long argument)
    {
        switch (kind)
        {
            case SimEventKind.Arrive: Arrive(argument); break;
            case SimEventKind.Reset: ResetArrived(argument); break;
            case SimEventKind.DialArrive when argument == _attempt && !IsOver: DialArrived(argument); break;
            case SimEventKind.DialUp when argument == _attempt && !IsOver: Accepted(); break;
            case SimEventKind.DialRefused when argument == _attempt && !IsOver: DialFailed(LinkFault.Refused); break;
            case SimEventKind.DialTimeout when argument == _attempt && !IsOver && _dialling: DialFailed(LinkFault.Unreachable); break;
            case SimEventKind.DialReplaced when argument == _attempt && !IsOver: End(LinkFault.Replaced); break;
            case SimEventKind.DialRejected when argument == _attempt && !IsOver: End(LinkFault.Rejected); break;
            case SimEventKind.Redial when argument == _attempt && !IsOver && !Connected: Dial(); break;
        }
    }

    private void Arrive(long connection)
    {
        if (connection != _connection || _head is not { } packet || packet == _unsent) return;
        var cut = _simulation.Network.CutBetween(Owner.Host, Other!.Owner.Host);
        if (cut is not null || !Other.Connected)
        {
            if (!Owner.Alive) DropAll();
            else Stall(cut == CutMode.Drop);
            return;
        }
        _head = packet.Next;
        if (_head is null) _tail = null;
        Backlog -= packet.Length;
        packet.Next = null;
        if (Other.Owner.Alive && Other.Delivers) Other.Owner.Receive(new(Other, packet, null));
        else _simulation.Packets.Return(packet);
    }

    /// <summary>Nothing gets through: the rest of the queue waits for the cut to heal or for the next connection.</summary>
    private void Stall(bool lost)
    {
        Requeue();
        _lost |= lost;
    }

    private void Pump(long departure)
    {
        if (!Connected || _unsent is null) return;
        if (_simulation.Network.CutBetween(Owner.Host, Other!.Owner.Host) is { } mode)
        {
            _lost |= mode == CutMode.Drop;
            return;
        }
        for (; _unsent is { } packet; _unsent = packet.Next)
        {
            _lastDeparture = Math.Max(departure, _lastDeparture);
            if (Model.BytesPerSecond > 0) _lastDeparture += (long)(packet.Length * 1e9 / Model.BytesPerSecond);
            _lastArrival = Math.Max(_lastDeparture + Latency(toRemote: true), _lastArrival);
            _simulation.Events.Add(_lastArrival, SimEventKind.Arrive, this, _connection);
        }
    }

    private void DialArrived(long attempt)
    {
        var host = _simulation.FindHost(Address.Text);
        long answer = _simulation.Time + Latency(toRemote: false);
        var events = _simulation.Events;
        if (host is null)
        {
            events.Add(answer, SimEventKind.DialRefused, this, attempt);
            return;
        }
        var network = _simulation.Network;
        if (network.CutBetween(Owner.Host, host) is not null || network.CutBetween(host, Owner.Host) is not null) return;
        var target = host.Node!;
        if (!target.Alive)
        {
            if (host.Answers) events.Add(answer, SimEventKind.DialRefused, this, attempt);
            return;
        }
        if (target.PausedUntil > _simulation.Time) events.Add(target.PausedUntil, SimEventKind.DialArrive, this, attempt);
        else if (target == Owner || Other is { IsOver: true }) events.Add(answer, SimEventKind.DialRejected, this, attempt);
        else if (NodeId != 0 && target.Id != NodeId) events.Add(answer, SimEventKind.DialReplaced, this, attempt);
        else ConnectTo(Other ?? target.Links.Accept(this), answer, attempt);
    }

    private void ConnectTo(SimLinkEnd remote, long answer, long attempt)
    {
        (Other, remote.Other) = (remote, this);
        remote.NodeId = Owner.Id;
        Requeue();
        Connected = false;
        remote.Requeue();
        remote._attempt++;
        (remote.Connected, remote._dialling, remote._failures) = (true, false, 0);
        remote.Owner.Receive(new(remote, null, null));
        _simulation.Events.Add(answer, SimEventKind.DialUp, this, attempt);
        remote._lastArrival = answer;
        remote.Pump(_simulation.Time);
    }

    private void Accepted()
    {
        if (_simulation.Network.CutBetween(Other!.Owner.Host, Owner.Host) is not null || !Other.Connected) return;
        NodeId = Other.Owner.Id;
        (Connected, _dialling, _failures) = (true, false, 0);
        Owner.Receive(new(this, null, null));
        Pump(_simulation.Time);
    }

    private void DialFailed(LinkFault fault)
    {
        _dialling = false;
        if (fault == LinkFault.Refused && Connected)
        {
            Requeue();
            Connected = false;
        }
        Fault(fault);
        if (!Connected) RedialLater();
    }

    private void RedialLater()
    {
        _dialling = false;
        _attempt++;
        long pause = Math.Min(Simulation.Nanoseconds(Model.RedialMinimum) << Math.Min(_failures++, 20), Simulation.Nanoseconds(Model.RedialMaximum));
        _simulation.Events.Add(_simulation.Time + pause / 2 + _choices.UpTo(pause / 2), SimEventKind.Redial, this, _attempt);
    }

    private void ResetArrived(long connection)
    {
        if (connection == _connection) Disconnect();
    }

    /// <summary>The other end learns that the connection is gone after what is on its way to it.</summary>
    private void TellOther()
    {
        if (Other is not { IsOver: false, Connected: true } other || !other.Owner.Alive) return;
        if (_simulation.Network.CutBetween(Owner.Host, other.Owner.Host) is not null) return;
        long arrival = Math.Max(_simulation.Time + Latency(toRemote: true), _head is null ? 0 : _lastArrival);
        _simulation.Events.Add(arrival, SimEventKind.Reset, other, other._connection);
    }

    private void Fault(LinkFault fault) => Owner.Receive(new(this, null, fault));

    private void Requeue()
    {
        _connection++;
        _unsent = _head;
        _lastArrival = _lastDeparture = 0;
    }

    private void DropAll()
    {
        _simulation.Packets.ReturnAll(_head);
        _head = _tail = _unsent = null;
        if (_staged is not null) _simulation.Packets.Return(_staged);
        _staged = null;
        Backlog = 0;
    }

    private void DropUnsent()
    {
        int kept = 0;
        for (var packet = _head; packet is not null && packet != _unsent; packet = packet.Next) kept++;
        KeepPackets(kept);
    }

    /// <summary>Keeps whole packets and some frames of the next one.</summary>
    private void KeepFirst(int packets)
    {
        var partial = _head;
        for (int i = 0; i < packets && partial is not null; i++) partial = partial.Next;
        if (partial is null) return;
        int length = 0;
        while (FrameHeader.TryRead(partial.Bytes.AsSpan(length, partial.Length - length), out var header) && _choices.Chance(0.5))
            length += header.Length + 4;
        partial.Length = length;
        KeepPackets(length > 0 ? packets + 1 : packets);
    }

    private void KeepPackets(int count)
    {
        if (_staged is not null) _simulation.Packets.Return(_staged);
        _staged = _unsent = null;
        if (count == 0)
        {
            DropAll();
            return;
        }
        _tail = _head;
        for (int i = 1; i < count; i++) _tail = _tail!.Next;
        if (_tail is null) return;
        _simulation.Packets.ReturnAll(_tail.Next);
        _tail.Next = null;
        Backlog = 0;
        for (var packet = _head; packet is not null; packet = packet.Next) Backlog += packet.Length;
    }

    private long Latency(bool toRemote)
    {
        long least = Simulation.Nanoseconds(Model.MinLatency);
        long latency = least + _choices.UpTo(Simulation.Nanoseconds(Model.MaxLatency) - least);
        if (_choices.Chance(Model.TailChance)) latency += Simulation.Nanoseconds(Model.TailLatency);
        for (int i = 0; i < 8 && _choices.Chance(Model.Loss); i++) latency += Simulation.Nanoseconds(Model.RetransmitDelay);
        return _simulation.Network.Slowed(Owner.Host, Address, latency, toRemote);
    }
}
