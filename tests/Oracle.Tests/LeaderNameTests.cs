using GroupCore.Transport;

namespace Oracle.Tests;

/// <summary>A process gives others the address that the leader states, not the one under which it reaches the leader itself.</summary>
public sealed class LeaderNameTests
{
    /// <summary>As with a seed behind a proxy, or with several addresses.</summary>
    [Fact]
    public void A_replica_that_reaches_the_leader_under_another_address_names_it_by_its_own()
    {
        using var cluster = new OracleCluster(17, 2);
        cluster.StartAll(TimeSpan.Zero);
        Assert.True(cluster.RunUntil(() => cluster.Leader is not null, 10), cluster.Describe());
        var leader = cluster.Leader!.Node;
        var node = cluster.Simulation.AddNode();
        var links = new AliasLinks(node.Node.Links, leader.Id);
        var member = new OracleMember(new TappedNode(node.Node, null, links), cluster.Options with { Seeds = [leader.Address] });
        node.Post(member.Start);
        Assert.True(cluster.RunUntil(() => member.Replica?.Log.IsVoter == true && member.Replica.Log.LeaderHint.Node != 0, 20), cluster.Describe());
        Assert.True(links.Asked > 0);
        Assert.Equal(leader.Address, member.Replica!.Log.LeaderHint.Address);
    }

    private sealed class AliasLinks(ILinks inner, ulong alias) : ILinks
    {
        /// <summary>How often the address of the aliased node was asked for.</summary>
        public int Asked { get; private set; }

        public NodeAddress Local => inner.Local;

        public bool IsFull => inner.IsFull;

        public TimeSpan TimeToRoom => inner.TimeToRoom;

        public int Open(NodeAddress address, ulong nodeId = 0) => inner.Open(address, nodeId);

        public void Close(int peer) => inner.Close(peer);

        public void Probe(int peer) => inner.Probe(peer);

        public ulong NodeIdOf(int peer) => inner.NodeIdOf(peer);

        public NodeAddress AddressOf(int peer)
        {
            if (inner.NodeIdOf(peer) != alias) return inner.AddressOf(peer);
            Asked++;
            return new("127.0.0.1:9");
        }

        public long Backlog(int peer) => inner.Backlog(peer);

        public long Room(int peer) => inner.Room(peer);

        public Span<byte> Reserve(int size) => inner.Reserve(size);

        public Span<byte> Reserved(int size) => inner.Reserved(size);

        public void Send(int peer, int length) => inner.Send(peer, length);

        public void Send(ReadOnlySpan<int> peers, int length) => inner.Send(peers, length);
    }
}
