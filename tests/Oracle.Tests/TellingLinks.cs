using GroupCore.Transport;

namespace Oracle.Tests;

/// <summary>Links that record to which peers something was sent.</summary>
internal sealed class TellingLinks : ILinks
{
    /// <summary>The peers that something was sent to, as node numbers.</summary>
    public List<int> Told { get; } = [];

    public NodeAddress Local => LogBus.ReplicaOf(1).Address;

    public bool IsFull => false;

    public TimeSpan TimeToRoom => default;

    public int Open(NodeAddress address, ulong nodeId = 0) => (int)nodeId;

    public void Close(int peer)
    {
    }

    public void Probe(int peer)
    {
    }

    public ulong NodeIdOf(int peer) => (ulong)peer;

    public NodeAddress AddressOf(int peer) => LogBus.ReplicaOf((ulong)peer).Address;

    public long Backlog(int peer) => 0;

    public long Room(int peer) => 0;

    public Span<byte> Reserve(int size) => new byte[size];

    public Span<byte> Reserved(int size) => throw new NotSupportedException();

    public void Send(int peer, int length) => Told.Add(peer);

    public void Send(ReadOnlySpan<int> peers, int length) => Told.AddRange(peers);
}
