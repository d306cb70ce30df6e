using System.Net;
using System.Net.Sockets;
using GroupCore.Hosting;
using GroupCore.Runtime;
using GroupCore.Transport;
using GroupCore.Transport.Mesh;
using GroupCore.Wire;
using Ida.Tests.Shared;

namespace GroupCore.Tests.Transport;

/// <summary>
/// A stranger has learned the id of a node, and says hello in its name where that node is not connected. If this node asks for the true one at its address, it gets it: what
/// listens there says which of the two it is.
/// </summary>
public sealed class NameTests
{
    private const string Nowhere = "127.0.0.1:1";

    public static TheoryData<string> Ports => TcpMeshTests.Ports;

    public static TheoryData<string, bool> PortsAndDiallers => [.. Ports.SelectMany(static port => new[] { (port.Data, false), (port.Data, true) })];

    /// <summary>As with a seed: only its address is known.</summary>
    [Theory, MemberData(nameof(Ports))]
    public async Task A_node_that_is_asked_for_by_address_gets_its_frames_whoever_took_its_name_before(string port)
    {
        await using var a = new TestNode(Kind(port));
        await using var b = new TestNode(Kind(port));
        int stolen = 0;
        using var stranger = new RawPeer("test", a.Node.Id, Nowhere, 1, (_, _) => stolen++);
        Assert.Equal(HelloStatus.Accepted, stranger.Connect(b.Address));
        int guest = await b.Saw(null), seed = await b.Open(a.Address);
        await b.Send(seed, 0, 100);
        await a.Until(() => a.Got == 1, "no frame at a");
        await b.Saw(LinkFault.Rejected, guest);
        Assert.True(stranger.WaitForEnd(60_000));
        Assert.Equal(0, stolen);
        Assert.Equal(a.Node.Id, await b.Do(node => node.Links.NodeIdOf(seed)));
        await b.Until(() => b.Do(node => ((TcpMesh)node.Links).Live).Result == 1, "two links at b");
    }

    /// <summary>As with a process that the Oracle names: the stranger says that it listens elsewhere.</summary>
    [Theory, MemberData(nameof(Ports))]
    public async Task A_node_that_is_asked_for_by_name_and_address_gets_its_frames_and_a_stranger_elsewhere_gets_none(string port)
    {
        await using var a = new TestNode(Kind(port));
        await using var b = new TestNode(Kind(port));
        int stolen = 0;
        using var stranger = new RawPeer("test", a.Node.Id, Nowhere, 1, (_, _) => stolen++);
        Assert.Equal(HelloStatus.Accepted, stranger.Connect(b.Address));
        int guest = await b.Saw(null), named = await b.Open(a.Address, a.Node.Id);
        Assert.NotEqual(guest, named);
        await b.Send(named, 0, 100);
        await a.Until(() => a.Got == 1, "no frame at a");
        Assert.True(stranger.WaitForEnd(60_000));
        Assert.Equal(0, stolen);
        Assert.True(b.Refused(RefusalReason.WrongSender) > 0);
    }

    /// <summary>The stranger names the node's own address: what is sent waits until whoever listens there has said whether it knows the link.</summary>
    [Theory, MemberData(nameof(Ports))]
    public async Task A_stranger_that_took_name_and_address_of_a_node_gets_nothing_and_the_node_is_reached_when_it_is_asked_for(string port)
    {
        await using var a = new TestNode(Kind(port));
        await using var b = new TestNode(Kind(port));
        int stolen = 0;
        using var stranger = new RawPeer("test", a.Node.Id, a.Address.Text, 1, (_, _) => stolen++);
        Assert.Equal(HelloStatus.Accepted, stranger.Connect(b.Address));
        await b.Saw(null);
        int named = -1;
        await b.Do(node => TestNode.Write(node, [named = node.Links.Open(a.Address, a.Node.Id)], 0, 100));
        await a.Until(() => a.Got == 1, "no frame at a");
        Assert.True(stranger.WaitForEnd(60_000));
        Assert.Equal(0, stolen);
        Assert.Equal(0, b.Faults(LinkFault.Rejected));
        Assert.True(b.Refused(RefusalReason.WrongSender) > 0);
    }

    /// <summary>A link needs both ends' names of it: a stranger that has spoken with each node in the name of the other knows only one name of each link.</summary>
    [Theory, MemberData(nameof(Ports))]
    public async Task A_stranger_between_two_nodes_that_learns_what_each_calls_its_link_gets_nothing(string port)
    {
        await using var a = new TestNode(Kind(port));
        await using var b = new TestNode(Kind(port));
        using var toA = new TokenPeer(a.Node.Id, b.Node.Id, 5);
        ulong known = toA.Greet(a.Address);
        int stolen = 0;
        using var stranger = new RawPeer("test", a.Node.Id, a.Address.Text, known, (_, _) => stolen++);
        Assert.Equal(HelloStatus.Accepted, stranger.Connect(b.Address));
        await b.Saw(null);
        int named = -1;
        await b.Do(node => TestNode.Write(node, [named = node.Links.Open(a.Address, a.Node.Id)], 0, 100));
        Assert.True(stranger.WaitForEnd(60_000));
        Assert.Equal(0, stolen);
        // From here on nobody is connected to the node in this one's name.
        toA.Dispose();
        await a.Until(() => a.Got == 1, "no frame at a");
        Assert.Equal(0, b.Faults(LinkFault.Rejected));
    }

    /// <summary>A stranger listens at an address that is asked for, says that it is a node that has dialled in, and takes the question that it gets to that node.</summary>
    [Theory, MemberData(nameof(Ports))]
    public async Task A_stranger_that_is_asked_about_the_link_of_two_nodes_cannot_take_it(string port)
    {
        using var fake = new TcpListener(IPAddress.Loopback, 0);
        fake.Start();
        await using var a = new TestNode(Kind(port));
        await using var b = new TestNode(Kind(port));
        int there = await b.Open(a.Address);
        int back = await a.Saw(null);
        await b.Saw(null, there);
        await a.Open(EndPointText.Format((IPEndPoint)fake.LocalEndpoint));
        using var asked = await fake.AcceptSocketAsync().WaitAsync(TestNode.Patience);
        Hear(asked);
        asked.Send(new HelloAckFrame(HelloStatus.Identified, HelloFrame.Version, b.Node.Id, 0, 0, Nowhere).ToFrame());
        var question = Hear(asked);
        Assert.Equal((true, b.Node.Id), (question.Probe, question.Expected));
        using var thief = new RawPeer("test", a.Node.Id, Nowhere, question.Token, peerToken: question.PeerToken);
        Assert.NotEqual(HelloStatus.Accepted, thief.Connect(b.Address, b.Node.Id));
        await b.Send(there, 0, 100);
        await a.Send(back, 0, 100);
        await a.Until(() => a.Got == 1 && b.Got == 1, "frames missing");

        static HelloFrame Hear(Socket from)
        {
            var said = new byte[LinkLimits.HelloBytes];
            int got = 0;
            FrameHeader header;
            while (!FrameHeader.TryRead(said.AsSpan(0, got), out header) || got < header.FrameLength) got += from.Receive(said.AsSpan(got));
            Assert.True(HelloFrame.TryRead(said.AsSpan(FrameHeader.Size, header.BodyLength), out var hello));
            return hello;
        }
    }

    /// <summary>The node is not reached yet. A stranger that comes in its name says that it has received something, which no end of this link can say.</summary>
    [Theory, MemberData(nameof(Ports))]
    public async Task A_link_that_was_asked_for_outlives_a_stranger_that_says_it_has_received_of_it(string port)
    {
        using var proxy = new BreakingProxy();
        proxy.Target = new(Nowhere);
        await using var a = new TestNode(Kind(port));
        await using var b = new TestNode(Kind(port));
        int named = await b.Open(proxy.Address, a.Node.Id);
        await b.Send(named, 0, 100);
        await b.Saw(LinkFault.Unreachable, named);
        HelloStatus status;
        do
        {
            using var stranger = new TokenPeer(b.Node.Id, a.Node.Id, 5, proxy.Address.Text, received: 1);
            status = stranger.Say(b.Address).Status;
        }
        while (status == HelloStatus.Superseded);
        Assert.Equal(HelloStatus.Forgotten, status);
        proxy.Target = a.Address;
        await a.Until(() => a.Got == 1, "no frame at a");
        Assert.Equal(0, b.Faults(LinkFault.Rejected));
        Assert.Equal(a.Node.Id, await b.Do(node => node.Links.NodeIdOf(named)));
    }

    /// <summary>A stranger comes while the wanted node is being dialled, and after it another one that is refused: the dial goes on.</summary>
    [Theory, MemberData(nameof(Ports))]
    public async Task A_link_that_was_asked_for_is_dialled_again_when_a_stranger_that_stopped_its_dial_is_refused(string port)
    {
        using var late = new TcpListener(IPAddress.Loopback, 0);
        late.Start();
        var asked = EndPointText.Format((IPEndPoint)late.LocalEndpoint);
        await using var b = new TestNode(Kind(port));
        int named = await b.Open(asked, 77);
        using (await Dialled())
        using (var stranger = new TokenPeer(b.Node.Id, 77, 5, asked.Text)) stranger.Greet(b.Address);
        await b.Saw(LinkFault.Reset, named);
        // The question whether that was it, and the next dial: nobody answers either.
        using var question = await Dialled();
        using var again = await Dialled();
        using var other = new TokenPeer(b.Node.Id, 77, 7, asked.Text, received: 1);
        Assert.Equal(HelloStatus.Forgotten, other.Say(b.Address).Status);
        using var anew = await Dialled();

        Task<Socket> Dialled() => late.AcceptSocketAsync().WaitAsync(TestNode.Patience);
    }

    /// <summary>A node closes its link and opens another. This node has asked for it and sent nothing, and nobody confirms either link.</summary>
    [Theory, MemberData(nameof(Ports))]
    public async Task What_two_links_of_a_node_deliver_does_not_come_under_one_number_without_a_word(string port)
    {
        await using var a = new TestNode(Kind(port));
        await using var x = new TestNode(Kind(port), advertise: Nowhere);
        var from = new List<int>();
        a.OnData = (peer, _, _) => from.Add(peer);
        int first = await x.Open(a.Address);
        int back = await a.Saw(null);
        await x.Send(first, 0, 100);
        await a.Until(() => a.Got == 1, "no frame at a");
        Assert.Equal(back, await a.Open(new(Nowhere), x.Node.Id));
        await x.Do(node => node.Links.Close(first));
        await x.Send(await x.Open(a.Address), 1, 100);
        await a.Until(() => a.Got == 2, "no frame at a");
        Assert.Equal(1, a.Faults(LinkFault.Rejected));
        Assert.NotEqual(back, await a.Do(_ => from[1]));
    }

    /// <summary>The stranger comes, says nothing and goes. Then this node reaches the other, or the other reaches this node.</summary>
    [Theory, MemberData(nameof(PortsAndDiallers))]
    public async Task A_link_that_was_asked_for_outlives_a_stranger_that_had_it_for_a_moment(string port, bool comesItself)
    {
        using var proxy = new BreakingProxy();
        proxy.Target = new(Nowhere);
        await using var a = new TestNode(Kind(port));
        await using var b = new TestNode(Kind(port));
        int named = await b.Open(proxy.Address, a.Node.Id);
        await b.Saw(LinkFault.Unreachable, named);
        using (var stranger = new RawPeer("test", a.Node.Id, proxy.Address.Text, 5))
        {
            await b.Until(() => stranger.Connect(b.Address, b.Node.Id) == HelloStatus.Accepted, "always refused");
        }
        await b.Saw(LinkFault.Reset, named);
        await b.Send(named, 0, 100);
        if (comesItself) await a.Open(b.Address, b.Node.Id);
        else proxy.Target = a.Address;
        await a.Until(() => a.Got == 1, "no frame at a");
        int back = await a.Do(node => node.Links.Open(b.Address, b.Node.Id));
        await a.Send(back, 0, 100);
        await b.Until(() => b.Got == 1, "no frame at b");
        foreach (var node in new[] { a, b }) Assert.Equal(0, node.Faults(LinkFault.Rejected));
        Assert.Equal(1, await b.Do(node => ((TcpMesh)node.Links).Live));
    }

    [Theory, MemberData(nameof(Ports))]
    public async Task A_node_that_dialled_in_and_is_asked_for_keeps_its_link(string port)
    {
        await using var a = new TestNode(Kind(port));
        await using var b = new TestNode(Kind(port));
        int peer = await a.Open(b.Address);
        int back = await b.Saw(null);
        await a.Send(peer, 0, 100);
        await b.Until(() => b.Got == 1, "no frame at b");
        Assert.Equal(back, await b.Open(a.Address, a.Node.Id));
        for (uint i = 0; i < 100; i++) await b.Send(back, i, 10_000);
        await a.Until(() => a.Got == 100, "frames missing at a");
        Assert.Equal(1, await b.Do(node => ((TcpMesh)node.Links).Live));
        Assert.Equal(0, b.Refused(RefusalReason.WrongSender));
    }

    /// <summary>The node has two addresses, for example behind a proxy or when it listens on all interfaces: others name another one than it does itself.</summary>
    [Theory, MemberData(nameof(Ports))]
    public async Task A_node_that_dialled_in_and_is_asked_for_at_another_address_of_its_own_keeps_its_link(string port)
    {
        using var proxy = new BreakingProxy();
        await using var a = new TestNode(Kind(port));
        await using var b = new TestNode(Kind(port));
        proxy.Target = a.Address;
        int peer = await a.Open(b.Address);
        int back = await b.Saw(null);
        int named = await b.Open(proxy.Address, a.Node.Id);
        await b.Send(named, 0, 100);
        await b.Send(back, 0, 100);
        await a.Until(() => a.Got == 2, "frames missing at a");
        await a.Send(peer, 0, 100);
        await b.Until(() => b.Got == 1, "no frame at b");
        Assert.Equal(1, await b.Do(node => ((TcpMesh)node.Links).Live));
        foreach (var node in new[] { a, b }) Assert.Equal((0, 0), (node.Faults(LinkFault.Rejected), node.Faults(LinkFault.Replaced)));
        Assert.Equal(0, b.Refused(RefusalReason.WrongSender));
        // The node is dialled where it was asked for.
        proxy.BreakAll();
        await b.Send(named, 0, 100);
        await a.Until(() => a.Got == 3, "no frame at a");
    }

    /// <summary>The address that others name leads nowhere from here. Nobody denies that the node that dialled in is the one that is meant.</summary>
    [Theory, MemberData(nameof(Ports))]
    public async Task A_node_that_dialled_in_and_is_asked_for_where_nobody_listens_keeps_its_link(string port)
    {
        await using var a = new TestNode(Kind(port));
        await using var b = new TestNode(Kind(port));
        await a.Open(b.Address);
        int back = await b.Saw(null), named = await b.Open(new(Nowhere), a.Node.Id);
        await b.Saw(null, named);
        await b.Send(named, 0, 100);
        await b.Send(back, 0, 100);
        await a.Until(() => a.Got == 2, "frames missing at a");
        Assert.Equal(0, a.Faults(LinkFault.Rejected));
    }

    /// <summary>Whoever is there takes nobody in just now and does not say who it is; later it may.</summary>
    [Theory, MemberData(nameof(Ports))]
    public async Task A_guest_is_not_believed_when_the_answer_at_its_address_does_not_say_who_is_there(string port)
    {
        using var full = Answering(HelloStatus.Full);
        await using var b = new TestNode(Kind(port));
        using var stranger = new RawPeer("test", 77, Nowhere, 1);
        Assert.Equal(HelloStatus.Accepted, stranger.Connect(b.Address));
        await b.Saw(null);
        int named = await b.Open(EndPointText.Format((IPEndPoint)full.LocalEndpoint), 77);
        await b.Until(() => b.Faults(LinkFault.Unreachable) > 0 || b.Do(node => node.Links.NodeIdOf(named)).Result != 0, "not dialled");
        Assert.Equal(0UL, await b.Do(node => node.Links.NodeIdOf(named)));
    }

    /// <summary>Another node listens there, and must not get the frames for the node that was named.</summary>
    [Theory, MemberData(nameof(Ports))]
    public async Task A_node_that_dialled_in_and_is_asked_for_where_another_listens_is_not_mixed_up_with_it(string port)
    {
        await using var a = new TestNode(Kind(port));
        await using var b = new TestNode(Kind(port));
        await using var c = new TestNode(Kind(port));
        await a.Open(b.Address);
        int back = await b.Saw(null), named = await b.Open(c.Address, a.Node.Id);
        await b.Saw(LinkFault.Replaced, named);
        await b.Send(back, 0, 100);
        await a.Until(() => a.Got == 1, "no frame at a");
        Assert.Equal(0, c.Got);
    }

    /// <summary>The node cannot be asked, because a proxy is cut or because it only dials. Its own connection serves.</summary>
    [Theory, MemberData(nameof(Ports))]
    public async Task A_node_that_dialled_in_and_cannot_be_reached_where_it_listens_keeps_its_link(string port)
    {
        await using var a = new TestNode(Kind(port), advertise: Nowhere);
        await using var b = new TestNode(Kind(port));
        await a.Open(b.Address);
        int back = await b.Saw(null);
        Assert.Equal(back, await b.Open(new(Nowhere), a.Node.Id));
        await b.Send(back, 0, 100);
        await a.Until(() => a.Got == 1, "no frame at a");
    }

    [Theory, MemberData(nameof(Ports))]
    public async Task The_name_of_a_node_that_was_reached_at_its_address_is_not_taken_while_its_connection_is_made_again(string port)
    {
        using var proxy = new BreakingProxy();
        await using var a = new TestNode(Kind(port));
        await using var b = new TestNode(Kind(port));
        proxy.Target = b.Address;
        int peer = await a.Open(proxy.Address);
        await a.Saw(null, peer);
        // Nobody answers for a while: the link waits for its connection.
        proxy.Target = new(Nowhere);
        proxy.BreakAll();
        await a.Saw(LinkFault.Reset, peer);
        await a.Send(peer, 0, 100);
        for (ulong token = 1; token < 10; token++)
        {
            using var stranger = new RawPeer("test", b.Node.Id, token % 2 == 0 ? Nowhere : proxy.Address.Text, token);
            Assert.Equal(HelloStatus.Superseded, stranger.Connect(a.Address));
        }
        proxy.Target = b.Address;
        await b.Until(() => b.Got == 1, "the link does not resume");
        Assert.Equal(9, a.Refused(RefusalReason.WrongSender));
    }

    /// <summary>
    /// The node has closed the link, and starts anew before this one can reach it again. It must not be kept out for as long as the membership waits for nodes that are cut off.
    /// </summary>
    [Theory, MemberData(nameof(Ports))]
    public async Task A_node_that_starts_anew_is_taken_once_nobody_has_answered_at_its_address_for_some_seconds(string port)
    {
        using var proxy = new BreakingProxy();
        await using var a = new TestNode(Kind(port));
        await using var b = new TestNode(Kind(port));
        proxy.Target = b.Address;
        int peer = await a.Open(proxy.Address);
        await a.Saw(null, peer);
        proxy.Target = new(Nowhere);
        proxy.BreakAll();
        await a.Saw(LinkFault.Reset, peer);
        using var early = new RawPeer("test", b.Node.Id, proxy.Address.Text, 1);
        Assert.Equal(HelloStatus.Superseded, early.Connect(a.Address));
        // The first dials fail within a third of a second, the later ones at most one in 750 ms.
        await a.Until(() => a.Faults(LinkFault.Unreachable) >= 11, "not dialled");
        using var late = new RawPeer("test", b.Node.Id, proxy.Address.Text, 2);
        Assert.Equal(HelloStatus.Accepted, late.Connect(a.Address));
        await a.Saw(LinkFault.Rejected, peer);
        int anew = await a.Saw(null);
        Assert.Equal(b.Node.Id, await a.Do(node => node.Links.NodeIdOf(anew)));
        // The new link only says who it is; nobody has confirmed it.
        Assert.False(await a.Do(node => node.Links.IsConfirmed(anew)));
    }

    /// <summary>
    /// Two nodes ask for each other, each under an address that is not the one the other says it listens at, as behind a proxy. The first dials of both fail: then each knows the
    /// other by name and has no connection to it.
    /// </summary>
    [Theory, MemberData(nameof(Ports))]
    public async Task Two_nodes_that_ask_for_each_other_under_other_addresses_than_their_own_come_together(string port)
    {
        using var toA = new BreakingProxy();
        using var toB = new BreakingProxy();
        toA.Target = toB.Target = new(Nowhere);
        await using var a = new TestNode(Kind(port));
        await using var b = new TestNode(Kind(port));
        int there = await a.Open(toB.Address, b.Node.Id), here = await b.Open(toA.Address, a.Node.Id);
        await a.Saw(LinkFault.Unreachable, there);
        await b.Saw(LinkFault.Unreachable, here);
        (toA.Target, toB.Target) = (a.Address, b.Address);
        await a.Saw(null, there);
        await b.Saw(null, here);
        await a.Send(there, 0, 100);
        await b.Send(here, 0, 100);
        await a.Until(() => a.Got == 1 && b.Got == 1, "frames missing");
        Assert.Equal((1, 1), (await a.Do(node => ((TcpMesh)node.Links).Live), await b.Do(node => ((TcpMesh)node.Links).Live)));
    }

    /// <summary>Otherwise nobody would ever hear why there is no link.</summary>
    [Theory, MemberData(nameof(Ports))]
    public async Task A_node_that_is_told_again_and_again_that_another_connection_stands_reports_it(string port)
    {
        using var listener = Answering(HelloStatus.Superseded);
        await using var a = new TestNode(Kind(port));
        int peer = await a.Open(EndPointText.Format((IPEndPoint)listener.LocalEndpoint), 77);
        await a.Saw(LinkFault.Unreachable, peer);
    }

    /// <summary>
    /// At the address that a node names, somebody takes connections and says nothing. What is sent is held up once, until that is known, and not again each time the same two
    /// ends connect again.
    /// </summary>
    [Theory, MemberData(nameof(Ports))]
    public async Task A_link_whose_other_end_nobody_confirms_is_held_up_once_and_not_at_each_connection(string port)
    {
        using var silent = new TcpListener(IPAddress.Loopback, 0);
        silent.Start();
        var asked = EndPointText.Format((IPEndPoint)silent.LocalEndpoint);
        using var proxy = new BreakingProxy();
        await using var a = new TestNode(Kind(port), advertise: asked.Text);
        await using var b = new TestNode(Kind(port));
        proxy.Target = b.Address;
        await a.Open(proxy.Address);
        int back = await b.Saw(null);
        await b.Open(asked, a.Node.Id);
        await b.Send(back, 0, 100);
        await a.Until(() => a.Got == 1, "no frame at a");
        (await silent.AcceptSocketAsync()).Dispose();
        bool atOnce = false;
        // One connection proves nothing if the machine is busy for a second.
        for (uint i = 1; i <= 10 && !atOnce; i++)
        {
            uint number = i;
            proxy.BreakAll();
            await b.Saw(null, back);
            await b.Send(back, number, 100);
            await a.Until(() => a.Got == number + 1, "no frame at a");
            var again = await silent.AcceptSocketAsync();
            // If a busy machine made the node ask once more, that connection stands in line before this one, and would do so in all later rounds.
            while (silent.Pending())
            {
                again.Dispose();
                again = await silent.AcceptSocketAsync();
            }
            atOnce = !IsOver(again);
            again.Dispose();
        }
        Assert.True(atOnce, "each new connection was held up");

        // Whether the dialler has given up, after the Hello that it sent.
        static bool IsOver(Socket connection)
        {
            var hello = new byte[LinkLimits.HelloBytes];
            try
            {
                while (connection.Poll(0, SelectMode.SelectRead))
                    if (connection.Receive(hello) == 0) return true;
            }
            catch (SocketException)
            {
                return true;
            }
            return false;
        }
    }

    /// <summary>What came over the stranger's link says nothing of who listens at the address.</summary>
    [Theory, MemberData(nameof(Ports))]
    public async Task A_node_whose_name_a_stranger_has_brought_into_disrepute_is_dialled_and_heard(string port)
    {
        await using var a = new TestNode(Kind(port));
        await using var b = new TestNode(Kind(port));
        using var stranger = new RawPeer("test", a.Node.Id, a.Address.Text, 1);
        Assert.Equal(HelloStatus.Accepted, stranger.Connect(b.Address));
        for (int i = 0; i <= MuteTable.Malformed; i++) stranger.Write(Unknown());
        stranger.Flush();
        Assert.True(stranger.WaitForEnd(60_000));
        using var again = new RawPeer("test", a.Node.Id, a.Address.Text, 2);
        Assert.Equal(HelloStatus.Accepted, again.Connect(b.Address));
        again.Write(Unknown());
        again.Flush();
        Assert.True(again.WaitForEnd(60_000));
        int named = await b.Open(a.Address, a.Node.Id);
        await b.Saw(null, named);
        Assert.Equal(0, b.Faults(LinkFault.Unreachable));
        await b.Send(named, 0, 100);
        await a.Until(() => a.Got == 1, "no frame at a");
        // A node that comes in its name, as the node itself may, is heard again as well.
        await b.Do(node => node.Links.Close(named));
        using var third = new RawPeer("test", a.Node.Id, a.Address.Text, 3);
        Assert.Equal(HelloStatus.Accepted, third.Connect(b.Address));
    }

    /// <summary>Gives the same answer to every Hello.</summary>
    private static TcpListener Answering(HelloStatus status)
    {
        var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        _ = Task.Run(async () =>
        {
            try
            {
                while (true)
                {
                    using var dialler = await listener.AcceptSocketAsync();
                    await dialler.ReceiveAsync(new byte[LinkLimits.HelloBytes]);
                    await dialler.SendAsync(new HelloAckFrame(status, HelloFrame.Version, 77, 0, 0, Nowhere).ToFrame());
                    // Until the other end has read it.
                    await dialler.ReceiveAsync(new byte[1]);
                }
            }
            catch (Exception error) when (error is SocketException or ObjectDisposedException)
            {
                // The test is over.
            }
        });
        return listener;
    }

    private static byte[] Unknown()
    {
        var frame = new byte[FrameHeader.Size];
        FrameHeader.Write(frame, (FrameType)15, 0, 0, 0);
        return frame;
    }

    private static SocketPortKind Kind(string port) => Enum.Parse<SocketPortKind>(port);

    /// <summary>Says one full Hello in a name and keeps the connection.</summary>
    private sealed class TokenPeer(ulong expected, ulong id, ulong token, string listen = Nowhere, long received = 0) : IDisposable
    {
        private readonly Socket _socket = new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);

        /// <summary>What the node calls the link.</summary>
        public ulong Greet(NodeAddress address)
        {
            var ack = Say(address);
            Assert.Equal(HelloStatus.Accepted, ack.Status);
            return ack.Token;
        }

        public HelloAckFrame Say(NodeAddress address)
        {
            _socket.Connect(EndPointText.Parse(address.Text, nameof(address)));
            _socket.Send(new HelloFrame("test", HelloFrame.Version, HelloFrame.Version, false, id, expected, token, 0, received, listen).ToFrame());
            var answer = new byte[LinkLimits.HelloBytes];
            int got = 0;
            FrameHeader header;
            while (!FrameHeader.TryRead(answer.AsSpan(0, got), out header) || got < header.FrameLength) got += _socket.Receive(answer.AsSpan(got));
            Assert.True(HelloAckFrame.TryRead(answer.AsSpan(FrameHeader.Size, header.BodyLength), out var ack));
            return ack;
        }

        public void Dispose() => _socket.Dispose();
    }
}
