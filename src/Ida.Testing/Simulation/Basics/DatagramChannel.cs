namespace Ida.Testing;

/// <summary>Whole writes that may be lost, doubled or overtaken; over a cut they are lost. The links repeat what is missing.</summary>
internal sealed class DatagramChannel(IChannelEnd from) : SimChannel(from)
{
    private long _lostAfter = long.MaxValue;

    public override void Send(Packet packet, long departure)
    {
        long departed = Departed(packet, departure);
        if (From.Chance(Model.Duplication))
        {
            var copy = Simulation.Packets.Rent();
            copy.Append(packet.Unread);
            copy.Epoch = packet.Epoch;
            Transmit(copy, departed);
        }
        Transmit(packet, departed);
    }

    public void Arrive(Packet packet)
    {
        if (Cut is not null || Simulation.Time > _lostAfter) Simulation.Packets.Return(packet);
        else From.Reached(packet);
    }

    public override void Clear() => LastArrival = 0;

    public override void Truncate() => _lostAfter = Simulation.Time + From.Choose(Math.Max(0, LastArrival - Simulation.Time));

    public override void Healed()
    {
        // The links repeat what was lost.
    }

    private void Transmit(Packet packet, long departed)
    {
        if (From.Chance(Model.Loss))
        {
            Simulation.Packets.Return(packet);
            return;
        }
        packet.Channel = this;
        long arrival = departed + From.Latency();
        if (From.Chance(Model.Reordering)) arrival += From.Choose(SimTime.Nanoseconds(Model.ReorderDelay));
        else LastArrival = arrival = Math.Max(arrival, LastArrival);
        Simulation.Events.Add(arrival, SimEventKind.Arrive, packet);
    }
}
