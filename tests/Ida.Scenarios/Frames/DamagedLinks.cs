using GroupCore.Transport;

namespace Ida.Scenarios;

/// <summary>
/// The links of a member that lies: while it is armed, what it sends is damaged, repeated, sent to others, or accompanied by forged frames. Framing
/// and order of the streams stay true, so that receivers read on. Used in the turns of its node.
/// </summary>
internal sealed class DamagedLinks(ILinks inner) : ILinks
{
    private readonly byte[]?[] _old = new byte[64][];
    private readonly List<int> _peers = [];
    private byte[] _frame = new byte[4_096];
    private HostileHand? _hand;
    private int _next;

    public NodeAddress Local => inner.Local;

    public NodeBacklog? Quota => inner.Quota;

    public bool IsFull => inner.IsFull;

    public TimeSpan TimeToRoom => inner.TimeToRoom;

    /// <summary>Lies from now on, as this hand draws; null: no longer. May be called on any thread.</summary>
    public void Arm(HostileHand? hand) => Volatile.Write(ref _hand, hand);

    public int Open(NodeAddress address, ulong nodeId = 0)
    {
        int peer = inner.Open(address, nodeId);
        if (!_peers.Contains(peer)) _peers.Add(peer);
        return peer;
    }

    public void Close(int peer)
    {
        _peers.Remove(peer);
        inner.Close(peer);
    }

    public void Probe(int peer) => inner.Probe(peer);

    public ulong NodeIdOf(int peer) => inner.NodeIdOf(peer);

    public NodeAddress AddressOf(int peer) => inner.AddressOf(peer);

    public long Backlog(int peer) => inner.Backlog(peer);

    public long Room(int peer) => inner.Room(peer);

    public Span<byte> Reserve(int size)
    {
        if (_frame.Length < size) _frame = new byte[size];
        return _frame.AsSpan(0, size);
    }

    public Span<byte> Reserved(int size) => _frame.AsSpan(0, size);

    public void Send(int peer, int length) => Send([peer], length);

    public void Send(ReadOnlySpan<int> peers, int length)
    {
        var frame = _frame.AsSpan(0, length);
        if (Volatile.Read(ref _hand) is not { IsDone: false } hand)
        {
            frame.CopyTo(inner.Reserve(length));
            inner.Send(peers, length);
            return;
        }
        byte[] sent = frame.ToArray();
        foreach (int peer in peers)
        {
            foreach (var (to, bytes) in hand.Draw(sent, peer, _peers, _old))
            {
                bytes.CopyTo(inner.Reserve(bytes.Length));
                inner.Send(to, bytes.Length);
            }
        }
        _old[_next++ % _old.Length] = sent;
    }
}
