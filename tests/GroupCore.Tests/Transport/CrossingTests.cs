using GroupCore.Transport.Mesh;
using GroupCore.Transport.Sockets;

namespace GroupCore.Tests.Transport;

/// <summary>Of two connections that cross, one stays.</summary>
public sealed class CrossingTests
{
    private const ulong Higher = ScriptedNode.Id + 1, Token = 77;
    private const string There = "127.0.0.1:9";

    /// <summary>
    /// The other node's dial arrived before this node's, but its Hello is read after this node's dial has come through: by then its dialler has dropped that connection. In seed
    /// 20 of the simulated mesh both ends lost the connection that stood.
    /// </summary>
    [Fact]
    public void The_hello_of_a_dial_that_its_dialler_has_dropped_does_not_take_the_place_of_the_connection_that_stands()
    {
        var (node, peer, _) = Connected();
        var late = node.Come(Higher, There, Token);
        Assert.Equal(HelloStatus.Superseded, late.Answer);
        node.Send(peer, 1);
        node.Turn();
        Assert.Equal([(peer, null)], node.News);
    }

    /// <summary>A node that has lost the connection that still stands here knows this node's name of the link, and says it.</summary>
    [Fact]
    public void The_hello_of_a_later_dial_takes_the_place_of_a_connection_whose_end_was_not_heard_of()
    {
        var (node, peer, dialled) = Connected();
        var later = node.Come(Higher, There, Token, dialled.Hello.Token);
        Assert.Equal(HelloStatus.Accepted, later.Answer);
        Assert.True(dialled.IsClosed);
        Assert.Equal(Higher, node.Mesh.NodeIdOf(peer));
    }

    private static (ScriptedNode Node, int Peer, ScriptedPort.OtherEnd Dialled) Connected()
    {
        var node = new ScriptedNode();
        int peer = node.Mesh.Open(new(There), Higher);
        var dialled = node.Dials(There, DialResult.Connected);
        node.Answers(dialled, HelloStatus.Accepted, Higher, Token);
        Assert.Equal([(peer, null)], node.News);
        return (node, peer, dialled);
    }
}
