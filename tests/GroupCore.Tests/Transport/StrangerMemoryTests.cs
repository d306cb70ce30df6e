using GroupCore.Hosting;
using GroupCore.Runtime;
using GroupCore.Transport;
using GroupCore.Transport.Mesh;
using GroupCore.Wire;

namespace GroupCore.Tests.Transport;

/// <summary>What buffers a node keeps for nodes that only dialled in: these may be many, and cost whoever sends them nothing.</summary>
public sealed class StrangerMemoryTests
{
    private const string Nowhere = "127.0.0.1:1";
    private const int Strangers = 200;

    /// <summary>The buffers of the loop itself: what is being encoded and received.</summary>
    private const long Own = 20 * SlabPool.SmallBytes;

    public static TheoryData<string> Ports => TcpMeshTests.Ports;

    [Theory, MemberData(nameof(Ports))]
    public async Task Strangers_that_asked_and_took_the_answer_hold_no_buffers(string port)
    {
        await using var b = Answering(port);
        var all = new List<RawPeer>();
        try
        {
            int answers = 0;
            for (ulong id = 100; id < 100 + Strangers; id++)
            {
                var stranger = Connected(b, id, (_, _) => answers++);
                all.Add(stranger);
                stranger.Write(Question());
                stranger.Flush();
                int before = all.Count;
                Assert.True(stranger.Wait(() => answers == before, 60_000));
                // This frame acknowledges the answer.
                stranger.Write(Question());
                Assert.True(stranger.Settle() && stranger.IsUp);
            }
            Assert.InRange(await Held(b), 0, Own);
        }
        finally
        {
            all.ForEach(stranger => stranger.Dispose());
        }
    }

    [Theory, MemberData(nameof(Ports))]
    public async Task Strangers_that_take_no_answer_hold_what_may_wait_for_a_stranger(string port)
    {
        await using var b = Answering(port);
        var all = new List<RawPeer>();
        try
        {
            for (ulong id = 100; id < 100 + Strangers; id++)
            {
                all.Add(Connected(b, id));
                all[^1].Write(Question());
                Assert.True(all[^1].Settle() && all[^1].IsUp);
            }
            Assert.InRange(await Held(b), 1, (Strangers * LinkLimits.StrangerBytes) + Own);
        }
        finally
        {
            all.ForEach(stranger => stranger.Dispose());
        }
    }

    /// <summary>A frame that is long in coming holds a buffer of its size. A member may do that, and strangers only up to a limit.</summary>
    [Theory, MemberData(nameof(Ports))]
    public async Task Strangers_in_the_midst_of_large_frames_give_way_when_they_hold_too_much_and_members_do_not(string port)
    {
        await using var b = Answering(port);
        var all = new List<RawPeer>();
        var frame = new byte[LinkLimits.FrameBytes];
        FrameHeader.Write(frame, FrameType.Data, 0, 0, frame.Length - FrameHeader.Size);
        try
        {
            using var member = Connected(b, 50);
            int known = await b.Saw(null);
            await b.Do(node => node.Links.Vouch(known));
            member.Write(frame.AsSpan(0, frame.Length - 1));
            for (ulong id = 100; id < 200; id++)
            {
                all.Add(Connected(b, id));
                all[^1].Write(frame.AsSpan(0, frame.Length - 1));
            }
            await b.Until(() => b.Refused(RefusalReason.Displaced) > 0, "no stranger was displaced");
            // The last stranger is read last: when its frame is here, all have been read.
            all[^1].WriteRaw([0]);
            await b.Until(() => b.Got == 1, "the last one's frame is missing");
            Assert.InRange(await Held(b), 0, LinkLimits.StrangersInputBytes + LinkLimits.FrameBytes + Own);
            member.WriteRaw([0]);
            await b.Until(() => b.Got == 2, "the member's frame is missing");
        }
        finally
        {
            all.ForEach(stranger => stranger.Dispose());
        }
    }

    // Answers the first frame of each.
    private static TestNode Answering(string port)
    {
        var node = new TestNode(Enum.Parse<SocketPortKind>(port));
        var asked = new HashSet<int>();
        node.OnData = (guest, _, _) =>
        {
            if (asked.Add(guest)) TestNode.Write(node.Node, [guest], 0, 3_000, strangers: true);
        };
        return node;
    }

    private static RawPeer Connected(TestNode to, ulong id, Action<FrameHeader, byte[]>? onFrame = null)
    {
        var peer = new RawPeer("test", id, Nowhere, 1, onFrame);
        Assert.Equal(HelloStatus.Accepted, peer.Connect(to.Address));
        return peer;
    }

    private static byte[] Question()
    {
        var frame = new byte[FrameHeader.Size];
        FrameHeader.Write(frame, FrameType.Data, 0, 0, 0);
        return frame;
    }

    private static Task<long> Held(TestNode node) => node.Do(inner => ((TcpMesh)inner.Links).SlabBytes);
}
