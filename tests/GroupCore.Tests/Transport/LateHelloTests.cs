using GroupCore.Transport;
using GroupCore.Transport.Mesh;
using GroupCore.Transport.Sockets;
using GroupCore.Wire;

namespace GroupCore.Tests.Transport;

/// <summary>
/// A Hello is read late: its dialler has given it up, and has told over a later connection that more had come. The late one says less than that, and was true when it was sent.
/// </summary>
public sealed class LateHelloTests
{
    private const string There = "127.0.0.1:5", Nowhere = "127.0.0.1:1";
    private const ulong Meant = 77;

    public enum Standing
    {
        Connected,
        Dialling,
        Down,
    }

    /// <summary>Both ends live, and nothing is lost: the link goes on over the next connection.</summary>
    [Theory, InlineData(Standing.Connected), InlineData(Standing.Dialling), InlineData(Standing.Down)]
    public void A_Hello_that_tells_of_less_than_was_acknowledged_ends_no_link(Standing standing)
    {
        var node = new ScriptedNode();
        int peer = node.Mesh.Open(new(There), Meant);
        var link = node.Dials(There);
        ulong token = link.Hello.Token;
        node.Answers(link, HelloStatus.Accepted, Meant, 9);
        node.Send(peer, 1);
        node.Turn();
        long sent = FrameHeader.Size + 10;
        link.Say(Acknowledging(sent));
        node.Turn();
        Assert.Equal(sent, node.Mesh.Taken(peer));
        node.Send(peer, 2);
        if (standing != Standing.Connected)
        {
            link.End();
            node.Turn();
            if (standing == Standing.Down) node.Dials(There, DialResult.Refused);
        }
        var late = node.Come(new HelloFrame("test", HelloFrame.Version, HelloFrame.Version, false, Meant, ScriptedNode.Id, 9, token, 0, Nowhere));
        Assert.Equal(HelloStatus.Superseded, late.Answer);
        Assert.Equal((0, 1), (node.Count(LinkFault.Rejected), node.Mesh.Live));
        if (standing == Standing.Down) node.Pass(ScriptedNode.Second);
        if (standing != Standing.Connected)
        {
            link = node.Dials(There);
            link.Say(new HelloAckFrame(HelloStatus.Accepted, HelloFrame.Version, Meant, 9, sent, There).ToFrame());
            node.Turn();
        }
        Assert.Equal(2U, link.Numbers[^1]);
    }

    /// <summary>No Hello of this session can tell of more than was sent, however late it is.</summary>
    [Fact]
    public void A_Hello_that_tells_of_more_than_was_sent_ends_the_link()
    {
        var node = new ScriptedNode();
        int peer = node.Mesh.Open(new(There), Meant);
        var link = node.Dials(There);
        ulong token = link.Hello.Token;
        node.Answers(link, HelloStatus.Accepted, Meant, 9);
        link.End();
        node.Turn();
        node.Dials(There, DialResult.Refused);
        var other = node.Come(new HelloFrame("test", HelloFrame.Version, HelloFrame.Version, false, Meant, ScriptedNode.Id, 9, token, 1, Nowhere));
        Assert.Equal(HelloStatus.Forgotten, other.Answer);
        Assert.Equal((peer, LinkFault.Rejected), node.News[^1]);
    }

    private static byte[] Acknowledging(long received)
    {
        var segment = new byte[SegmentFrame.Size];
        new SegmentFrame(0, received, false).Write(segment);
        return segment;
    }
}
