using GroupCore.Transport;
using GroupCore.Transport.Mesh;

namespace GroupCore.Tests.Transport;

/// <summary>This node asks for a guest between two frames of one read: the frames behind wait until it is known who sent them.</summary>
public sealed class BetweenFramesTests
{
    private const string There = "127.0.0.1:5", Elsewhere = "127.0.0.1:6";
    private const ulong Meant = 77;

    [Fact]
    public void Frames_in_one_read_with_the_Hello_wait_when_the_node_is_asked_for_as_its_link_comes_up()
    {
        var node = new ScriptedNode();
        node.OnUp = _ => node.Mesh.Open(new(There), Meant);
        var guest = node.Port.Come(Hello());
        guest.Say(ScriptedNode.Frames(0, 1, 2));
        node.Turn();
        Assert.Empty(node.Got);
        node.Answers(node.Dials(There), HelloStatus.Accepted, Meant);
        Assert.Equal([1U, 2U], node.Got.Select(static got => got.Number));
    }

    /// <summary>For example, the link to the leader ends, and the guest is the next leader.</summary>
    [Fact]
    public void Frames_behind_one_that_ends_another_link_wait_when_the_node_is_asked_for_as_that_link_ends()
    {
        var node = new ScriptedNode();
        int other = node.Mesh.Open(new(Elsewhere), 78);
        node.Answers(node.Dials(Elsewhere), HelloStatus.Accepted, 78, 9);
        var guest = node.Come(Meant, There, 5);
        node.OnData = (_, number) =>
        {
            if (number == 2) node.Mesh.GiveUp(other);
        };
        node.OnFault = _ => node.Mesh.Open(new(There), Meant);
        guest.Say(ScriptedNode.Frames(0, 1, 2, 3, 4));
        node.Turn();
        Assert.Equal([1U, 2U], node.Got.Select(static got => got.Number));
        node.Answers(node.Dials(There), HelloStatus.Accepted, Meant);
        Assert.Equal([1U, 2U, 3U, 4U], node.Got.Select(static got => got.Number));
    }

    /// <summary>If nobody asks for the node, no frame is lost, and none waits until something else comes.</summary>
    [Fact]
    public void Frames_behind_one_that_is_news_of_a_link_come_in_the_same_turn()
    {
        var node = new ScriptedNode();
        int other = node.Mesh.Open(new(Elsewhere), 78);
        node.Answers(node.Dials(Elsewhere), HelloStatus.Accepted, 78, 9);
        var guest = node.Come(Meant, There, 5);
        node.OnData = (_, number) =>
        {
            if (number == 2) node.Mesh.GiveUp(other);
            if (number == 3) Assert.Equal((other, LinkFault.Rejected), node.News[^1]);
        };
        guest.Say(ScriptedNode.Frames(0, 1, 2, 3, 4));
        node.Mesh.Poll();
        Assert.Equal([1U, 2U, 3U, 4U], node.Got.Select(static got => got.Number));
    }

    private static byte[] Hello() =>
        new HelloFrame("test", HelloFrame.Version, HelloFrame.Version, false, Meant, ScriptedNode.Id, 5, 0, 0, There).ToFrame();
}
