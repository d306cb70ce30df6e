using System.Net.Sockets;
using GroupCore.Hosting;
using GroupCore.Runtime;
using GroupCore.Transport;
using GroupCore.Transport.Mesh;
using GroupCore.Wire;
using Ida.Tests.Shared;

namespace GroupCore.Tests.Transport;

/// <summary>Links between nodes on real sockets of loopback, on both ports.</summary>
public sealed class TcpMeshTests
{
    public static TheoryData<string> Ports => OperatingSystem.IsLinux() ? new("Epoll", "Completion") : new("Completion");

    private static SocketPortKind Kind(string port) => Enum.Parse<SocketPortKind>(port);

    [Theory, MemberData(nameof(Ports))]
    public async Task Frames_go_both_ways_over_one_link(string port)
    {
        await using var a = new TestNode(Kind(port));
        await using var b = new TestNode(Kind(port));
        int peer = await a.Open(b.Address);
        int back = await b.Saw(null);
        await a.Saw(null, peer);
        Assert.Equal(b.Node.Id, await a.Do(node => node.Links.NodeIdOf(peer)));
        Assert.Equal(a.Node.Id, await b.Do(node => node.Links.NodeIdOf(back)));
        Assert.Equal(a.Address, await b.Do(node => node.Links.AddressOf(back)));
        Assert.Equal(peer, await a.Open(b.Address, b.Node.Id));
        await a.Send(peer, 1, 100);
        await b.Send(back, 1, 500_000);
        await a.Until(() => a.Got == 1, "no frame at a");
        await b.Until(() => b.Got == 1, "no frame at b");
        await a.Until(() => a.Do(node => node.Links.Backlog(peer)).Result == 0, "nothing acknowledged");
    }

    [Theory, MemberData(nameof(Ports))]
    public async Task Nodes_that_dial_each_other_at_once_keep_one_link(string port)
    {
        for (int round = 0; round < 20; round++)
        {
            await using var a = new TestNode(Kind(port));
            await using var b = new TestNode(Kind(port));
            var both = await Task.WhenAll(a.Open(b.Address, b.Node.Id), b.Open(a.Address, a.Node.Id));
            await Task.WhenAll(a.Saw(null, both[0]), b.Saw(null, both[1]));
            for (uint i = 0; i < 10; i++) await Task.WhenAll(a.Send(both[0], i, 10), b.Send(both[1], i, 10));
            await a.Until(() => a.Got == 10, "frames missing at a");
            await b.Until(() => b.Got == 10, "frames missing at b");
        }
    }

    [Theory, MemberData(nameof(Ports))]
    public async Task G8_4_a_closed_port_is_reported_as_refused_again_and_again(string port)
    {
        await using var a = new TestNode(Kind(port));
        NodeAddress gone;
        await using (var b = new TestNode(Kind(port))) gone = b.Address;
        int peer = await a.Open(gone);
        await a.Saw(LinkFault.Refused, peer);
        await a.Saw(LinkFault.Refused, peer);
        await a.Do(node => node.Links.Probe(peer));
        await a.Saw(LinkFault.Refused, peer);
    }

    [Theory, MemberData(nameof(Ports))]
    public async Task Another_node_at_the_address_is_reported_as_replaced(string port)
    {
        await using var a = new TestNode(Kind(port));
        NodeAddress address;
        int peer;
        await using (var b = new TestNode(Kind(port)))
        {
            address = b.Address;
            peer = await a.Open(address);
            await a.Saw(null, peer);
        }
        await a.Saw(LinkFault.Reset, peer);
        await using var c = new TestNode(Kind(port), listen: address.Text);
        await a.Saw(LinkFault.Replaced, peer);
        int next = await a.Open(address);
        Assert.NotEqual(peer, next);
        await a.Saw(null, next);
        Assert.Equal(c.Node.Id, await a.Do(node => node.Links.NodeIdOf(next)));
    }

    [Theory, MemberData(nameof(Ports))]
    public async Task A_link_that_the_other_end_closed_is_rejected_and_can_be_opened_anew(string port)
    {
        await using var a = new TestNode(Kind(port));
        await using var b = new TestNode(Kind(port));
        int peer = await a.Open(b.Address);
        int back = await b.Saw(null);
        await a.Send(peer, 1, 10);
        await b.Until(() => b.Got == 1, "no frame");
        await b.Do(node => node.Links.Close(back));
        await a.Saw(LinkFault.Rejected, peer);
        int again = await a.Open(b.Address, b.Node.Id);
        Assert.NotEqual(peer, again);
        await a.Send(again, 2, 10);
        await b.Until(() => b.Got == 2, "no frame over the new link");
    }

    [Theory, MemberData(nameof(Ports))]
    public async Task An_end_that_closes_and_opens_again_starts_a_new_link_at_both(string port)
    {
        await using var a = new TestNode(Kind(port));
        await using var b = new TestNode(Kind(port));
        int peer = await a.Open(b.Address);
        int back = await b.Saw(null);
        await a.Send(peer, 1, 10);
        await b.Until(() => b.Got == 1, "no frame");
        await a.Do(node =>
        {
            node.Links.Close(peer);
            peer = node.Links.Open(b.Address, b.Node.Id);
        });
        await b.Saw(LinkFault.Rejected, back);
        int other = await b.Saw(null);
        Assert.NotEqual(back, other);
        await a.Send(peer, 2, 10);
        await b.Send(other, 1, 10);
        await b.Until(() => b.Got == 2, "no frame at b");
        await a.Until(() => a.Got == 1, "no frame at a");
    }

    [Theory, MemberData(nameof(Ports))]
    public async Task A_probe_of_a_live_link_tells_that_it_is_up_and_leaves_it_alone(string port)
    {
        await using var a = new TestNode(Kind(port));
        await using var b = new TestNode(Kind(port));
        int peer = await a.Open(b.Address);
        await a.Saw(null, peer);
        await a.Do(node => node.Links.Probe(peer));
        await a.Saw(null, peer);
        await a.Send(peer, 1, 10);
        await b.Until(() => b.Got == 1, "no frame");
    }

    [Theory, MemberData(nameof(Ports))]
    public async Task A_node_that_opens_itself_is_told_so(string port)
    {
        await using var a = new TestNode(Kind(port));
        int self = await a.Open(a.Address);
        await a.Saw(LinkFault.Itself, self);
    }

    [Theory, MemberData(nameof(Ports))]
    public async Task Two_spellings_of_an_address_lead_to_one_link(string port)
    {
        using var proxy = new BreakingProxy();
        await using var b = new TestNode(Kind(port));
        proxy.Target = b.Address;
        await using var a = new TestNode(Kind(port));
        int direct = await a.Open(b.Address);
        await a.Saw(null, direct);
        int other = await a.Open(proxy.Address);
        await a.Send(other, 1, 10);
        await a.Saw(null, other);
        Assert.Equal(b.Node.Id, await a.Do(node => node.Links.NodeIdOf(other)));
        await a.Send(other, 2, 10);
        await a.Send(direct, 3, 10);
        await b.Until(() => b.Got == 3, "frames missing");
    }

    [Theory, MemberData(nameof(Ports))]
    public async Task Wrong_cluster_is_counted_rejected_and_harms_nobody(string port)
    {
        await using var a = new TestNode(Kind(port), cluster: "one");
        await using var b = new TestNode(Kind(port), cluster: "two");
        int peer = await a.Open(b.Address);
        await a.Saw(LinkFault.WrongCluster, peer);
        // Once for each dial: also for those whose answer took longer than a dial may.
        long dials = 1 + a.Faults(LinkFault.Unreachable);
        await b.Until(() => b.Refused(RefusalReason.WrongCluster) >= dials, "not counted");
        Assert.Equal(dials, b.Refused(RefusalReason.WrongCluster));
        await using var c = new TestNode(Kind(port), cluster: "two");
        await c.Open(b.Address);
        await b.Saw(null);
    }

    [Theory, MemberData(nameof(Ports))]
    public async Task G10_7_garbage_truncated_and_oversized_frames_are_counted_and_the_node_serves_on(string port)
    {
        await using var a = new TestNode(Kind(port));
        var random = new Prng(5);
        for (int run = 0; run < 60; run++)
        {
            var bytes = new byte[FrameHeader.Size + random.Next(3000)];
            for (int i = 0; i < bytes.Length; i++) bytes[i] = (byte)random.NextUInt64();
            if (run % 3 == 1) FrameHeader.Write(bytes, FrameType.Hello, 0, 0, Math.Min(1000, bytes.Length - FrameHeader.Size));
            if (run % 3 == 2) FrameHeader.Write(bytes, FrameType.Hello, 0, 0, LinkLimits.FrameBytes);
            bool cut = run % 3 == 1 && run % 2 == 0;
            long before = RefusedAtTheDoor(a);
            using var stranger = new TcpClient();
            var at = EndPointText.Parse(a.Address.Text, "address");
            await stranger.ConnectAsync(at);
            var stream = stranger.GetStream();
            await stream.WriteAsync(cut ? bytes.AsMemory(0, bytes.Length / 2) : bytes);
            if (cut || bytes.Length < FrameHeader.Size + 1000) stranger.Client.Shutdown(SocketShutdown.Send);
            await EndOf(stream);
            await a.Until(() => RefusedAtTheDoor(a) > before, $"run {run} is not counted");
        }
        Assert.True(a.Refused(RefusalReason.Framing) >= 20);
        Assert.True(a.Refused(RefusalReason.Handshake) > 0);
        await using var b = new TestNode(Kind(port));
        await b.Open(a.Address);
        await a.Saw(null);
    }

    [Theory, MemberData(nameof(Ports))]
    public async Task G10_2_a_connection_that_says_half_a_Hello_or_nothing_is_closed_after_5_s_and_counted(string port)
    {
        await using var a = new TestNode(Kind(port));
        var at = EndPointText.Parse(a.Address.Text, "address");
        using var silent = new TcpClient();
        using var half = new TcpClient();
        long began = System.Diagnostics.Stopwatch.GetTimestamp();
        await silent.ConnectAsync(at);
        await half.ConnectAsync(at);
        var hello = new HelloFrame("test", HelloFrame.Version, HelloFrame.Version, false, 7, a.Node.Id, 8, 0, 0, "127.0.0.1:9").ToFrame();
        await half.GetStream().WriteAsync(hello.AsMemory(0, hello.Length - 1));
        await EndOf(half.GetStream());
        await EndOf(silent.GetStream());
        // The node's time is that of its turn: a machine that holds it up makes both bounds coarse.
        Assert.InRange(System.Diagnostics.Stopwatch.GetElapsedTime(began).TotalSeconds, 4, 60);
        await a.Until(() => a.Refused(RefusalReason.Handshake) == 2, "not counted");
    }

    [Theory, MemberData(nameof(Ports))]
    public async Task G10_2_at_most_64_strangers_wait_at_the_door(string port)
    {
        await using var a = new TestNode(Kind(port));
        var at = EndPointText.Parse(a.Address.Text, "address");
        List<TcpClient> strangers = [];
        for (int i = 0; i < 80; i++)
        {
            strangers.Add(new());
            await strangers[i].ConnectAsync(at);
        }
        // The oldest had to go; a node that says Hello still gets in.
        await EndOf(strangers[0].GetStream());
        await using var b = new TestNode(Kind(port));
        await b.Open(a.Address);
        await a.Saw(null);
        Assert.True(a.Refused(RefusalReason.Handshake) >= 16);
        strangers.ForEach(stranger => stranger.Dispose());
    }

    [Theory, MemberData(nameof(Ports))]
    public async Task Garbage_inside_a_link_ends_the_connection_and_the_link_resumes(string port)
    {
        using var proxy = new BreakingProxy();
        await using var b = new TestNode(Kind(port));
        proxy.Target = b.Address;
        await using var a = new TestNode(Kind(port));
        int peer = await a.Open(proxy.Address);
        await a.Saw(null, peer);
        await a.Send(peer, 1, 10);
        await b.Until(() => b.Got == 1, "no frame");
        proxy.Inject([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]);
        await a.Send(peer, 2, 10);
        await b.Until(() => b.Got == 2, "no frame after the garbage");
        Assert.True(b.Refused(RefusalReason.Framing) > 0);
    }

    [Theory, MemberData(nameof(Ports))]
    public async Task G10_6_a_reader_that_stands_still_ends_its_link_with_overflow_and_no_other(string port)
    {
        using var gate = new ManualResetEventSlim();
        await using var a = new TestNode(Kind(port));
        await using var slow = new TestNode(Kind(port));
        await using var other = new TestNode(Kind(port));
        slow.OnData = (_, _, _) => gate.Wait(TestNode.Patience);
        int peer = await a.Open(slow.Address), fine = await a.Open(other.Address);
        await a.Saw(null);
        await a.Saw(null);
        long most = 0;
        for (int i = 0; i < 1000 && most < LinkLimits.QueueBytes / 2; i++)
            most = Math.Max(most, await a.Do(node =>
            {
                TestNode.Write(node, [peer], 1, 900_000);
                return node.Links.Backlog(peer);
            }));
        for (int i = 0; i < 100; i++) await a.Do(node => TestNode.Write(node, [peer], 1, 900_000));
        await a.Saw(LinkFault.Overflow, peer);
        Assert.Equal(0, await a.Do(node => node.Links.Backlog(peer)));
        await a.Send(fine, 1, 100);
        await other.Until(() => other.Got == 1, "the other link stands still too");
        gate.Set();
    }

    private static long RefusedAtTheDoor(TestNode node) =>
        node.Refused(RefusalReason.Framing) + node.Refused(RefusalReason.Malformed) + node.Refused(RefusalReason.Handshake);

    private static async Task EndOf(NetworkStream stream)
    {
        using var patience = new CancellationTokenSource(TestNode.Patience);
        var buffer = new byte[4096];
        try
        {
            while (await stream.ReadAsync(buffer, patience.Token) > 0) { }
        }
        catch (IOException)
        {
            // Reset: also an end.
        }
    }
}
