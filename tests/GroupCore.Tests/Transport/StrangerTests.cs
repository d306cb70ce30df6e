using System.Net.Sockets;
using GroupCore.Hosting;
using GroupCore.Runtime;
using GroupCore.Transport;
using GroupCore.Transport.Mesh;
using GroupCore.Wire;

namespace GroupCore.Tests.Transport;

/// <summary>
/// What a node that anybody can dial tolerates from those who do (links.md#an-unidentified-connection-costs-little, #guests-have-places-and-the-most-silent-gives-way,
/// #malformed-input-is-counted-and-its-sender-muted).
/// </summary>
public sealed class StrangerTests
{
    private const string Nowhere = "127.0.0.1:1";

    public static TheoryData<string> Ports => TcpMeshTests.Ports;

    [Theory, MemberData(nameof(Ports))]
    public async Task A_Hello_in_the_name_of_a_connected_node_does_not_take_its_link(string port)
    {
        await using var a = new TestNode(Kind(port));
        await using var b = new TestNode(Kind(port));
        int peer = await a.Open(b.Address);
        int back = await b.Saw(null);
        await a.Saw(null, peer);
        for (ulong token = 1; token < 20; token++)
        {
            using var impostor = new RawPeer("test", a.Node.Id, token % 2 == 0 ? Nowhere : a.Address.Text, token);
            Assert.Equal(HelloStatus.Superseded, impostor.Connect(b.Address));
            // The token claims a session that the node should know.
            using var guessing = new RawPeer("test", a.Node.Id, Nowhere, token, peerToken: token);
            Assert.Equal(HelloStatus.Forgotten, guessing.Connect(b.Address));
        }
        await a.Send(peer, 0, 100);
        await b.Send(back, 0, 100);
        await a.Until(() => a.Got == 1, "no frame at a");
        await b.Until(() => b.Got == 1, "no frame at b");
        Assert.Equal(a.Node.Id, await b.Do(node => node.Links.NodeIdOf(back)));
        Assert.Equal(19, b.Node.Counters.Refused(RefusalReason.WrongSender));
    }

    /// <summary>Without credentials nothing tells the two apart once the first has gone: a name is worth no more than that.</summary>
    [Theory, MemberData(nameof(Ports))]
    public async Task The_name_of_a_node_that_is_gone_can_be_taken(string port)
    {
        await using var b = new TestNode(Kind(port));
        ulong id;
        await using (var a = new TestNode(Kind(port)))
        {
            id = a.Node.Id;
            await a.Open(b.Address);
            await b.Saw(null);
        }
        await b.Saw(LinkFault.Reset);
        using var impostor = new RawPeer("test", id, Nowhere, 1);
        Assert.Equal(HelloStatus.Accepted, impostor.Connect(b.Address));
    }

    /// <summary>Otherwise anybody who connects could make a node dial any address, again and again.</summary>
    [Theory, MemberData(nameof(Ports))]
    public async Task What_a_stranger_says_of_itself_is_not_dialled_when_it_breaks_off(string port)
    {
        await using var b = new TestNode(Kind(port));
        await using var other = new TestNode(Kind(port));
        using var claimed = new TcpListener(System.Net.IPAddress.Loopback, 0);
        claimed.Start();
        using var stranger = new RawPeer("test", 77, claimed.LocalEndpoint.ToString()!, 1);
        Assert.Equal(HelloStatus.Accepted, stranger.Connect(b.Address));
        int peer = await b.Saw(null);
        stranger.Dispose();
        await b.Saw(LinkFault.Reset, peer);
        await b.Do(node => node.Links.Probe(peer));
        // A dial of the claimed address, at once or after the first pause, would come before this one.
        var paused = new TaskCompletionSource();
        await b.Do(node => node.SetTimer(node.Now + 100_000_000, new Timer(paused), 0));
        await paused.Task.WaitAsync(TestNode.Patience);
        await b.Saw(null, await b.Open(other.Address));
        Assert.False(claimed.Pending());
        // The stranger may come back, and is dialled when somebody asks for it.
        Assert.Equal(HelloStatus.Accepted, stranger.Connect(b.Address));
        Assert.Equal(peer, await b.Saw(null));
        stranger.Dispose();
        await b.Saw(LinkFault.Reset, peer);
        Assert.Equal(peer, await b.Open(new(claimed.LocalEndpoint.ToString()!), 77));
        using var dialled = await claimed.AcceptSocketAsync().WaitAsync(TestNode.Patience);
    }

    [Theory, MemberData(nameof(Ports))]
    public async Task A_stranger_that_says_it_listens_at_anothers_address_gets_nothing_of_what_is_sent_there(string port)
    {
        await using var a = new TestNode(Kind(port));
        await using var b = new TestNode(Kind(port));
        await a.Open(b.Address);
        int back = await b.Saw(null);
        using var stranger = new RawPeer("test", 77, a.Address.Text, 1);
        Assert.Equal(HelloStatus.Accepted, stranger.Connect(b.Address));
        int asked = await b.Open(a.Address);
        await b.Saw(null, asked);
        Assert.Equal(a.Node.Id, await b.Do(node => node.Links.NodeIdOf(asked)));
        Assert.Equal(a.Node.Id, await b.Do(node => node.Links.NodeIdOf(back)));
        await b.Send(asked, 0, 100);
        await b.Send(back, 0, 100);
        await a.Until(() => a.Got == 2, "frames missing at a");
        // One link has two numbers; to ask once more makes no third.
        int once = await b.Open(a.Address), more = await b.Open(a.Address);
        Assert.Equal(once, more);
        Assert.Equal(1, await a.Do(node => ((TcpMesh)node.Links).Live));
    }

    /// <summary>A guest is not believed by its name alone where it says what cannot be taken back, such as that a process is excluded.</summary>
    [Theory, MemberData(nameof(Ports))]
    public async Task A_guest_is_confirmed_when_the_node_at_the_address_that_it_names_has_its_session(string port)
    {
        await using var a = new TestNode(Kind(port));
        await using var b = new TestNode(Kind(port));
        int dialled = await a.Open(b.Address);
        int back = await b.Saw(null);
        await a.Saw(null, dialled);
        Assert.True(await a.Do(node => node.Links.IsConfirmed(dialled)));
        Assert.False(await b.Do(node => node.Links.IsConfirmed(back)));
        Assert.Equal(back, await b.Open(a.Address, a.Node.Id));
        await b.Until(() => b.Do(node => node.Links.IsConfirmed(back)).Result, "the link is not confirmed");
        Assert.Equal(back, await b.Saw(null));
        // A guest that takes the name of a node that listens there is never confirmed: its connection ends.
        await using var c = new TestNode(Kind(port));
        using var impostor = new RawPeer("test", c.Node.Id, c.Address.Text, 1);
        Assert.Equal(HelloStatus.Accepted, impostor.Connect(b.Address));
        int guest = await b.Saw(null);
        Assert.False(await b.Do(node => node.Links.IsConfirmed(guest)));
        int asked = await b.Open(c.Address, c.Node.Id);
        Assert.Equal(guest, asked);
        // From then on the link is the node's own, and the node gets what is sent.
        await b.Send(asked, 0, 100);
        await c.Until(() => c.Got == 1, "no frame at c");
        Assert.True(await b.Do(node => node.Links.IsConfirmed(asked)));
        Assert.True(impostor.WaitForEnd(60_000));
    }

    /// <summary>As with a seed: it is not known yet which node is there.</summary>
    [Theory, MemberData(nameof(Ports))]
    public async Task A_stranger_that_claims_an_address_first_gets_nothing_of_what_is_sent_there(string port)
    {
        await using var a = new TestNode(Kind(port));
        await using var b = new TestNode(Kind(port));
        using var stranger = new RawPeer("test", 77, a.Address.Text, 1);
        Assert.Equal(HelloStatus.Accepted, stranger.Connect(b.Address));
        int claimant = await b.Saw(null), seed = await b.Open(a.Address);
        Assert.NotEqual(claimant, seed);
        await b.Saw(null, seed);
        Assert.Equal(a.Node.Id, await b.Do(node => node.Links.NodeIdOf(seed)));
        await b.Send(seed, 0, 100);
        await a.Until(() => a.Got == 1, "no frame at a");
    }

    [Theory, MemberData(nameof(Ports))]
    public async Task A_stranger_that_claims_an_address_while_it_is_dialled_does_not_get_its_link(string port)
    {
        await using var b = new TestNode(Kind(port));
        using var slow = new TcpListener(System.Net.IPAddress.Loopback, 0);
        slow.Start();
        int seed = await b.Open(new(slow.LocalEndpoint.ToString()!));
        using var stranger = new RawPeer("test", 77, slow.LocalEndpoint.ToString()!, 1);
        Assert.Equal(HelloStatus.Accepted, stranger.Connect(b.Address));
        Assert.NotEqual(seed, await b.Saw(null));
        Assert.Equal(0UL, await b.Do(node => node.Links.NodeIdOf(seed)));
    }

    /// <summary>Each is a seed of the other, and neither knows which node is there.</summary>
    [Theory, MemberData(nameof(Ports))]
    public async Task Nodes_that_dial_each_others_address_at_once_reach_each_other_over_one_link(string port)
    {
        for (int round = 0; round < 20; round++)
        {
            await using var a = new TestNode(Kind(port));
            await using var b = new TestNode(Kind(port));
            var both = await Task.WhenAll(a.Open(b.Address), b.Open(a.Address));
            await Task.WhenAll(a.Saw(null, both[0]), b.Saw(null, both[1]));
            for (uint i = 0; i < 10; i++) await Task.WhenAll(a.Send(both[0], i, 10), b.Send(both[1], i, 10));
            await a.Until(() => a.Got == 10, "frames missing at a");
            await b.Until(() => b.Got == 10, "frames missing at b");
            Assert.Equal(b.Node.Id, await a.Do(node => node.Links.NodeIdOf(both[0])));
            await a.Until(() => a.Do(node => ((TcpMesh)node.Links).Live).Result == 1, "two links at a");
            await b.Until(() => b.Do(node => ((TcpMesh)node.Links).Live).Result == 1, "two links at b");
        }
    }

    [Theory, MemberData(nameof(Ports))]
    public async Task Strangers_that_hold_all_places_give_way_to_newcomers_the_most_silent_first(string port)
    {
        const int places = 8;
        await using var a = new TestNode(Kind(port));
        await using var b = new TestNode(Kind(port), mostGuests: places);
        // A node that b asked for and one that is vouched for keep their places.
        await b.Saw(null, await b.Open(a.Address));
        using var known = new RawPeer("test", 50, Nowhere, 1);
        Assert.Equal(HelloStatus.Accepted, known.Connect(b.Address));
        int member = await b.Saw(null);
        await b.Do(node => node.Links.Vouch(member));
        var strangers = new List<RawPeer>();
        try
        {
            for (ulong id = 100; id < 100 + (3 * places); id++)
            {
                strangers.Add(new("test", id, Nowhere, 1));
                Assert.Equal(HelloStatus.Accepted, strangers[^1].Connect(b.Address));
                // Some break off: their places are held for a minute.
                if (id % 4 == 0) strangers[^1].Dispose();
            }
            Assert.True(strangers[1].WaitForEnd(60_000));
            await using var newcomer = new TestNode(Kind(port));
            int there = await newcomer.Open(b.Address);
            await newcomer.Saw(null, there);
            await newcomer.Send(there, 0, 100);
            var frame = new byte[FrameHeader.Size];
            FrameHeader.Write(frame, FrameType.Data, 0, 0, 0);
            known.Write(frame);
            Assert.True(known.Settle() && known.IsUp);
            await b.Until(() => b.Got == 2, "frames missing at b");
            Assert.Equal((2 * places) + 2, b.Refused(RefusalReason.Displaced));
            Assert.Equal(places + 1, await b.Do(node => ((TcpMesh)node.Links).Live));
        }
        finally
        {
            strangers.ForEach(stranger => stranger.Dispose());
        }
    }

    [Theory, MemberData(nameof(Ports))]
    public async Task A_newcomer_finds_no_place_where_all_are_vouched_for(string port)
    {
        await using var b = new TestNode(Kind(port), mostGuests: 2);
        using var one = new RawPeer("test", 50, Nowhere, 1);
        using var two = new RawPeer("test", 51, Nowhere, 1);
        using var three = new RawPeer("test", 52, Nowhere, 1);
        foreach (var member in new[] { one, two })
        {
            Assert.Equal(HelloStatus.Accepted, member.Connect(b.Address));
            int peer = await b.Saw(null);
            await b.Do(node => node.Links.Vouch(peer));
        }
        Assert.Equal(HelloStatus.Full, three.Connect(b.Address));
        // A guest that is asked for frees its place.
        await b.Open(new(Nowhere), 50);
        Assert.Equal(HelloStatus.Accepted, three.Connect(b.Address));
    }

    /// <summary>The strangers ask and never take the answers, and come back when their links are ended.</summary>
    [Theory, MemberData(nameof(Ports))]
    public async Task Strangers_that_take_no_answer_hold_up_nobody_and_little_is_kept_for_them(string port)
    {
        const int strangers = 12, rounds = 80, questions = 50, answer = 8 << 10;
        await using var a = new TestNode(Kind(port));
        await using var b = new TestNode(Kind(port));
        int peer = await b.Open(a.Address);
        await b.Saw(null, peer);
        var guests = new HashSet<int>();
        long most = 0;
        b.OnData = (guest, _, _) =>
        {
            guests.Add(guest);
            TestNode.Write(b.Node, [guest], 0, answer, strangers: true);
            most = Math.Max(most, guests.Sum(b.Node.Links.Backlog));
        };
        var all = new List<RawPeer>();
        try
        {
            for (ulong id = 100; id < 100 + strangers; id++) all.Add(new("test", id, Nowhere, id) { IsDeaf = true });
            var question = new byte[FrameHeader.Size];
            FrameHeader.Write(question, FrameType.Data, 0, 0, 0);
            for (int round = 0; round < rounds; round++)
            {
                foreach (var stranger in all)
                {
                    if (!stranger.IsUp)
                    {
                        stranger.BeginAnew();
                        // Its last link may stand until the end of its connection is read.
                        await b.Until(() => stranger.Connect(b.Address) == HelloStatus.Accepted, $"no connection: {stranger.Error}");
                    }
                    for (int i = 0; i < questions; i++) stranger.Write(question);
                    stranger.Flush();
                }
            }
            Assert.Equal((false, true), await b.Do(node => (node.Links.IsFull, node.Links.Room(peer) > 0)));
            await b.Saw(LinkFault.Overflow);
            // Nothing is queued for a stranger whose link has ended, and no more than a stranger may have for any other.
            Assert.InRange(await b.Do(_ => most), 1, strangers * LinkLimits.StrangerBytes);
            await b.Send(peer, 0, 100);
            await a.Until(() => a.Got == 1, "no frame at a");
        }
        finally
        {
            all.ForEach(stranger => stranger.Dispose());
        }
    }

    /// <summary>What waits for a stranger does not count for the node until somebody knows who it is.</summary>
    [Fact]
    public void A_queue_counts_for_the_node_from_when_its_peer_is_known()
    {
        var pool = new SlabPool();
        var node = new LinkBacklog(1 << 20);
        var session = new LinkSession(0, pool, LinkCarrier.Connection, node: node) { IsForeign = true };
        session.AppendCopy(new byte[1_000]);
        Assert.Equal((1_000, 0), (session.Backlog, node.Bytes));
        session.IsForeign = false;
        Assert.Equal(1_000, node.Bytes);
        var other = new LinkSession(1, pool, LinkCarrier.Connection, node: node) { IsForeign = true };
        session.MoveTo(other);
        Assert.Equal((1_000, 0), (other.Backlog, node.Bytes));
        other.IsForeign = false;
        other.AppendCopy(new byte[1_000]);
        other.IsForeign = true;
        Assert.Equal(0, node.Bytes);
        for (int i = 0; i < 20; i++) other.AppendCopy(new byte[1_000]);
        Assert.True(other.Overflowed && other.Backlog <= LinkLimits.StrangerBytes);
        other.Close();
        Assert.Equal(0, node.Bytes);
    }

    [Theory, MemberData(nameof(Ports))]
    public async Task G10_7_a_stranger_that_sends_malformed_frames_goes_and_goes_at_the_first_one_when_it_comes_again(string port)
    {
        await using var a = new TestNode(Kind(port));
        await using var b = new TestNode(Kind(port));
        int peer = await a.Open(b.Address);
        await a.Saw(null, peer);
        using var stranger = new RawPeer("test", 77, Nowhere, 1);
        Assert.Equal(HelloStatus.Accepted, stranger.Connect(b.Address));
        var unknown = new byte[FrameHeader.Size];
        FrameHeader.Write(unknown, (FrameType)15, 0, 0, 0);
        for (int i = 0; i < MuteTable.Malformed; i++) stranger.Write(unknown);
        Assert.True(stranger.Settle() && stranger.IsUp);
        stranger.Write(unknown);
        stranger.Flush();
        Assert.True(stranger.WaitForEnd(60_000));
        Assert.Equal(MuteTable.Malformed + 1, b.Node.Counters.Refused(RefusalReason.UnknownType));
        Assert.Equal(1, b.Node.Counters.Refused(RefusalReason.Muted));
        using var again = new RawPeer("test", 77, Nowhere, 2);
        Assert.Equal(HelloStatus.Accepted, again.Connect(b.Address));
        again.Write(unknown);
        again.Flush();
        Assert.True(again.WaitForEnd(60_000));
        Assert.Equal(2, b.Node.Counters.Refused(RefusalReason.Muted));
        // Only that name is muted.
        using var other = new RawPeer("test", 78, Nowhere, 1);
        Assert.Equal(HelloStatus.Accepted, other.Connect(b.Address));
        await a.Send(peer, 0, 100);
        await b.Until(() => b.Got == 1, "no frame at b");
    }

    [Fact]
    public void A_mute_ends_after_a_minute_and_the_table_stays_small()
    {
        const long second = 1_000_000_000;
        var table = new MuteTable(2);
        Assert.False(Add(1, 0) || Add(1, 0));
        Assert.True(Add(1, 59 * second));
        Assert.True(table.IsMuted(1, 118 * second) && !table.IsMuted(2, 118 * second));
        // Somebody who comes in its name is not the node that is dialled, and is not counted with it.
        Assert.False(table.Add(1, 118 * second));
        Assert.False(table.IsMuted(1, 119 * second));
        // A peer that only says that it is the node is heard, and for a minute each further malformed frame in that name is one too many.
        Assert.False(table.Add(3, 0) || table.Add(3, 0));
        Assert.True(table.Add(3, second) && table.Add(3, second) && table.Add(3, 60 * second));
        Assert.False(table.IsMuted(3, second) || table.Add(3, 61 * second));
        // Two in each minute are none too many.
        for (int i = 0; i < 20; i++) Assert.False(Add(2, i * 30 * second));
        for (ulong node = 10; node < 5_000; node++) Add(node, 0);
        for (int i = 0; i < 3; i++) Add(5_000, 0);
        Assert.True(table.IsMuted(5_000, second));
        // Names that anybody can invent push out no known node.
        for (ulong node = 20_000; node < 22_000; node++) table.Add(node, 0);
        Assert.True(table.IsMuted(5_000, second));
        for (ulong node = 10_000; node < 11_024; node++) Add(node, 0);
        Assert.False(table.IsMuted(5_000, second));
        // Of invented names, too, the one that was counted first is forgotten.
        for (int i = 0; i < 3; i++) table.Add(30_000, 0);
        for (ulong node = 30_001; node < 31_024; node++) table.Add(node, 0);
        Assert.True(table.Add(30_000, second));
        table.Add(31_024, 0);
        Assert.False(table.Add(30_000, second));

        bool Add(ulong node, long now) => table.Add(node, now, confirmed: true);
    }

    [Theory, MemberData(nameof(Ports))]
    public async Task Storms_of_connections_silent_slow_or_gone_at_once_keep_nobody_out(string port)
    {
        await using var a = new TestNode(Kind(port));
        await using var b = new TestNode(Kind(port));
        var held = new List<Socket>();
        byte[] hello = new HelloFrame("test", 1, 1, false, 77, b.Node.Id, 1, 0, 0, Nowhere).ToFrame();
        try
        {
            for (int i = 0; i < 2_000; i++)
            {
                var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
                socket.Connect(EndPointText.Parse(b.Address.Text, "address"));
                switch (i % 4)
                {
                    case 0:
                        socket.LingerState = new(true, 0);
                        socket.Dispose();
                        continue;
                    case 1:
                        socket.Send(hello.AsSpan(0, 1 + (i % (hello.Length - 1))));
                        break;
                    case 2:
                        // More than a Hello may have.
                        socket.Send([0xFF, 0xFF, 0x0F, 0, FrameHeader.Version, (byte)FrameType.Hello, 0, 0, 0, 0, 0, 0]);
                        break;
                }
                held.Add(socket);
                if (held.Count < 300) continue;
                held[0].Dispose();
                held.RemoveAt(0);
            }
            int peer = await a.Open(b.Address);
            await a.Saw(null, peer);
            await a.Send(peer, 0, 100);
            await b.Until(() => b.Got == 1, "no frame at b");
            // Each is counted once: those that are cut short, too large, or pushed out by others before they are read.
            await b.Until(() => b.Node.Counters.Refused(RefusalReason.Framing) + b.Node.Counters.Refused(RefusalReason.Handshake) > 800, "they are not counted");
            Assert.True(b.Node.Counters.Refused(RefusalReason.Framing) > 0);
            Assert.Null(b.Loop.Fault);
        }
        finally
        {
            foreach (var socket in held) socket.Dispose();
        }
    }

    /// <summary>
    /// Something else listens at the address of a node that is watched, or a proxy whose node is gone. A connection that broke is dialled at
    /// once, since that tells whether the process lives; one that never stood tells nothing.
    /// </summary>
    [Theory, MemberData(nameof(Ports))]
    public async Task An_address_that_takes_connections_and_closes_them_is_dialled_with_pauses(string port)
    {
        using var closing = new TcpListener(System.Net.IPAddress.Loopback, 0);
        closing.Start();
        int taken = 0;
        _ = Task.Run(async () =>
        {
            while (true)
            {
                using var socket = await closing.AcceptSocketAsync();
                await socket.ReceiveAsync(new byte[1]);
                Interlocked.Increment(ref taken);
            }
        });
        await using var b = new TestNode(Kind(port));
        b.OnFault = (watched, fault) =>
        {
            if (fault == LinkFault.Reset) b.Node.Links.Probe(watched);
        };
        int peer = await b.Open(new(closing.LocalEndpoint.ToString()!), 77);
        var passed = new TaskCompletionSource();
        await b.Do(node => node.SetTimer(node.Now + 300_000_000, new Timer(passed), 0));
        await passed.Task.WaitAsync(TestNode.Patience);
        Assert.InRange(Volatile.Read(ref taken), 1, 8);
        await b.Saw(LinkFault.Unreachable, peer);
    }

    private static SocketPortKind Kind(string port) => Enum.Parse<SocketPortKind>(port);

    private sealed class Timer(TaskCompletionSource fired) : ITimerTarget
    {
        public void OnTimer(long token) => fired.TrySetResult();
    }
}
