using GroupCore.Transport;
using GroupCore.Transport.Mesh;
using GroupCore.Transport.Sockets;

namespace GroupCore.Tests.Transport;

/// <summary>What is kept of a node that is asked for at several addresses.</summary>
public sealed class AliasTests
{
    private const string There = "127.0.0.1:5", Elsewhere = "127.0.0.1:6";
    private const ulong Meant = 77;

    /// <summary>A process that runs for years asks at many addresses for nodes that have gone since.</summary>
    [Theory, InlineData(true), InlineData(false)]
    public void Addresses_at_which_a_node_was_reached_are_forgotten_with_its_link(bool held)
    {
        var node = new ScriptedNode();
        int peer = node.Mesh.Open(new(There), Meant);
        node.Mesh.Hold(peer);
        node.Answers(node.Dials(There), HelloStatus.Accepted, Meant, 9);
        // A link that is no longer held is found where it is asked for next.
        if (!held) node.Mesh.Release(peer);
        node.Mesh.Open(new(Elsewhere));
        node.Answers(node.Dials(Elsewhere), HelloStatus.Identified, Meant);
        Assert.Equal((2, 1), (node.Mesh.Addresses, node.Mesh.Live));
        node.Mesh.Close(peer);
        Assert.Equal((0, 0), (node.Mesh.Addresses, node.Mesh.Live));
    }

    /// <summary>A sender that found no room at one address then looks at the link of the other, which may never have been short of room.</summary>
    [Fact]
    public void A_sender_that_waits_for_room_at_an_address_is_told_of_it_when_the_node_is_known_at_another()
    {
        var node = new ScriptedNode();
        node.Mesh.Open(new(There), Meant);
        node.Answers(node.Dials(There), HelloStatus.Accepted, Meant, 9);
        int beside = node.Mesh.Open(new(Elsewhere));
        for (uint i = 0; node.Mesh.Room(beside) > 0; i++) node.Send(beside, i, 60_000);
        Assert.Empty(node.Rooms);
        node.Answers(node.Dials(Elsewhere), HelloStatus.Identified, Meant);
        Assert.Contains(beside, node.Rooms);
    }

    /// <summary>Less than the limit waits at each address, and more than the limit at both together.</summary>
    [Fact]
    public void A_link_that_becomes_one_with_another_holds_no_more_than_a_link_does()
    {
        var node = new ScriptedNode();
        int named = node.Mesh.Open(new(There), Meant), beside = node.Mesh.Open(new(Elsewhere));
        node.Port.Tell(node.Port.Dialled[0], DialResult.Connected);
        node.Answers(node.Port.Dialled[0], HelloStatus.Accepted, Meant, 9);
        for (uint i = 0; i < 20; i++)
        {
            node.Send(named, i, 1_000_000);
            node.Send(beside, i, 1_000_000);
        }
        node.Turn();
        Assert.Equal(0, node.Count(LinkFault.Overflow));
        node.Answers(node.Dials(Elsewhere), HelloStatus.Identified, Meant);
        Assert.Equal([(named, LinkFault.Overflow), (beside, LinkFault.Overflow)], node.News[^2..]);
        Assert.Equal((0, 0L), (node.Mesh.Live, node.Mesh.Quota.Bytes));
    }
}
