using System.Buffers.Binary;
using GroupCore.Runtime;
using GroupCore.Wire;

namespace GroupCore.Tests.Groups;

/// <summary>Members of a running group get frames that no member would send: nothing throws, the frames are counted, and the group goes on in agreement.</summary>
public sealed class HostileFrameTests
{
    private static readonly FrameType[] s_types =
    [
        FrameType.Bind, FrameType.Data, FrameType.Order, FrameType.Ack, FrameType.Peer, FrameType.PeerAck, FrameType.Reply, FrameType.Report,
        FrameType.Cut, FrameType.CutPart, FrameType.Pull, FrameType.Forward, FrameType.FlushAck, FrameType.FlushWait, FrameType.StateOpen,
        FrameType.StateChunk, FrameType.StateAck, FrameType.StateEnd, FrameType.FirstLayer,
    ];

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void Frames_of_no_meaning_are_counted_and_change_nothing(ulong seed)
    {
        using var cluster = new GroupCluster(40 + seed, 3);
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        var target = cluster[0];
        var random = new Prng(seed);
        int given = 0;
        for (int round = 0; round < 40; round++)
        {
            foreach (var member in cluster.Members)
            {
                _ = cluster.Simulation.Spawn(() => member.SendAsync(ordered: true));
                _ = cluster.Simulation.Spawn(() => member.SendAsync(ordered: false));
            }
            // Some of them while the member is wedged.
            if (round % 10 == 5) cluster.Oracle.RequestView(cluster.Oracle.Find("g")!.Id);
            cluster.Simulation.After(TimeSpan.FromMilliseconds(random.Next(1, 20)), () => target.SimNode.Post(() =>
            {
                for (int i = 0; i < 100; i++, given++) Give(target, random);
            }));
            cluster.Simulation.Run(TimeSpan.FromMilliseconds(25));
        }
        Assert.Equal(4_000, given);
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(2));
        Assert.Null(cluster.Verdict());
        var counters = target.SimNode.Node.Counters;
        Assert.True(counters.Refused(RefusalReason.Malformed) > 500, $"{counters.Refused(RefusalReason.Malformed)} malformed");
        Assert.True(counters.Refused(RefusalReason.Unbound) > 500, $"{counters.Refused(RefusalReason.Unbound)} unbound");
        Assert.Equal(0, counters.Refused(RefusalReason.UnknownType));
    }

    /// <summary>
    /// A body too short for its type, or cut short, or with counts that promise more than follows: never one that an honest member could
    /// have sent, since a group cannot survive a member that lies well.
    /// </summary>
    private static void Give(TestMember target, Prng random)
    {
        var view = target.Group!.Protocol.View!;
        var type = s_types[random.Next(s_types.Length)];
        bool known = random.Chance(0.7);
        int peer = known ? target.SimNode.Node.Links.Open(view.Members[(target.Group.Protocol.Rank + 1) % view.Members.Count].Address) : 5_000;
        byte[] body = new byte[random.Next(0, 40)];
        for (int i = 0; i < body.Length; i++) body[i] = (byte)random.Next(256);
        Spoil(type, ref body);
        byte[] frame = new byte[FrameHeader.Size + body.Length];
        FrameHeader.Write(frame, type, SlotOf(target), (uint)view.Id, body.Length);
        Assert.True(FrameHeader.TryRead(frame, out var header));
        target.Host.OnFrame(peer, header, body);
    }

    private static ushort SlotOf(TestMember target) => target.Group!.Protocol.Slot;

    private static void Spoil(FrameType type, ref byte[] body)
    {
        switch (type)
        {
            case FrameType.Bind when body.Length == 16: body = body[1..]; break;
            case FrameType.Data or FrameType.Order or FrameType.Ack or FrameType.PeerAck or FrameType.Reply: body = body[..Math.Min(body.Length, 1)]; break;
            case FrameType.Peer: body = body[..Math.Min(body.Length, 8)]; break;
            // Flush frames name a proposal that is over or one that will never be: with any other number they could be the group's own.
            case FrameType.Report or FrameType.Cut or FrameType.CutPart or FrameType.Pull or FrameType.Forward or FrameType.FlushAck or FrameType.FlushWait when body.Length >= 8:
                BinaryPrimitives.WriteUInt64LittleEndian(body, (body[0] & 1) == 0 ? 0 : ulong.MaxValue);
                break;
        }
    }
}
