namespace Ida.Testing;

/// <summary>Packets of one simulation that are free. Large ones are left to the collector, so a burst of large frames does not stay.</summary>
internal sealed class PacketPool
{
    private const int KeepBytes = 64 << 10, KeepCount = 4096;
    private Packet? _free;
    private int _count;

    public Packet Rent()
    {
        if (_free is not { } packet) return new();
        (_free, packet.Next) = (packet.Next, null);
        _count--;
        return packet;
    }

    public void Return(Packet packet)
    {
        (packet.Length, packet.Read, packet.Next, packet.Channel, packet.Ends, packet.Resets) = (0, 0, null, null, false, false);
        if (packet.Bytes.Length > KeepBytes || _count == KeepCount) return;
        packet.Next = _free;
        _free = packet;
        _count++;
    }

    public void ReturnAll(Packet? first)
    {
        while (first is { } packet)
        {
            first = packet.Next;
            Return(packet);
        }
    }
}
