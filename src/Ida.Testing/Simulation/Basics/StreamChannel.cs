namespace Ida.Testing;

/// <summary>
/// A connection as TCP gives it: bytes arrive in order, or the connection breaks. Over a cut they wait, as retransmissions do, or are
/// lost and break the connection when the cut heals.
/// </summary>
internal sealed class StreamChannel(IChannelEnd from) : SimChannel(from)
{
    private Packet? _head, _tail, _unsent;
    private long _wave;
    private bool _lost;

    public override void Send(Packet packet, long departure)
    {
        if (_tail is null) _head = packet;
        else _tail.Next = packet;
        _tail = packet;
        _unsent ??= packet;
        Pump(departure);
    }

    /// <summary>The first write on its way arrives, unless everything of its wave was held up or lost meanwhile.</summary>
    public void Arrive(long wave)
    {
        if (wave != _wave || _head is not { } packet) return;
        if (Cut is { } cut)
        {
            Stall(cut);
            return;
        }
        _head = packet.Next;
        if (_head is null) _tail = null;
        packet.Next = null;
        From.Reached(packet);
    }

    public bool IsEmpty => _head is null;

    /// <summary>What is on its way arrives at once.</summary>
    public void Land()
    {
        while (_head is { } packet)
        {
            _head = packet.Next;
            packet.Next = null;
            From.Reached(packet);
        }
        Clear();
    }

    public override void Clear()
    {
        _wave++;
        Simulation.Packets.ReturnAll(_head);
        _head = _tail = _unsent = null;
        _lost = false;
        LastArrival = 0;
    }

    public override void Truncate()
    {
        long bytes = 0;
        for (var packet = _head; packet is not null && packet != _unsent; packet = packet.Next) bytes += packet.Length;
        bytes = From.Choose(bytes);
        Packet? last = null;
        for (var packet = _head; packet is not null && bytes > 0; packet = packet.Next)
        {
            packet.Length = (int)Math.Min(packet.Length, bytes);
            bytes -= packet.Length;
            last = packet;
        }
        Simulation.Packets.ReturnAll(last is null ? _head : last.Next);
        if (last is null) _head = null;
        else last.Next = null;
        _tail = last;
        _unsent = null;
    }

    public override void Healed()
    {
        if (!From.SendsAgain) Clear();
        else if (_lost) From.Break();
        else Pump(Simulation.Time);
    }

    private void Stall(CutMode cut)
    {
        _wave++;
        LastArrival = 0;
        if (!From.SendsAgain) Clear();
        else Hold(cut);
    }

    private void Hold(CutMode cut)
    {
        _unsent = _head;
        _lost |= cut == CutMode.Drop;
    }

    private void Pump(long departure)
    {
        if (_unsent is null) return;
        if (Cut is { } cut)
        {
            _lost |= cut == CutMode.Drop;
            return;
        }
        for (; _unsent is { } packet; _unsent = packet.Next)
        {
            LastArrival = Math.Max(Departed(packet, departure) + From.Latency(), LastArrival);
            Simulation.Events.Add(LastArrival, SimEventKind.Arrive, From, _wave);
        }
    }
}
