using GroupCore.Transport;
using Oracle.Raft;

namespace Oracle.Tests;

/// <summary>Whether parts of the saved state still wait in the link over which they were sent.</summary>
public sealed class LinkMarkTests
{
    private readonly CountedLinks _links = new();
    private readonly ILogPort _port;
    private readonly Replica _other = LogBus.ReplicaOf(2);

    public LinkMarkTests()
    {
        var node = new LogBus.Part(new(), 1, _links);
        _port = new OracleReplica(node, new(), new(node), () => { }, () => { });
    }

    [Fact]
    public void What_was_sent_waits_until_the_replica_has_acknowledged_all_before_its_end()
    {
        (_links.Taken, _links.Queued) = (1_000, 500);
        var end = _port.EndOf(_other);
        Assert.Equal(new(_links.Peer, 1_500), end);
        Assert.True(_port.Holds(_other, end));
        // Later frames of others wait behind the mark.
        (_links.Taken, _links.Queued) = (1_499, 9_000);
        Assert.True(_port.Holds(_other, end));
        (_links.Taken, _links.Queued) = (1_500, 9_000);
        Assert.False(_port.Holds(_other, end));
    }

    /// <summary>The link is over and another has replaced it, so what was in the old link is lost.</summary>
    [Fact]
    public void Nothing_waits_in_a_link_that_is_over()
    {
        (_links.Taken, _links.Queued) = (1_000, 500);
        var end = _port.EndOf(_other);
        (_links.Peer, _links.Taken, _links.Queued) = (_links.Peer + 1, 0, 0);
        Assert.False(_port.Holds(_other, end));
    }

    private sealed class CountedLinks : ILinks
    {
        public int Peer { get; set; } = 3;

        public long Taken { get; set; }

        public long Queued { get; set; }

        public NodeAddress Local => LogBus.ReplicaOf(1).Address;

        public bool IsFull => false;

        public TimeSpan TimeToRoom => default;

        long ILinks.Taken(int peer) => peer == Peer ? Taken : 0;

        public int Open(NodeAddress address, ulong nodeId = 0) => Peer;

        public void Close(int peer)
        {
        }

        public void Probe(int peer)
        {
        }

        public ulong NodeIdOf(int peer) => 0;

        public NodeAddress AddressOf(int peer) => default;

        public long Backlog(int peer) => peer == Peer ? Queued : 0;

        public long Room(int peer) => 0;

        public Span<byte> Reserve(int size) => new byte[size];

        public Span<byte> Reserved(int size) => throw new NotSupportedException();

        public void Send(int peer, int length)
        {
        }

        public void Send(ReadOnlySpan<int> peers, int length)
        {
        }
    }
}
