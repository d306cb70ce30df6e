using GroupCore.Runtime;
using GroupCore.Transport;
using GroupCore.Transport.Mesh;
using GroupCore.Transport.Sockets;

namespace GroupCore.Tests.Transport;

/// <summary>
/// A stranger opens connections until the process has no descriptor, and says in one of them that it is a node that this node then asks for. Whoever listens at that node's
/// address is asked all the same.
/// </summary>
public sealed class DescriptorWantTests
{
    private const string There = "127.0.0.1:5", Elsewhere = "127.0.0.1:6", Nowhere = "127.0.0.1:1";
    private const long Millisecond = 1_000_000;
    private const ulong Meant = 77;

    [Fact]
    public void A_guest_gives_its_descriptor_to_the_question_whether_another_is_who_it_says()
    {
        var node = new ScriptedNode();
        var impostor = node.Come(Meant, There, 5);
        var other = node.Come(78, Nowhere, 1);
        node.Port.Descriptors = 2;
        node.Mesh.Open(new(There), Meant);
        impostor.Say(ScriptedNode.Frames(0, 1));
        node.Turn();
        Assert.Equal((true, 1), (other.IsClosed, node.Node.Counters.Refused(RefusalReason.Displaced)));
        node.Answers(node.Dials(There), HelloStatus.Forgotten, Meant);
        Assert.True(impostor.IsClosed);
        Assert.Empty(node.Got);
    }

    /// <summary>The dial must have it at once: a descriptor that is kept for a later dial would go to whoever connects next.</summary>
    [Fact]
    public void A_dial_has_the_descriptor_of_a_guest_before_anybody_else()
    {
        var node = new ScriptedNode();
        node.Come(78, Nowhere, 1);
        node.Port.Descriptors = 1;
        node.Mesh.Open(new(There), Meant);
        node.Answers(node.Dials(There), HelloStatus.Accepted, Meant, 9);
        Assert.Equal((0, 1), (node.Count(LinkFault.Unreachable), node.Mesh.Live));
    }

    public enum Then
    {
        Confirmed,
        Denied,
        NoneForASecond,
        Released,
    }

    /// <summary>
    /// No guest can give way, so the question waits for a descriptor, for as long as it would wait for an answer. If nobody needs the link any more, that wait ends too.
    /// </summary>
    [Theory, InlineData(Then.Confirmed), InlineData(Then.Denied), InlineData(Then.NoneForASecond), InlineData(Then.Released)]
    public void What_a_guest_sends_waits_while_there_is_no_descriptor_to_ask_who_it_is(Then then)
    {
        var node = new ScriptedNode();
        var guest = node.Come(Meant, There, 5);
        node.Port.Descriptors = 1;
        int peer = node.Mesh.Open(new(There), Meant);
        node.Mesh.Hold(peer);
        node.Send(peer, 7);
        guest.Say(ScriptedNode.Frames(0, 1));
        node.Turn();
        node.Pass(500 * Millisecond);
        Assert.Empty(node.Got);
        Assert.Empty(guest.Numbers);
        Assert.False(node.Mesh.IsSettled(peer));
        if (then == Then.Released) node.Mesh.Release(peer);
        if (then is Then.Confirmed or Then.Denied)
        {
            node.Port.Descriptors = 2;
            node.Pass(20 * Millisecond);
            node.Answers(node.Dials(There), then == Then.Confirmed ? HelloStatus.Accepted : HelloStatus.Forgotten, Meant);
        }
        else
        {
            for (int i = 0; i < 60; i++) node.Pass(10 * Millisecond);
        }
        Assert.Equal(then == Then.Denied ? [] : [(peer, 1U)], node.Got);
        Assert.Equal(then == Then.Denied ? [] : [7U], guest.Numbers);
        Assert.Equal(then != Then.Denied, node.Mesh.IsSettled(peer));
        Assert.Equal(then == Then.Confirmed, node.Mesh.IsConfirmed(peer));
    }

    /// <summary>A guest that was once believed, because no answer came or no descriptor was free, is served while it is asked again.</summary>
    [Fact]
    public void A_guest_that_was_believed_is_served_while_there_is_no_descriptor_for_the_next_question()
    {
        var node = new ScriptedNode();
        var guest = node.Come(Meant, There, 5);
        int peer = node.Mesh.Open(new(There), Meant);
        node.Dials(There, DialResult.Refused);
        Assert.True(node.Mesh.IsSettled(peer));
        node.Port.Descriptors = 1;
        node.Pass(2 * ScriptedNode.Second);
        guest.Say(ScriptedNode.Frames(0, 1));
        node.Turn();
        Assert.Equal([(peer, 1U)], node.Got);
    }

    /// <summary>Such a guest is not believed either because nobody is at another address, where it was asked for first.</summary>
    [Fact]
    public void A_guest_that_cannot_be_asked_for_want_of_a_descriptor_is_not_believed_because_nobody_is_at_another_address()
    {
        var node = new ScriptedNode();
        var guest = node.Come(Meant, There, 5);
        node.Mesh.Open(new(Elsewhere), Meant);
        var elsewhere = node.Port.Dialled[^1];
        node.Port.Descriptors = 2;
        int peer = node.Mesh.Open(new(There), Meant);
        guest.Say(ScriptedNode.Frames(0, 1));
        node.Port.Tell(elsewhere, DialResult.Refused);
        node.Turn();
        Assert.Empty(node.Got);
        Assert.False(node.Mesh.IsSettled(peer));
        node.Pass(20 * Millisecond);
        node.Answers(node.Dials(There), HelloStatus.Forgotten, Meant);
        Assert.True(guest.IsClosed);
        Assert.Empty(node.Got);
    }

    /// <summary>As in the test above, but somebody elsewhere says that it is the node and denies the link.</summary>
    [Fact]
    public void A_link_of_which_its_node_cannot_be_asked_yet_does_not_end_because_somebody_elsewhere_denies_it()
    {
        var node = new ScriptedNode();
        var guest = node.Come(Meant, There, 5);
        node.Mesh.Open(new(Elsewhere));
        var asked = node.Dials(Elsewhere);
        node.Answers(asked, HelloStatus.Identified, Meant);
        node.Port.Descriptors = 2;
        int named = node.Mesh.Open(new(There), Meant);
        node.Answers(asked, HelloStatus.Forgotten, Meant);
        Assert.False(guest.IsClosed);
        node.Pass(20 * Millisecond);
        node.Answers(node.Dials(There), HelloStatus.Accepted, Meant);
        guest.Say(ScriptedNode.Frames(0, 1));
        node.Turn();
        Assert.Equal([(named, 1U)], node.Got);
    }
}
