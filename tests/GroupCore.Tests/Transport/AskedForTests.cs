using System.Buffers.Binary;
using GroupCore.Runtime;
using GroupCore.Transport;
using GroupCore.Transport.Mesh;
using GroupCore.Transport.Sockets;
using GroupCore.Wire;

namespace GroupCore.Tests.Transport;

/// <summary>
/// A link that this node asked for, while others come in the name of the node that is meant: what the link delivers, and whether it lasts. The steps of both ends come in orders
/// that sockets give only now and then.
/// </summary>
public sealed class AskedForTests
{
    private const string There = "127.0.0.1:5", Elsewhere = "127.0.0.1:6", Nowhere = "127.0.0.1:1";

    // Lower than the id of the node under test, so its connection is taken while that node itself dials.
    private const ulong Meant = 77;

    [Fact]
    public void A_guest_that_is_asked_about_where_it_says_it_listens_is_not_believed_because_nobody_is_at_another_address()
    {
        var node = new ScriptedNode();
        var guest = node.Come(Meant, There, 5);
        node.Mesh.Open(new(Elsewhere), Meant);
        var elsewhere = node.Port.Dialled[^1];
        int peer = node.Mesh.Open(new(There), Meant);
        guest.Say(ScriptedNode.Frames(0, 1));
        Assert.Equal(2, node.Port.Dialled.Count);
        node.Port.Tell(elsewhere, DialResult.Refused);
        node.Turn();
        Assert.Empty(node.Got);
        Assert.False(node.Mesh.IsSettled(peer));
        node.Answers(node.Dials(There), HelloStatus.Forgotten, Meant);
        Assert.True(guest.IsClosed);
        Assert.Empty(node.Got);
        Assert.Equal(0, node.Count(LinkFault.Rejected));
    }

    /// <summary>A node that registered with the address of another gets neither what is meant for the other nor the other's frames.</summary>
    [Fact]
    public void Two_nodes_that_are_asked_for_at_one_address_have_links_of_their_own()
    {
        var node = new ScriptedNode();
        node.Come(78, Elsewhere, 5);
        int other = node.Mesh.Open(new(There), 78), meant = node.Mesh.Open(new(There), Meant);
        Assert.NotEqual(other, meant);
        Assert.Equal(2, node.Port.Dialled.Count);
        var asked = node.Port.Dialled[0];
        node.Port.Tell(asked, DialResult.Connected);
        node.Answers(node.Dials(There), HelloStatus.Accepted, Meant, 9);
        node.Answers(asked, HelloStatus.Identified, Meant);
        Assert.Equal([(meant, null), (other, LinkFault.Replaced)], node.News[^2..]);
        Assert.Equal((Meant, 0UL), (node.Mesh.NodeIdOf(meant), node.Mesh.NodeIdOf(other)));
        Assert.Equal(meant, node.Mesh.Open(new(There)));
    }

    /// <summary>
    /// The link's connection is being made again. Meanwhile somebody at another address where this node asks says that it is the node, and does not know the link.
    /// </summary>
    [Fact]
    public void A_link_that_was_reached_does_not_end_because_somebody_elsewhere_says_that_it_is_the_node()
    {
        var node = new ScriptedNode();
        int named = node.Mesh.Open(new(There), Meant);
        var first = node.Dials(There);
        node.Answers(first, HelloStatus.Accepted, Meant, 9);
        first.End();
        node.Turn();
        node.Dials(There, DialResult.Refused);
        node.Mesh.Open(new(Elsewhere));
        var asked = node.Dials(Elsewhere);
        node.Answers(asked, HelloStatus.Identified, Meant);
        for (int i = 0; i < 3; i++)
        {
            node.Pass(2 * ScriptedNode.Second);
            node.Dials(There, DialResult.Refused);
        }
        node.Pass(2 * ScriptedNode.Second);
        node.Answers(node.Dials(There), HelloStatus.Accepted, Meant, 9);
        Assert.Equal((named, null), node.News[^2]);
        Assert.Equal((0, 1), (node.Count(LinkFault.Rejected), node.Mesh.Live));
    }

    /// <summary>Nobody answers at the address that was asked for, so a node that dialled in is believed there. Then somebody elsewhere says that it is the node.</summary>
    [Fact]
    public void A_link_that_was_asked_for_by_name_does_not_end_because_somebody_elsewhere_says_that_it_is_the_node()
    {
        var node = new ScriptedNode();
        int named = node.Mesh.Open(new(There), Meant);
        node.Dials(There, DialResult.Refused);
        var link = node.Come(Meant, There, 5);
        node.Dials(There, DialResult.Refused);
        link.Say(ScriptedNode.Frames(0, 1));
        node.Turn();
        Assert.Equal([(named, 1)], node.Got);
        node.Mesh.Open(new(Elsewhere));
        var asked = node.Dials(Elsewhere);
        node.Answers(asked, HelloStatus.Identified, Meant);
        node.Answers(asked, HelloStatus.Forgotten, Meant);
        Assert.False(link.IsClosed);
        Assert.Equal((0, 1), (node.Count(LinkFault.Rejected), node.Mesh.Live));
    }

    /// <summary>The node itself is being asked at its own address. What somebody elsewhere says of its link meanwhile ends nothing, at either end.</summary>
    [Fact]
    public void A_link_of_which_its_node_is_asked_does_not_end_because_somebody_elsewhere_denies_it_first()
    {
        var node = new ScriptedNode();
        var guest = node.Come(Meant, There, 5);
        node.Mesh.Open(new(Elsewhere));
        var asked = node.Dials(Elsewhere);
        node.Answers(asked, HelloStatus.Identified, Meant);
        int named = node.Mesh.Open(new(There), Meant);
        var better = node.Dials(There);
        node.Answers(asked, HelloStatus.Forgotten, Meant);
        Assert.False(guest.IsClosed);
        node.Answers(better, HelloStatus.Accepted, Meant);
        guest.Say(ScriptedNode.Frames(0, 1));
        node.Turn();
        Assert.Equal([(named, 1)], node.Got);
    }

    /// <summary>Anybody who dials in hears a name, and may dial in as often as it likes.</summary>
    [Fact]
    public void Names_of_links_do_not_follow_from_each_other()
    {
        ulong[] names = [.. Enumerable.Range(0, 2).Select(static _ => Name(new ScriptedNode().Come(Meant, There, 5)))];
        Assert.NotEqual(names[0], names[1]);
    }

    /// <summary>
    /// Somebody says that it is a node in whose name another has dialled in. It is asked whether it has that link, and learns nothing with which it could take the link.
    /// </summary>
    [Fact]
    public void A_node_that_is_asked_whether_it_is_the_other_end_of_a_link_learns_neither_ends_name_of_it()
    {
        var node = new ScriptedNode();
        var guest = node.Come(Meant, There, 5);
        guest.Say(ScriptedNode.Frames(0, 1));
        node.Mesh.Open(new(Elsewhere));
        var asked = node.Dials(Elsewhere);
        node.Answers(asked, HelloStatus.Identified, Meant);
        var question = asked.Hello;
        Assert.True(question.Probe);
        ulong[] heard = [question.Token, question.PeerToken];
        Assert.DoesNotContain(5UL, heard);
        Assert.DoesNotContain(Name(guest), heard);
        Assert.Equal(0, question.Received);
        // What it has heard is no name of the link.
        foreach (var (token, peerToken) in new[] { (question.Token, 0UL), (question.Token, question.PeerToken), (question.PeerToken, question.Token) })
            Assert.True(node.Come(Meant, There, token, peerToken).Answer is HelloStatus.Superseded or HelloStatus.Forgotten);
        Assert.False(guest.IsClosed);
    }

    /// <summary>Otherwise somebody who listened there before could come in the name of this node to whoever listens there later.</summary>
    [Fact]
    public void A_node_that_is_asked_only_who_it_is_does_not_learn_the_name_of_the_link()
    {
        var node = new ScriptedNode();
        node.Mesh.Open(new(There));
        var asked = node.Dials(There);
        ulong told = asked.Hello.Token;
        node.Answers(asked, HelloStatus.Identified, Meant);
        Assert.Equal(Meant, asked.Hello.Expected);
        Assert.NotEqual(told, asked.Hello.Token);
    }

    /// <summary>The answer to its own Hello may come behind the question: then a node knows only its own name of the link.</summary>
    [Theory, InlineData(false), InlineData(true)]
    public void A_node_that_has_a_link_says_so_even_before_it_knows_the_other_ends_name_of_it(bool answered)
    {
        var node = new ScriptedNode();
        node.Mesh.Open(new(There), Meant);
        var link = node.Dials(There);
        var other = new ScriptedNode(Meant);
        var toNode = other.Come(link.Hello);
        other.Mesh.Open(node.Mesh.Local, ScriptedNode.Id);
        var question = other.Dials(node.Mesh.Local.Text);
        Assert.True(question.Hello.Probe);
        if (answered)
        {
            link.Say(new HelloAckFrame(HelloStatus.Accepted, HelloFrame.Version, Meant, Name(toNode), 0, There).ToFrame());
            node.Turn();
            Assert.Equal(1, node.Count(null));
        }
        Assert.Equal(HelloStatus.Accepted, node.Come(question.Hello).Answer);
        // A question with less knowledge of the link is told that the link is another's.
        Assert.Equal(HelloStatus.Forgotten, node.Come(question.Hello with { Token = 5, PeerToken = 7 }).Answer);
        if (answered) Assert.Equal(HelloStatus.Forgotten, node.Come(question.Hello with { Token = 5 }).Answer);
        else Assert.Equal(HelloStatus.Forgotten, node.Come(question.Hello with { PeerToken = 0 }).Answer);
    }

    private static ulong Name(ScriptedPort.OtherEnd told) => HelloAckFrame.TryRead(told.Heard(FrameType.HelloAck)[^1], out var ack) ? ack.Token : 0;

    [Theory, InlineData(true), InlineData(false)]
    public void A_guests_link_is_settled_when_it_is_confirmed_or_no_node_is_there_that_could_confirm_it(bool answered)
    {
        var node = new ScriptedNode();
        int peer = OpenGuest(node);
        node.News.Clear();
        var asked = node.Dials(There, answered ? DialResult.Connected : DialResult.Refused);
        if (answered) node.Answers(asked, HelloStatus.Accepted, Meant);
        Assert.True(node.Mesh.IsSettled(peer));
        // Users that keep what came hear of it once, although a guest whom nobody confirmed is asked about again.
        Assert.Equal([(peer, null)], node.News);
        node.Pass(2 * ScriptedNode.Second);
        Assert.Single(node.News);
    }

    [Theory, InlineData(false), InlineData(true)]
    public void A_guests_link_ends_without_being_settled_when_the_node_that_it_names_denies_it(bool gone)
    {
        var node = new ScriptedNode();
        int peer = OpenGuest(node, gone);
        node.Answers(node.Dials(There), HelloStatus.Forgotten, Meant);
        Assert.False(node.Mesh.IsSettled(peer));
        Assert.Equal((peer, LinkFault.Rejected), node.News[^1]);
    }

    // A guest that dialled in and sent a frame before it was asked for.
    private static int OpenGuest(ScriptedNode node, bool gone = false)
    {
        var guest = node.Come(Meant, There, 5);
        guest.Say(ScriptedNode.Frames(0, 1));
        if (gone) guest.End();
        node.Turn();
        int peer = node.Mesh.Open(new(There), Meant);
        node.Turn();
        Assert.Equal([(peer, 1)], node.Got);
        Assert.False(node.Mesh.IsSettled(peer));
        return peer;
    }

    /// <summary>The stranger's frames are not delivered before it is known who listens at the address: once they were delivered, the link would have to end.</summary>
    [Fact]
    public void A_link_that_was_asked_for_outlives_a_stranger_that_says_something_while_it_is_asked_about()
    {
        var node = new ScriptedNode();
        int named = node.Mesh.Open(new(There), Meant);
        node.Dials(There);
        var stranger = node.Come(Meant, There, 5);
        Assert.Equal(HelloStatus.Accepted, stranger.Answer);
        stranger.Say(ScriptedNode.Frames(0, 1, 2));
        var question = node.Dials(There);
        Assert.Empty(node.Got);
        node.Answers(question, HelloStatus.Forgotten, Meant);
        Assert.True(stranger.IsClosed);
        var link = node.Dials(There);
        node.Answers(link, HelloStatus.Accepted, Meant, 9);
        link.Say(ScriptedNode.Frames(0, 3));
        node.Turn();
        Assert.Equal([(named, 3)], node.Got);
        Assert.Equal(0, node.Count(LinkFault.Rejected));
    }

    /// <summary>The guest is confirmed, or nobody is there to say: what came meanwhile is delivered in order, and so is what comes behind it.</summary>
    [Theory, InlineData(true), InlineData(false)]
    public void What_comes_while_it_is_asked_who_came_is_delivered_when_that_is_known(bool confirmed)
    {
        var node = new ScriptedNode();
        int named = node.Mesh.Open(new(There), Meant);
        node.Dials(There);
        var link = node.Come(Meant, There, 5);
        var sent = ScriptedNode.Frames(0, 1, 2, 3);
        // The last frame comes in two parts.
        link.Say(sent[..^5]);
        var question = node.Dials(There);
        Assert.Empty(node.Got);
        link.Say(sent[^5..]);
        node.Turn();
        if (confirmed) node.Answers(question, HelloStatus.Accepted, Meant);
        else node.Pass(ScriptedNode.Second);
        Assert.Equal([(named, 1), (named, 2), (named, 3)], node.Got);
        link.Say(ScriptedNode.Frames(3 * FrameHeader.Size, 4));
        node.Turn();
        Assert.Equal(4, node.Got.Count);
        Assert.False(link.IsClosed);
        Assert.Equal(confirmed, node.Mesh.IsConfirmed(named));
    }

    /// <summary>The guest says something and ends its connection before it is known who it was: nothing of it is lost.</summary>
    [Fact]
    public void What_came_before_a_connection_ended_is_delivered_when_it_is_known_who_came()
    {
        var node = new ScriptedNode();
        int named = node.Mesh.Open(new(There), Meant);
        node.Dials(There);
        var link = node.Come(Meant, There, 5);
        link.Say(ScriptedNode.Frames(0, 1));
        link.End();
        var question = node.Dials(There);
        Assert.Empty(node.Got);
        node.Answers(question, HelloStatus.Accepted, Meant);
        Assert.Equal([(named, 1)], node.Got);
        Assert.Equal((named, LinkFault.Reset), node.News[^1]);
    }

    /// <summary>A node that stops no longer asks who came, whether its link had a guest before or gets its first one now.</summary>
    [Theory, InlineData(false), InlineData(true)]
    public void What_waits_for_a_node_is_not_sent_to_one_that_comes_in_its_name_while_this_one_stops(bool before)
    {
        var node = new ScriptedNode();
        if (before) node.Come(Meant, There, 5).End();
        node.Turn();
        int named = node.Mesh.Open(new(There), Meant);
        node.Send(named, 1);
        var dial = node.Dials(There);
        node.Mesh.BeginStop();
        var stranger = node.Come(Meant, There, 5);
        Assert.Equal(HelloStatus.Full, stranger.Answer);
        Assert.Empty(stranger.Numbers);
        if (!before) node.Answers(dial, HelloStatus.Accepted, Meant, 9);
        Assert.Equal(before ? [] : [1U], dial.Numbers);
    }

    /// <summary>A guest's frame makes this node ask for the guest: the frames behind it belong to the link that was asked for.</summary>
    [Fact]
    public void What_a_guest_has_sent_behind_the_frame_for_which_it_is_asked_for_waits_too()
    {
        var node = new ScriptedNode();
        bool delivered = false;
        node.OnData = (_, number) =>
        {
            if (number == 2) node.Mesh.Open(new(There), Meant);
        };
        var guest = node.Come(Meant, There, 5);
        guest.Say(ScriptedNode.Frames(0, 1, 2, 3, 4));
        node.Turn();
        Assert.Equal(2, node.Got.Count);
        // A poll that delivers frames must count as work, since the end of the turn follows it.
        node.OnData = (_, _) => delivered = true;
        node.AfterPoll = work =>
        {
            Assert.True(work > 0 || !delivered);
            delivered = false;
        };
        node.Answers(node.Dials(There), HelloStatus.Accepted, Meant);
        Assert.Equal([1U, 2U, 3U, 4U], node.Got.Select(got => got.Number));
    }

    /// <summary>The first write to a guest after its confirmation leaves before the waiting frames are delivered, and must acknowledge only what was delivered before.</summary>
    [Fact]
    public void Frames_that_wait_until_it_is_known_who_came_are_acknowledged_when_they_are_delivered()
    {
        var node = new ScriptedNode();
        node.OnData = (peer, number) =>
        {
            if (number != 2) return;
            node.Mesh.Open(new(There), Meant);
            node.Send(peer, 5);
        };
        var guest = node.Come(Meant, There, 5);
        guest.Say(ScriptedNode.Frames(0, 1, 2, 3, 4));
        node.Turn();
        node.Pass(LinkSession.AckDelay);
        Assert.Empty(Acknowledged());
        node.Answers(node.Dials(There), HelloStatus.Accepted, Meant);
        node.Pass(LinkSession.AckDelay);
        Assert.Equal([2L * FrameHeader.Size, 4L * FrameHeader.Size], Acknowledged());

        long[] Acknowledged() => [.. guest.Heard(FrameType.Segment).Select(static body => BinaryPrimitives.ReadInt64LittleEndian(body.AsSpan(8)))];
    }

    /// <summary>A node that only dials in, and in whose name others have sent frames that nobody can read.</summary>
    [Fact]
    public void A_joiner_whose_name_a_stranger_has_brought_into_disrepute_is_heard()
    {
        const int most = 3;
        var node = new ScriptedNode(mostMalformed: most);
        var stranger = node.Come(Meant, Nowhere, 5);
        stranger.Say(ScriptedNode.Frames(0));
        for (int i = 0; i <= most; i++) stranger.Say(Unknown());
        node.Turn();
        Assert.True(stranger.IsClosed);
        Assert.Equal(1, node.Node.Counters.Refused(RefusalReason.Muted));
        var joiner = node.Come(Meant, There, 7);
        Assert.Equal(HelloStatus.Accepted, joiner.Answer);
        joiner.Say(ScriptedNode.Frames(0, 1));
        node.Turn();
        Assert.Equal([1U], node.Got.Select(got => got.Number));
        // If such frames in its name go on, it is not heard again.
        joiner.Say(Unknown());
        node.Turn();
        Assert.True(joiner.IsClosed);
        Assert.Equal(2, node.Node.Counters.Refused(RefusalReason.Muted));
    }

    [Theory]
    [InlineData(RefusalReason.UnknownType), InlineData(RefusalReason.Malformed), InlineData(RefusalReason.NotEntitled)]
    public void G10_7_a_node_that_is_known_to_send_malformed_or_forbidden_frames_is_neither_heard_nor_dialled_for_a_minute(RefusalReason reason)
    {
        const int most = 3;
        var node = new ScriptedNode(mostMalformed: most, takesData: reason == RefusalReason.UnknownType);
        if (reason != RefusalReason.UnknownType) node.Node.Route(FrameType.Data, FrameType.Data, new Refuser(node.Node, reason));
        int named = node.Mesh.Open(new(There), Meant);
        var link = node.Dials(There);
        node.Answers(link, HelloStatus.Accepted, Meant, 9);
        link.Say(ScriptedNode.Frames(0));
        for (int i = 0; i <= most; i++) link.Say(reason == RefusalReason.UnknownType ? Unknown() : Frame(FrameType.Data));
        node.Turn();
        Assert.Equal((named, LinkFault.Rejected), node.News[^1]);
        Assert.Equal(HelloStatus.Full, node.Come(Meant, Nowhere, 5).Answer);
        int dials = node.Port.Dialled.Count;
        node.Mesh.Open(new(There), Meant);
        node.Pass(59 * ScriptedNode.Second);
        Assert.Equal(dials, node.Port.Dialled.Count);
        node.Pass(3 * ScriptedNode.Second);
        node.Answers(node.Dials(There), HelloStatus.Accepted, Meant, 10);
        Assert.Equal(HelloStatus.Superseded, node.Come(Meant, Nowhere, 7).Answer);
    }

    /// <summary>What waits for a stranger does not count for the node. So a vouch that ends gives room to other links, even if nothing else happens.</summary>
    [Fact]
    public void F21_links_that_wait_for_the_node_go_on_when_the_vouch_for_another_has_ended()
    {
        var node = new ScriptedNode(mostQueuedBytes: 1 << 20);
        int waiting = node.Mesh.Open(new(There), Meant);
        node.Answers(node.Dials(There), HelloStatus.Accepted, Meant, 9);
        // The guest is there and takes nothing, so what is sent to it waits.
        var end = node.Come(78, Nowhere, 1);
        int guest = node.News[^1].Peer;
        long said = 0;
        node.Mesh.Vouch(guest);
        for (uint i = 0; i < 3; i++) node.Send(guest, i, 500_000);
        Assert.Equal(0, node.Mesh.Room(waiting));
        Pass(50);
        Assert.Empty(node.Rooms);
        node.Mesh.Vouch(guest);
        Pass(50);
        Assert.Empty(node.Rooms);
        Pass(70);
        Assert.Equal([waiting], node.Rooms);
        Assert.True(node.Mesh.Room(waiting) > 0);

        void Pass(int seconds)
        {
            for (int i = 0; i < seconds; i++, said += FrameHeader.Size)
            {
                if (!end.IsClosed) end.Say(ScriptedNode.Frames(said, (uint)i));
                node.Pass(ScriptedNode.Second);
            }
        }
    }

    private static byte[] Unknown() => Frame((FrameType)15);

    private static byte[] Frame(FrameType type)
    {
        var frame = new byte[FrameHeader.Size];
        FrameHeader.Write(frame, type, 0, 0, 0);
        return frame;
    }

    /// <summary>Refuses each frame.</summary>
    private sealed class Refuser(Node node, RefusalReason reason) : IFrameHandler
    {
        public void OnFrame(int peer, in FrameHeader header, ReadOnlySpan<byte> body) => node.Counters.Refuse(reason);
    }

    /// <summary>A node that no longer needs a link that it asked for leaves it to the other end. It dials the link no more, and the link counts as a guest's.</summary>
    [Fact]
    public void A_link_that_nobody_holds_any_more_is_a_guest_s_until_it_is_asked_for_again()
    {
        var node = new ScriptedNode();
        int peer = node.Mesh.Open(new(There), Meant);
        node.Mesh.Hold(peer);
        node.Mesh.Hold(peer);
        var link = node.Dials(There);
        node.Answers(link, HelloStatus.Accepted, Meant, 9);
        node.Mesh.Release(peer);
        link.End();
        node.Turn();
        // The second holder still holds it.
        link = node.Dials(There);
        node.Answers(link, HelloStatus.Accepted, Meant, 9);
        node.Mesh.Release(peer);
        node.Pass(ScriptedNode.Second);
        link.End();
        node.Turn();
        // One dial asks whether the other end has closed it.
        node.Dials(There, DialResult.Refused);
        int dialled = node.Port.Dialled.Count;
        node.Pass(59 * ScriptedNode.Second);
        Assert.Equal((dialled, 0), (node.Port.Dialled.Count, node.Count(LinkFault.Rejected)));
        Assert.Equal(peer, node.Mesh.Open(new(There), Meant));
        link = node.Dials(There);
        node.Answers(link, HelloStatus.Accepted, Meant, 9);
        node.Mesh.Hold(peer);
        node.Mesh.Release(peer);
        node.Pass(ScriptedNode.Second);
        link.End();
        node.Turn();
        node.Dials(There, DialResult.Refused);
        node.Pass(61 * ScriptedNode.Second);
        Assert.Equal((peer, LinkFault.Rejected), node.News[^1]);
        Assert.Equal(0, node.Mesh.Live);
    }

    /// <summary>
    /// For a minute after its release a link gives way to none, and may have as much queued as before. After that all such links together have the places of guests.
    /// </summary>
    [Fact]
    public void Links_that_nobody_holds_any_more_have_the_places_of_guests()
    {
        const int places = 8;
        var node = new ScriptedNode(mostGuests: places);
        for (ulong i = 0; i < 3 * places; i++)
        {
            string address = $"127.0.0.1:{1_000 + i}";
            int peer = node.Mesh.Open(new(address), Meant + i);
            node.Mesh.Hold(peer);
            node.Answers(node.Dials(address), HelloStatus.Accepted, Meant + i, 9);
            node.Mesh.Release(peer);
            node.Turn();
        }
        Assert.Equal((3 * places, 0), (node.Mesh.Live, node.Count(LinkFault.Rejected)));
        Assert.Equal(HelloStatus.Full, node.Come(500, Nowhere, 1).Answer);
        node.Send(0, 1, 100_000);
        node.Turn();
        Assert.Equal(0, node.Count(LinkFault.Overflow));
        node.Pass(61 * ScriptedNode.Second);
        // The link for which too much waits by then is not displaced: it ends.
        Assert.Equal((places, (2 * places) - 1, 1), (node.Mesh.Live, node.Count(LinkFault.Rejected), node.Count(LinkFault.Overflow)));
        node.Come(500, Nowhere, 1);
        Assert.Equal(places, node.Mesh.Live);
        Assert.Equal(2 * places, node.Node.Counters.Refused(RefusalReason.Displaced));
    }
}
