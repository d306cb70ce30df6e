using GroupCore.Transport;

namespace Ida.Scenarios;

/// <summary>The DHT never touches links: it speaks through its group port, and asks whether all of them are full.</summary>
internal sealed class NoLinks : ILinks
{
    public NodeAddress Local => new("harness");

    public int Open(NodeAddress address, ulong nodeId = 0) => throw new InvalidOperationException();

    public void Close(int peer) => throw new InvalidOperationException();

    public void Probe(int peer) => throw new InvalidOperationException();

    public ulong NodeIdOf(int peer) => throw new InvalidOperationException();

    public NodeAddress AddressOf(int peer) => throw new InvalidOperationException();

    public long Backlog(int peer) => throw new InvalidOperationException();

    public long Room(int peer) => long.MaxValue;

    public bool IsFull { get; set; }

    public TimeSpan TimeToRoom { get; set; }

    public Span<byte> Reserve(int size) => throw new InvalidOperationException();

    public Span<byte> Reserved(int size) => throw new NotSupportedException();

    public void Send(int peer, int length) => throw new InvalidOperationException();

    public void Send(ReadOnlySpan<int> peers, int length) => throw new InvalidOperationException();
}
