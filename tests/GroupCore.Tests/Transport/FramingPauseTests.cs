using GroupCore.Transport;
using GroupCore.Transport.Mesh;
using GroupCore.Transport.Sockets;

namespace GroupCore.Tests.Transport;

/// <summary>A node that answers each connection with bytes that nobody can read.</summary>
public sealed class FramingPauseTests
{
    private const string There = "127.0.0.1:5";
    private const ulong Meant = 77;

    /// <summary>Otherwise a stranger could keep this node from dialling the node that is meant.</summary>
    [Fact]
    public void A_stranger_that_only_says_that_it_is_the_node_holds_up_no_dial()
    {
        var node = new ScriptedNode();
        node.Mesh.Open(new(There), Meant);
        node.Dials(There, DialResult.Refused);
        var stranger = node.Come(Meant, There, 5);
        node.Dials(There, DialResult.Refused);
        stranger.Say(new byte[64]);
        node.Turn();
        Assert.True(stranger.IsClosed);
        node.Mesh.Open(new(There), Meant);
        node.Answers(node.Dials(There), HelloStatus.Forgotten, Meant);
        node.Answers(node.Dials(There), HelloStatus.Accepted, Meant, 9);
    }

    /// <summary>A node that watches it asks for it and probes it at each break.</summary>
    [Theory, InlineData(true), InlineData(false)]
    public void A_node_that_sent_what_nobody_can_read_is_not_dialled_for_a_second_whoever_asks_for_it(bool handshake)
    {
        var node = new ScriptedNode();
        int peer = node.Mesh.Open(new(There), Meant);
        node.Mesh.Hold(peer);
        var link = node.Dials(There);
        if (!handshake) node.Answers(link, HelloStatus.Accepted, Meant, 9);
        link.Say(new byte[64]);
        node.Turn();
        Assert.True(link.IsClosed);
        for (int i = 0; i < 9; i++)
        {
            node.Mesh.Probe(peer);
            Assert.Equal(peer, node.Mesh.Open(new(There), Meant));
            // It is not dialled either if it was released in between.
            if (i == 5) node.Mesh.Release(peer);
            node.Pass(ScriptedNode.Second / 10);
            Assert.Single(node.Port.Dialled);
        }
        node.Pass(ScriptedNode.Second / 2);
        node.Answers(node.Dials(There), HelloStatus.Accepted, Meant, 9);
        Assert.Equal((peer, null), node.News[^1]);
    }

    /// <summary>Nobody needs the node, its probe was answered with such bytes, and then its connection ends.</summary>
    [Theory, InlineData(false), InlineData(true)]
    public void A_released_node_that_may_not_be_dialled_is_forgotten_in_its_time_or_dialled_when_it_is_asked_for_again(bool shortLived)
    {
        var node = new ScriptedNode();
        int peer = node.Mesh.Open(new(There), Meant);
        node.Mesh.Hold(peer);
        var link = node.Dials(There);
        node.Answers(link, HelloStatus.Accepted, Meant, 9);
        if (!shortLived) node.Pass(2 * ScriptedNode.Second);
        node.Mesh.Release(peer);
        node.Mesh.Probe(peer);
        node.Dials(There).Say(new byte[64]);
        node.Turn();
        link.End();
        node.Turn();
        if (shortLived)
        {
            node.Pass(5 * ScriptedNode.Second);
            node.Mesh.Open(new(There), Meant);
            node.Dials(There);
            return;
        }
        for (int i = 0; i < 13; i++) node.Pass(5 * ScriptedNode.Second);
        Assert.Equal(0, node.Mesh.Live);
        Assert.Equal((peer, LinkFault.Rejected), node.News[^1]);
    }
}
