using GroupCore.Transport;
using GroupCore.Transport.Sockets;

namespace Ida.Testing;

/// <summary>
/// One end of a simulated connection: what its owner has not read yet, and what it may still write before the other end has read more.
/// </summary>
/// <remarks>
/// Bytes travel in a <see cref="StreamChannel"/> per direction, and so do the end of the stream and a reset behind them. What the two kernels hold of a
/// direction is bounded by a number that is drawn; the news that the other end has read comes the other way, and not over a cut. Closing with bytes
/// unread is a reset, as in real kernels. How connections are made: <c>Dialling</c>.
/// </remarks>
internal sealed partial class SimSocket : PortSocket, IChannelEnd
{
    private const int LargeBuffer = 128 << 10, SmallOrders = 3, LargeOrders = 5;
    private const long LongestShortness = 200_000;
    private readonly SimSocketPort _port;
    private readonly StreamChannel _channel;
    private readonly NodeAddress _address;
    private readonly SimHost? _remote;
    private readonly long _capacity;
    private Choices _choices;
    private Packet? _first, _last;
    private long _sent, _known, _read;
    private bool _blocked, _ended, _reset, _told;

    public SimSocket(SimSocketPort port, NodeAddress address, SimHost? remote, int number)
    {
        (_port, _address, _remote, Number) = (port, address, remote, number);
        _choices = new(Choices.Seed(Node.ScheduleSeed, Choices.Hash("socket"), (ulong)number));
        _channel = new(this);
        long order = Chance(Model.SmallBuffers) ? (long)Model.LeastBuffer << (int)Choose(SmallOrders - 1) : (long)LargeBuffer << (int)Choose(LargeOrders - 1);
        _capacity = order + Choose(order);
    }

    /// <summary>The address of the other end.</summary>
    public NodeAddress Address => _address;

    /// <summary>The node whose end it is.</summary>
    public ISimNode Node => _port.Node;

    ISimNode IChannelEnd.Owner => Node;

    public int Number { get; }

    /// <summary>Where the other end is, or would be.</summary>
    public SimHost Remote => _remote!;

    /// <summary>The other end, once the dial has come there.</summary>
    public SimSocket? Other { get; private set; }

    /// <summary>Whether it is in the list of sockets to receive from.</summary>
    public bool IsListed { get; set; }

    /// <summary>Whether it counts against the node's limit.</summary>
    public bool HasDescriptor { get; set; }

    /// <summary>Whether a receive has something to tell.</summary>
    public bool IsReadable => _first is not null || _ended || _reset;

    /// <summary>Whether it is closed, and everything it had to say has left.</summary>
    public bool IsOver => IsClosed && _channel.IsEmpty;

    public bool SendsAgain => _port.IsThere;

    private ISimulation Simulation => Node.Simulation;

    private SocketModel Model => Simulation.Sockets;

    private long Room => _capacity - (_sent - _known);

    private bool MayAnswer => Simulation.Network.CutBetween(Node.Host, Remote) is null;

    public long Choose(long bound) => _choices.UpTo(bound);

    public bool Chance(double probability) => _choices.Chance(probability);

    public long Latency() => Latency(toRemote: true);

    public void Reached(Packet packet) => Other!.Arrived(packet);

    public int Receive(Span<byte> to)
    {
        if (_first is null) return _ended || _reset ? -1 : 0;
        int most = Math.Min(to.Length, Unread(to.Length)), count = 0;
        if (most > 1 && Chance(Model.ShortRead))
        {
            Simulation.Tally.Add(SocketDeed.ShortRead);
            most = 1 + (int)Choose(most - 2);
        }
        while (count < most)
        {
            var packet = _first!;
            int here = Math.Min(packet.Unread.Length, most - count);
            packet.Unread[..here].CopyTo(to[count..]);
            packet.Read += here;
            count += here;
            if (packet.Read < packet.Length) break;
            _first = packet.Next;
            if (_first is null) _last = null;
            Simulation.Packets.Return(packet);
        }
        Simulation.Trace.Add((ulong)Number);
        if (Simulation.Options.IsSecure) Simulation.Trace.Add((ulong)count);
        else Simulation.Trace.Add(to[..count]);
        _read += count;
        TellOfRoom();
        return count;
    }

    public int Send(ReadOnlySpan<ArraySegment<byte>> pieces, long departure)
    {
        if (_reset) return -1;
        long total = 0;
        foreach (var piece in pieces) total += piece.Count;
        long taken = Math.Min(total, Math.Max(0, Room));
        if (taken < total) Simulation.Tally.Add(SocketDeed.Full);
        if (taken > 1 && Chance(Model.ShortWrite))
        {
            Simulation.Tally.Add(SocketDeed.ShortWrite);
            taken = 1 + Choose(taken - 2);
            Schedule(Choose(LongestShortness), SimEventKind.Writable, this);
        }
        _blocked = taken < total;
        if (taken > 0) Write(pieces, taken, departure);
        _sent += taken;
        if (taken > 0 && Chance(Model.Reset)) Schedule(Latency(), SimEventKind.Reset, this);
        return (int)taken;
    }

    /// <summary>The owner closes it.</summary>
    public void Close()
    {
        if (IsClosed) return;
        End(_first is not null || !IsAccepted, truncated: _first is not null);
    }

    /// <summary>The owner is no more: what is on its way arrives up to a drawn byte, unless <paramref name="atFrame"/>.</summary>
    public void Die(bool hostAnswers, bool atFrame)
    {
        Other?.Ask();
        if (IsClosed) return;
        if (hostAnswers)
        {
            End(_first is not null || !IsAccepted, truncated: !atFrame);
            return;
        }
        IsClosed = true;
        if (!atFrame) _channel.Truncate();
        DropUnread();
    }

    public void Break()
    {
        if (Other is not { } other) return;
        Simulation.Tally.Add(SocketDeed.Reset);
        LoseRest();
        other.LoseRest();
        BreakHere();
        other.BreakHere();
    }

    /// <summary>A cut of the way from here was healed.</summary>
    public void Healed()
    {
        _channel.Healed();
        if (!IsClosed && Other is { IsClosed: false } writer) Schedule(Latency(), SimEventKind.Room, writer, _read);
    }

    public void Handle(SimEventKind kind, long argument)
    {
        switch (kind)
        {
            case SimEventKind.Arrive: _channel.Arrive(argument); break;
            case SimEventKind.Room: LearnOfRoom(argument); break;
            case SimEventKind.Writable: GoOn(); break;
            case SimEventKind.Unanswered when !IsAnswered: BreakHere(); break;
            case SimEventKind.Reset: BreakNow(); break;
            default: HandleDial(kind); break;
        }
    }

    /// <summary>The host of the other end is there again, and knows nothing of the connection.</summary>
    public void Orphan(long within) => Schedule(Choose(within), SimEventKind.Reset, this);

    /// <summary>After some time the kernel of this end gives up asking whether the other end is there, unless it is by then.</summary>
    public void Ask()
    {
        if (!IsClosed && IsConnected) Schedule(SimHost.UntilUnanswered(Node, Number), SimEventKind.Unanswered, this);
    }

    private bool IsAnswered => Other is { IsClosed: false, _reset: false } && !Simulation.Network.IsCutLong(Node.Host, Remote);

    private void Arrived(Packet packet)
    {
        if (IsClosed || _reset)
        {
            // As a host answers bytes of a connection that it does not have.
            if (IsClosed && packet is { Ends: false, Resets: false }) AnswerUnknown();
            Simulation.Packets.Return(packet);
            return;
        }
        _ended |= packet.Ends;
        if (packet.Resets)
        {
            _reset = true;
            // Some systems let the user read what came before, some do not.
            if (Chance(0.5)) DropUnread();
        }
        if (packet.Length > 0)
        {
            if (_last is null) _first = packet;
            else _last.Next = packet;
            _last = packet;
        }
        else
        {
            Simulation.Packets.Return(packet);
        }
        if (IsAccepted) _port.Readable(this);
        else Knock();
    }

    private void AnswerUnknown()
    {
        if (Node.Host.Answers) SendReset(truncated: false);
        else Node.Host.Orphans.Add(Other!);
    }

    // How many bytes are there to read, counted only as far as it matters.
    private int Unread(int most)
    {
        int bytes = 0;
        for (var packet = _first; packet is not null && bytes < most; packet = packet.Next) bytes += packet.Unread.Length;
        return bytes;
    }

    private void Write(ReadOnlySpan<ArraySegment<byte>> pieces, long bytes, long departure)
    {
        var packet = Simulation.Packets.Rent();
        foreach (var piece in pieces)
        {
            int here = (int)Math.Min(piece.Count, bytes);
            packet.Append(piece.AsSpan(0, here));
            bytes -= here;
            if (bytes == 0) break;
        }
        if (Chance(Node.Damage))
        {
            Simulation.Tally.Add(SocketDeed.Damaged);
            packet.Bytes[(int)Choose(packet.Length - 1)] ^= (byte)(1 << (int)Choose(7));
        }
        _channel.Send(packet, departure);
    }

    private void TellOfRoom()
    {
        if (Other is not { IsClosed: false } writer || !MayAnswer) return;
        if (writer._blocked || writer.Room < writer._capacity / 2) Schedule(Latency(), SimEventKind.Room, writer, _read);
        else writer._known = _read;
    }

    private void LearnOfRoom(long read)
    {
        // Over a cut it is told again when the cut heals.
        if (IsClosed || Other is not { MayAnswer: true }) return;
        _known = Math.Max(_known, read);
        if (Room >= _capacity / 3) GoOn();
    }

    private void GoOn()
    {
        if (IsClosed || !_blocked || Room <= 0) return;
        _blocked = false;
        _port.Tell(this, null);
    }

    private void End(bool resets, bool truncated)
    {
        IsClosed = true;
        DropUnread();
        if (!IsConnected)
        {
            // If the listener has not heard of the connection yet, the dialler learns of the end when the answer comes.
            if (IsAccepted) Abandon();
        }
        else if (resets) SendReset(truncated);
        else SendEnd(truncated);
    }

    private void SendEnd(bool truncated)
    {
        if (_reset) return;
        if (truncated) _channel.Truncate();
        var packet = Simulation.Packets.Rent();
        packet.Ends = true;
        _channel.Send(packet, Simulation.Time);
    }

    private void SendReset(bool truncated)
    {
        if (_reset || _told || Other is not { IsClosed: false }) return;
        _told = true;
        Simulation.Tally.Add(SocketDeed.Reset);
        if (truncated) _channel.Truncate();
        var packet = Simulation.Packets.Rent();
        packet.Resets = true;
        _port.Keep(this);
        _channel.Send(packet, Simulation.Time);
    }

    private void LoseRest()
    {
        if (!_channel.IsEmpty) Simulation.Tally.Add(SocketDeed.LostBytes);
        _channel.Truncate();
        _channel.Land();
    }

    private void BreakHere()
    {
        if (IsClosed || _reset) return;
        _reset = true;
        if (!IsConnected && !IsAccepted) IsClosed = true;
        else if (IsAccepted && IsConnected) _port.Readable(this);
    }

    // The connection breaks by itself, or because the other end's host has forgotten it.
    private void BreakNow()
    {
        if (IsClosed || _reset || Other is not { } other) return;
        if (!other.IsClosed) Break();
        else if (other.MayAnswer) BreakHere();
        else if (other.Node.Host.Answers) Orphan(OrphanPause);
    }

    private void DropUnread()
    {
        Simulation.Packets.ReturnAll(_first);
        _first = _last = null;
    }

    private long Latency(bool toRemote) => Simulation.Network.Latency(ref _choices, Node.Host, _address, toRemote);

    private void Schedule(long delay, SimEventKind kind, SimSocket at, long argument = 0) => Simulation.Events.Add(Simulation.Time + delay, kind, at, argument);
}
