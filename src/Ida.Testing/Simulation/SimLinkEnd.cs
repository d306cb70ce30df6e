using GroupCore.Runtime;
using GroupCore.Transport;
using GroupCore.Transport.Mesh;
using GroupCore.Wire;

namespace Ida.Testing;

/// <summary>
/// One end of a link between two lives: the session that production uses, over a simulated connection.
/// </summary>
/// <remarks>
/// The session keeps what is not acknowledged and resumes; this class makes connections under it (<c>Dialling</c>) and carries its writes
/// (<see cref="SimChannel"/>). A connection has a number of its own, its epoch, at both ends: bytes and news of another epoch are stale, even if they have arrived and were not
/// read yet. Dials and probes are numbered likewise.
/// </remarks>
internal sealed partial class SimLinkEnd : IChannelEnd
{
    private readonly Simulation _simulation;
    private readonly SimChannel _channel;
    private Choices _choices;
    private Packet? _partial;
    private long _timerAt = long.MaxValue;

    public SimLinkEnd(SimNode owner, int number, NodeAddress address, ulong nodeId)
    {
        (Owner, Number, Address, _expected, _simulation) = (owner, number, address, nodeId, owner.Simulation);
        _choices = new(Choices.Seed(owner.ScheduleSeed, Choices.Hash(address.Text), (ulong)number));
        bool datagrams = Model.UsesDatagrams;
        Session = new(number, _simulation.Slabs, datagrams ? LinkCarrier.Datagrams : LinkCarrier.Connection, node: owner.Links.Held);
        _channel = datagrams ? new DatagramChannel(this) : new StreamChannel(this);
    }

    public SimNode Owner { get; }
    public int Number { get; }
    public NodeAddress Address { get; }
    public LinkSession Session { get; }

    /// <summary>The other end, once a connection was made.</summary>
    public SimLinkEnd? Other { get; private set; }
    public bool Connected { get; private set; }

    public LinkPhase Phase => IsOver ? LinkPhase.Ended : Connected ? LinkPhase.Up : _dialling ? LinkPhase.Dialling : LinkPhase.Down;
    public long Epoch { get; private set; }

    /// <summary>Whether the owner has closed it: nothing of it is reported any more.</summary>
    public bool IsClosed { get; private set; }

    /// <summary>Whether the owner was told that the other end is a process of its system.</summary>
    public bool IsVouched { get; set; }

    /// <summary>Whether the owner asks for it: it is dialled when its connection breaks.</summary>
    public bool IsOpened => _opened;

    /// <summary>Whether a schedule has it that nothing confirms to the owner who the other end is.</summary>
    public bool IsDoubted { get; set; }

    /// <summary>Whether a schedule makes the owner wait until it is known who the other end is.</summary>
    public bool IsUnsettled { get; set; }

    /// <summary>Whether the owner neither asks for it nor did within the last minute, nor was told who it is.</summary>
    public bool IsForeign => !_opened && !IsVouched && _simulation.Time >= _vouchedUntil;

    /// <summary>Whether the link is over: its session is closed.</summary>
    public bool IsOver => Session.IsClosed;

    /// <summary>When bytes of the other end, or a connection, came last.</summary>
    public long HeardAt { get; private set; }

    /// <summary>Whether it is in the list of ends with output.</summary>
    public bool IsDirty { get; set; }

    private LinkModel Model => _simulation.Options.Link;

    public long Choose(long bound) => _choices.UpTo(bound);

    public bool Chance(double probability) => _choices.Chance(probability);

    /// <summary>The end of a turn: everything the session has to say leaves.</summary>
    public void Write(long now, long departure)
    {
        if (Session.Overflowed) End(LinkFault.Overflow);
        Session.OnTimer(now);
        var pieces = _simulation.Pieces;
        while (Connected && Session.Gather(pieces, now) is > 0 and int count)
        {
            var packet = _simulation.Packets.Rent();
            packet.Epoch = Epoch;
            foreach (var piece in pieces.AsSpan(0, count)) packet.Append(piece);
            Session.Written(packet.Length, now);
            _channel.Send(packet, departure);
        }
        ScheduleTimer();
    }

    /// <summary>A write of the other end arrives at the host.</summary>
    public void Arrived(Packet packet)
    {
        if (Owner.Alive && Connected && packet.Epoch == Epoch)
        {
            Owner.Links.Receive(new(this, packet, null));
            return;
        }
        // As a host answers bytes of a connection that it does not have.
        if (!_dialling && Other is { } sender && Owner.Host.Answers && packet.Epoch == sender.Epoch) TellOfReset(sender);
        _simulation.Packets.Return(packet);
    }

    /// <summary>Reads frames of an arrived write inside a turn, at most <paramref name="frames"/> if the write can be read in parts. True when it is used up.</summary>
    public bool Read(Packet packet, int frames)
    {
        if (packet.Epoch != Epoch || !Connected) return true;
        int size = Portion(packet.Unread, frames);
        var bytes = packet.Unread[..size];
        packet.Read += size;
        if (_partial is { } partial)
        {
            partial.Append(bytes);
            bytes = partial.Unread;
        }
        Take(bytes);
        return packet.Read == packet.Length;
    }

    /// <summary>The owner died: at a chosen frame, or anywhere in what is on its way.</summary>
    public void Die(bool hostAnswers, bool atFrame)
    {
        _attempt++;
        if (!atFrame) _channel.Truncate();
        if (hostAnswers && Other is { Connected: true } other) TellOfReset(other);
        Connected = false;
        Session.Close();
        DropPartial();
    }

    /// <summary>A cut of the way from here was healed.</summary>
    public void Healed()
    {
        if (Other is null) return;
        if (_untold) TellOfReset(Other);
        _channel.Healed();
    }

    public void Handle(SimEventKind kind, long argument)
    {
        switch (kind)
        {
            case SimEventKind.Arrive: ((StreamChannel)_channel).Arrive(argument); break;
            case SimEventKind.Reset when argument == Epoch: Disconnect(0); break;
            case SimEventKind.Unanswered when argument == Epoch && !IsAnswered: Disconnect(0); break;
            case SimEventKind.LinkTimer: TimerDue(); break;
            case SimEventKind.Settled: Settle(); break;
            default: HandleDial(kind, argument); break;
        }
    }

    ISimNode IChannelEnd.Owner => Owner;

    SimHost IChannelEnd.Remote => Other!.Owner.Host;

    bool IChannelEnd.SendsAgain => Owner.Alive;

    long IChannelEnd.Latency() => Latency(toRemote: true);

    void IChannelEnd.Reached(Packet packet) => Other!.Arrived(packet);

    private long Latency(bool toRemote) => _simulation.Network.Latency(ref _choices, Owner.Host, Address, toRemote);

    private void Take(ReadOnlySpan<byte> bytes)
    {
        long now = HeardAt = Owner.Node.Now;
        var taken = Session.Receive(bytes, Owner.Links, now, out int consumed);
        if (taken == LinkInput.Closed || !Connected) return;
        if (taken == LinkInput.Malformed || (taken == LinkInput.Gap && !Model.UsesDatagrams))
        {
            Owner.Node.Counters.Refuse(RefusalReason.Framing);
            BreakFor(FramingPause);
            return;
        }
        Keep(bytes[consumed..]);
        Owner.Links.Acknowledged(this);
        if (Session.HasOutput(now)) Owner.Links.MarkDirty(this);
        else ScheduleTimer();
    }

    // Bytes of a frame that is not complete wait for the rest.
    private void Keep(ReadOnlySpan<byte> rest)
    {
        if (rest.IsEmpty || Model.UsesDatagrams)
        {
            DropPartial();
        }
        else
        {
            var kept = _simulation.Packets.Rent();
            kept.Append(rest);
            DropPartial();
            _partial = kept;
        }
    }

    private void DropPartial()
    {
        if (_partial is { } partial) _simulation.Packets.Return(partial);
        _partial = null;
    }

    // A stream may be read in any parts: this many frames, and now and then a part of the next one.
    private int Portion(ReadOnlySpan<byte> bytes, int frames)
    {
        if (Model.UsesDatagrams) return bytes.Length;
        if (_partial is { } partial) return Math.Min(bytes.Length, Missing(partial.Unread));
        int at = 0;
        while (FrameHeader.TryRead(bytes[at..], out var header))
        {
            int size = header.Length + 4;
            if (size < FrameHeader.Size || size > bytes.Length - at) return bytes.Length;
            if (frames == 0 && header.Type != FrameType.Segment) return at + (Chance(1.0 / 16) ? (int)Choose(size - 1) : 0);
            if (header.Type != FrameType.Segment) frames--;
            at += size;
        }
        return bytes.Length;
    }

    // Number of bytes that complete the header, or else the frame, of which a part was read.
    private static int Missing(ReadOnlySpan<byte> part) => (FrameHeader.TryRead(part, out var header) ? header.Length + 4 : FrameHeader.Size) - part.Length;

    private void TimerDue()
    {
        if (_simulation.Time < _timerAt) return;
        _timerAt = long.MaxValue;
        if (IsOver || !Connected) return;
        if (Session.NextTimer <= Owner.LocalTime) Owner.Links.MarkDirty(this);
        else ScheduleTimer();
    }

    private void ScheduleTimer()
    {
        long due = Session.NextTimer;
        if (due == long.MaxValue) return;
        long at = Math.Max(Owner.VirtualTime(due), _simulation.Time);
        if (at >= _timerAt) return;
        _timerAt = at;
        _simulation.Events.Add(at, SimEventKind.LinkTimer, this);
    }
}
