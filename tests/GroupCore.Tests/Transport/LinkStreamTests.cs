using GroupCore.Hosting;
using GroupCore.Runtime;
using GroupCore.Wire;
using Ida.Tests.Shared;

namespace GroupCore.Tests.Transport;

/// <summary>Long exchanges over real sockets: through connections that break all the time, and what a frame allocates.</summary>
public sealed class LinkStreamTests
{
    public static TheoryData<string> Ports => TcpMeshTests.Ports;

    // 1 B to 1 MB: mostly small, some larger than a slab, a few of the largest size.
    private static int Size(uint number) => (number * 2_654_435_761) switch
    {
        var hash when hash % 5000 == 0 => (1 << 20) - FrameHeader.Size,
        var hash when hash % 500 == 1 => 1 + (int)(hash >> 15),
        var hash when hash % 50 == 2 => 1 + (int)(hash >> 18),
        var hash => 1 + (int)(hash >> 23),
    };

    [Theory, MemberData(nameof(Ports))]
    public async Task G7_8_every_frame_arrives_once_and_in_order_while_connections_are_reset_at_random_bytes(string port)
    {
        const uint Frames = 60_000;
        var kind = Enum.Parse<SocketPortKind>(port);
        using var toA = new BreakingProxy(1) { ResetWithin = 3 << 20 };
        using var toB = new BreakingProxy(2) { ResetWithin = 3 << 20 };
        NumberedStream a = null!, b = null!;
        await using var first = Start(kind, toA, node => a = new(node, Frames, 4 << 20, Size), () => a);
        await using var second = Start(kind, toB, node => b = new(node, Frames, 4 << 20, Size), () => b);
        Assert.True(first.Node.TryPost(new Opening(first.Node, toB)));
        await Task.WhenAll(a.Done, b.Done).WaitAsync(TimeSpan.FromMinutes(4), TestContext.Current.CancellationToken);
        Assert.True(a.Wrong is null && b.Wrong is null, $"{a.Wrong} {b.Wrong}");
        Assert.Equal((Frames, Frames), (a.Got, b.Got));
        Assert.InRange(toA.Breaks + toB.Breaks, 10, int.MaxValue);
        Assert.True(a.Resets > 0 && b.Resets > 0);
        await Task.WhenAll(first.StopAsync(), second.StopAsync());
        Assert.True(first.Fault is null && second.Fault is null, $"{first.Fault} {second.Fault}");
    }

    [Theory, MemberData(nameof(Ports))]
    public async Task A_frame_allocates_nothing_in_steady_state(string port)
    {
        const uint Warm = 20_000, Frames = 100_000;
        await using var a = new TestNode(Enum.Parse<SocketPortKind>(port));
        await using var b = new TestNode(Enum.Parse<SocketPortKind>(port));
        var (left, right) = (new Echo(a, Warm, Frames), new Echo(b, Warm, Frames));
        int peer = await a.Open(b.Address);
        await Task.WhenAll(a.Saw(null, peer), b.Saw(null));
        await a.Do(node =>
        {
            for (uint i = 0; i < 32; i++) TestNode.Write(node, [peer], i, 100);
        });
        await Task.WhenAll(left.Done, right.Done).WaitAsync(TestNode.Patience);
        Assert.True(left.Allocated < Frames / 20, $"{left.Allocated} bytes for {Frames} frames received and sent");
        Assert.True(right.Allocated < Frames / 20, $"{right.Allocated} bytes for {Frames} frames received and sent");
    }

    private static NodeLoop Start(SocketPortKind kind, BreakingProxy proxy, Action<INode> create, Func<NumberedStream> stream)
    {
        var loop = NodeLoop.Start(new() { Cluster = "test", Port = kind, Advertise = proxy.Address.Text, Spin = TimeSpan.FromMicroseconds(20) }, node =>
        {
            create(node);
            node.Route(FrameType.Data, FrameType.Data, stream());
            node.Observe(stream());
        });
        proxy.Target = loop.Bound;
        return loop;
    }

    private sealed class Opening(INode node, BreakingProxy to) : NodeCommand
    {
        public override void Run() => node.Links.Open(to.Address);

        public override void Abandon(Exception reason)
        {
        }
    }

    // Sends back each frame it gets, and measures what its loop's thread allocates between the warm-up and the end.
    private sealed class Echo : IFrameHandler
    {
        private readonly INode _node;
        private readonly uint _warm;
        private readonly uint _frames;
        private readonly int[] _peer = new int[1];
        private readonly TaskCompletionSource _done = new(TaskCreationOptions.RunContinuationsAsynchronously);
        private uint _got;
        private long _before;

        public Echo(TestNode host, uint warm, uint frames)
        {
            (_node, _warm, _frames) = (host.Node, warm, frames);
            host.Redirect = this;
        }

        public Task Done => _done.Task;

        public long Allocated { get; private set; }

        public void OnFrame(int peer, in FrameHeader header, ReadOnlySpan<byte> body)
        {
            _got++;
            if (_got == _warm) _before = GC.GetAllocatedBytesForCurrentThread();
            if (_got == _warm + _frames)
            {
                Allocated = GC.GetAllocatedBytesForCurrentThread() - _before;
                _done.SetResult();
            }
            _peer[0] = peer;
            if (_got < _warm + _frames + 64) TestNode.Write(_node, _peer, header.View, body.Length);
        }
    }
}
