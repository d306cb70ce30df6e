using GroupCore.Runtime;
using GroupCore.Transport;
using GroupCore.Transport.Mesh;
using GroupCore.Wire;

namespace GroupCore.Tests.Transport;

/// <summary>What a crowd of strangers that break no rule may cost in one turn, and may hold in the midst of one.</summary>
public sealed class CrowdTests
{
    private const string There = "127.0.0.1:5", Nowhere = "127.0.0.1:1";

    /// <summary>Timers fire and answers leave between turns, so the length of a turn must not depend on how many strangers send.</summary>
    [Fact]
    public void Strangers_that_send_without_end_share_a_turn_and_members_have_their_own()
    {
        const int strangers = 500, turnBytes = 64 << 10;
        var node = new ScriptedNode();
        int member = node.Mesh.Open(new(There), 77);
        var link = node.Dials(There);
        node.Answers(link, HelloStatus.Accepted, 77, 9);
        var all = Come(node, strangers);
        var frames = ScriptedNode.Frames(0, new uint[2 * turnBytes / FrameHeader.Size]);
        foreach (var stranger in all) stranger.Say(frames);
        link.Say(frames);
        node.Mesh.Poll();
        Assert.InRange(node.Got.Count(got => got.Peer != member) * FrameHeader.Size, 1, 2 << 20);
        Assert.InRange(node.Got.Count(got => got.Peer == member) * FrameHeader.Size, turnBytes / 2, turnBytes);
        // None of them starves.
        Assert.Equal(strangers, node.Got.Where(got => got.Peer != member).Select(static got => got.Peer).Distinct().Count());
    }

    /// <summary>A stranger that gives way gives its buffer back at once, and not only at the end of the turn.</summary>
    [Fact]
    public void Unfinished_frames_of_strangers_hold_no_more_than_is_said_at_any_moment_of_a_turn()
    {
        var node = new ScriptedNode();
        var all = Come(node, 1_100);
        var frame = Unfinished(300 << 10);
        foreach (var stranger in all) stranger.Say(frame);
        long most = 0;
        node.Port.AfterRead = () => most = Math.Max(most, node.Mesh.SlabBytes);
        for (int i = 0; i < 400; i++) node.Turn();
        Assert.InRange(node.Node.Counters.Refused(RefusalReason.Displaced), 1, 1_100);
        Assert.InRange(most, LinkLimits.StrangersInputBytes - LinkLimits.FrameBytes, LinkLimits.StrangersInputBytes + (2 * LinkLimits.FrameBytes));
    }

    [Fact]
    public void Unfinished_frames_of_those_for_whom_nobody_vouches_any_more_give_way()
    {
        var node = new ScriptedNode();
        var all = Come(node, 100);
        foreach (var (peer, _) in node.News.ToArray()) node.Mesh.Vouch(peer);
        foreach (var stranger in all) stranger.Say(Unfinished(LinkLimits.FrameBytes - 1));
        for (int i = 0; i < 200; i++) node.Turn();
        Assert.True(node.Mesh.SlabBytes >= 100L << 20);
        Assert.Equal(0, node.Node.Counters.Refused(RefusalReason.Displaced));
        node.Pass(61 * ScriptedNode.Second);
        Assert.InRange(node.Mesh.SlabBytes, LinkLimits.StrangersInputBytes / 2, LinkLimits.StrangersInputBytes + LinkLimits.FrameBytes);
    }

    /// <summary>A guest registers, takes nothing, goes, and comes again under another id: what waits for each id does not stay.</summary>
    [Fact]
    public void What_waits_for_one_that_nobody_needs_any_more_goes_with_its_vouch()
    {
        var node = new ScriptedNode();
        node.Come(1_000, There, 1);
        int peer = node.Mesh.Open(new(There), 1_000);
        node.Mesh.Hold(peer);
        for (uint i = 0; i < 50; i++) node.Send(peer, i, 60_000);
        node.Turn();
        node.Mesh.Release(peer);
        Assert.InRange(node.Mesh.SlabBytes, 50 * 60_000, 8 << 20);
        node.Pass(61 * ScriptedNode.Second);
        Assert.Equal((peer, LinkFault.Overflow), (node.News[^1].Peer, node.News[^1].Fault));
        Assert.InRange(node.Mesh.SlabBytes, 0, 1 << 20);
    }

    /// <summary>Numbers are never used again. A stranger that makes nothing but new links would use them up in some days.</summary>
    [Fact]
    public void Newcomers_leave_the_numbers_that_are_kept_for_those_who_are_asked_for()
    {
        const int numbers = 5;
        var node = new ScriptedNode(mostGuestNumbers: numbers);
        var all = Come(node, numbers);
        int one = node.News[0].Peer;
        Assert.Equal(HelloStatus.Full, node.Come(2_000, Nowhere, 1).Answer);
        for (int i = 1; i < 10; i++)
        {
            string there = $"127.0.0.1:{2_000 + i}";
            node.Mesh.Open(new(there), 2_000 + (ulong)i);
            node.Answers(node.Dials(there), HelloStatus.Accepted, 2_000 + (ulong)i, 9);
        }
        // A guest that is here stays, and may come again.
        ulong token = HelloAckFrame.TryRead(all[0].Heard(FrameType.HelloAck)[^1], out var ack) ? ack.Token : 0;
        all[0].End();
        node.Turn();
        Assert.Equal(HelloStatus.Accepted, node.Come(1_000, Nowhere, 1, token).Answer);
        Assert.Equal((one, null), node.News[^1]);
    }

    /// <summary>Each guest comes, is vouched for, takes what it asked for, and rests.</summary>
    [Theory, InlineData(0), InlineData(1)]
    public void Guests_for_whom_nobody_vouches_any_more_hold_the_buffers_of_strangers(int kept)
    {
        const int guests = 100, size = 3_000;
        var node = new ScriptedNode();
        var all = Come(node, guests);
        int[] peers = [.. node.News.Select(static news => news.Peer)];
        var taken = new byte[SegmentFrame.Size];
        new SegmentFrame(0, 100 + FrameHeader.Size, false).Write(taken);
        foreach (int peer in peers)
        {
            node.Mesh.Vouch(peer);
            node.Send(peer, 1, 100);
            // Frames for many fill the slabs in which this one lies.
            for (uint i = 0; i < kept; i++) node.Send(peer, 2, size);
        }
        node.Turn();
        foreach (var guest in all) guest.Say(taken);
        node.Turn();
        Assert.InRange(node.Mesh.SlabBytes, guests * SlabPool.SmallBytes, long.MaxValue);
        node.Pass(61 * ScriptedNode.Second);
        Assert.InRange(node.Mesh.SlabBytes, 0, (kept * guests * LinkLimits.StrangerBytes) + (4 * SlabPool.SmallBytes));
        Assert.Equal(guests, node.Mesh.Live);
    }

    private static List<ScriptedPort.OtherEnd> Come(ScriptedNode node, int strangers)
    {
        var all = new List<ScriptedPort.OtherEnd>();
        for (int i = 0; i < strangers; i++) all.Add(node.Come(1_000 + (ulong)i, Nowhere, 1));
        Assert.All(all, static stranger => Assert.Equal(HelloStatus.Accepted, stranger.Answer));
        return all;
    }

    private static byte[] Unfinished(int bytes)
    {
        var frame = new byte[SegmentFrame.Size + bytes];
        new SegmentFrame(0, 0, false).Write(frame);
        FrameHeader.Write(frame.AsSpan(SegmentFrame.Size), FrameType.Data, 0, 0, LinkLimits.FrameBytes - FrameHeader.Size);
        return frame;
    }
}
