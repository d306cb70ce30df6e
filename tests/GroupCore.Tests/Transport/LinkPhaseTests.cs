using GroupCore.Hosting;
using GroupCore.Runtime;
using GroupCore.Transport;
using GroupCore.Transport.Mesh;

namespace GroupCore.Tests.Transport;

/// <summary>
/// The phases of links and connections. All tests with a <see cref="TestNode"/> show that the mesh takes no forbidden step, since such a step ends the node there.
/// </summary>
public sealed class LinkPhaseTests
{
    public static TheoryData<string> Ports => TcpMeshTests.Ports;

    [Fact]
    public void Every_phase_can_be_reached_and_left_but_the_last()
    {
        foreach (var to in Enum.GetValues<LinkPhase>().Except([LinkPhase.Down])) Assert.Contains(Enum.GetValues<LinkPhase>(), from => LinkPhases.MayFollow(from, to));
        foreach (var from in Enum.GetValues<LinkPhase>()) Assert.Equal(from != LinkPhase.Ended, LinkPhases.MayFollow(from, LinkPhase.Ended));
        foreach (var to in Enum.GetValues<ConnectionState>().Except([ConnectionState.Connecting, ConnectionState.AwaitHello]))
            Assert.Contains(Enum.GetValues<ConnectionState>(), from => LinkPhases.MayFollow(from, to));
        foreach (var from in Enum.GetValues<ConnectionState>()) Assert.Equal(from != ConnectionState.Closed, LinkPhases.MayFollow(from, ConnectionState.Closed));
        foreach (var phase in Enum.GetValues<ConnectionState>()) Assert.False(LinkPhases.MayFollow(phase, phase));
    }

    [Fact]
    public void A_forbidden_step_throws_in_tests_and_is_counted_and_not_taken_otherwise()
    {
        var connection = new TcpConnection(null!, null!, ConnectionKind.Accepted, null);
        var counters = new NodeCounters();
        connection.Become(ConnectionState.AwaitAck, counters);
        Assert.Equal((ConnectionState.AwaitHello, 1), (connection.State, counters.Forbidden));
        counters.ThrowsForbidden = true;
        Assert.Throws<InvalidOperationException>(() => connection.Become(ConnectionState.Connecting, counters));
        connection.Become(ConnectionState.Up, counters);
        Assert.Equal(ConnectionState.Up, connection.State);
    }

    /// <summary>The link fails first and is then closed by its users. If its end were counted twice, links of strangers would have no bound any more.</summary>
    [Theory, MemberData(nameof(Ports))]
    public async Task A_link_that_failed_and_is_closed_then_ends_once(string port)
    {
        var kind = Enum.Parse<SocketPortKind>(port);
        await using var a = new TestNode(kind);
        await using var b = new TestNode(kind);
        int stays = await a.Open(b.Address);
        await a.Saw(null, stays);
        for (int i = 0; i < 3; i++)
        {
            // Another node answers than the one that is meant.
            int peer = await a.Open(b.Address, 4_711 + (ulong)i);
            await a.Saw(LinkFault.Replaced, peer);
            Assert.Equal(1, await a.Do(node => ((TcpMesh)node.Links).Live));
            await a.Do(node => node.Links.Close(peer));
            await a.Do(node => node.Links.Close(peer));
            Assert.Equal(1, await a.Do(node => ((TcpMesh)node.Links).Live));
        }
        await a.Do(node => node.Links.Close(stays));
        await a.Do(node => node.Links.GiveUp(stays));
        Assert.Equal(0, await a.Do(node => ((TcpMesh)node.Links).Live));
    }
}
