using System.Diagnostics;
using GroupCore.Groups;
using GroupCore.Groups.Views;
using GroupCore.Membership;
using GroupCore.Runtime;
using GroupCore.Wire;

namespace GroupCore.Tests.Groups;

/// <summary>Frames held for views to come stay in order, are counted right and cost a turn little, however many peers send however small frames.</summary>
public sealed class EarlyFramesTests
{
    private static readonly GroupId s_group = new(1, 1);

    private static bool Add(EarlyFrames early, ulong view, int peer, GroupId? group = null, byte[]? body = null)
    {
        byte[] frame = new byte[FrameHeader.Size];
        FrameHeader.Write(frame, FrameType.Data, 1, (uint)view, body?.Length ?? 0);
        Assert.True(FrameHeader.TryRead(frame, out var header));
        return early.TryAdd(group ?? s_group, view, peer, header, body ?? []);
    }

    /// <summary>A frame that finds no room costs the peer that holds most all of its frames, and no other frame is touched.</summary>
    [Fact]
    public void Making_room_touches_only_the_frames_that_are_dropped()
    {
        const int peers = 256, each = 256, more = 10_000;
        var early = new EarlyFrames(peers * each * 64);
        for (int i = 0; i < each; i++)
            for (int peer = 0; peer < peers; peer++) Assert.True(Add(early, 5, peer));
        Assert.Equal(peers * each * 64, early.Bytes);
        long before = GC.GetAllocatedBytesForCurrentThread();
        for (int peer = peers; peer < peers + more; peer++) Assert.True(Add(early, 5, peer));
        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, more * 1_000);
        Assert.Equal(more, early.Take(static frame => frame.Peer >= peers).Count);
    }

    [Fact]
    public void Refusing_a_frame_of_a_peer_that_lost_frames_takes_the_same_time_however_many_peers_lost_some()
    {
        var (few, many) = (new EarlyFrames(1 << 20), new EarlyFrames(1 << 20));
        byte[] tooLarge = new byte[(int)GroupLimits.EarlyBytesOfMember];
        Assert.False(Add(few, 64, 64, body: tooLarge));
        for (ulong view = 1; view <= 64; view++)
            for (int peer = 1; peer <= 64; peer++) Assert.False(Add(many, view, peer, body: tooLarge));
        // The best of several runs, in which nothing else ran.
        long Least(EarlyFrames early)
        {
            long least = long.MaxValue;
            for (int i = 0; i < 20; i++)
            {
                long began = Stopwatch.GetTimestamp();
                for (int j = 0; j < 500; j++) Assert.False(Add(early, 64, 64));
                least = Math.Min(least, Stopwatch.GetTimestamp() - began);
            }
            return least;
        }

        Least(few);
        Assert.InRange(Least(many), 0, 10 * Least(few));
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void What_is_taken_is_in_order_of_arrival_and_what_stays_is_counted(ulong seed)
    {
        var random = new Prng(seed);
        var early = new EarlyFrames(1 << 30);
        var held = new List<(uint Number, GroupId Group, ulong View, int Peer)>();
        var lost = new List<(GroupId Group, ulong View, int Peer)>();
        byte[] tooLarge = new byte[(int)GroupLimits.EarlyBytesOfMember];
        for (uint step = 0; step < 5_000; step++)
        {
            var (group, view, peer) = (new GroupId((uint)random.Next(3), 1), (ulong)random.Next(20), random.Next(10));
            int choice = random.Next(200);
            if (choice == 0) Compare(early.Take(frame => frame.View < view), one => one.View < view);
            else if (choice == 1) Compare(early.Take(frame => frame.Group == group), one => one.Group == group);
            else if (choice == 2) Compare(early.Take(peer), one => one.Peer == peer);
            else if (choice == 3)
            {
                early.Forget(view);
                lost.RemoveAll(one => one.View < view);
            }
            else if (choice == 4)
            {
                var other = new EarlyFrames(1 << 30);
                other.TakeLost(early, group);
                for (ulong of = 0; of < 20; of++) Assert.Equal(lost.Contains((group, of, peer)), other.IsLost(group, of, peer));
                lost.RemoveAll(one => one.Group == group);
            }
            else if (choice == 5 && !lost.Contains((group, view, peer)))
            {
                Assert.False(Add(early, view, peer, group, tooLarge));
                lost.Add((group, view, peer));
                lost.AddRange(held.Where(one => one.Peer == peer).Select(static one => (one.Group, one.View, one.Peer)));
                held.RemoveAll(one => one.Peer == peer);
            }
            else
            {
                bool added = early.TryAdd(group, view, peer, new(0, 0, FrameType.Data, 1, step), default);
                Assert.Equal(!lost.Contains((group, view, peer)), added);
                if (added) held.Add((step, group, view, peer));
            }
            Assert.Equal(64L * held.Count, early.Bytes);
            Assert.Equal(held.Exists(one => one.Peer == peer), early.Holds(peer));
            Assert.Equal(lost.Contains((group, view, peer)), early.IsLost(group, view, peer));
        }

        void Compare(List<EarlyFrame> taken, Predicate<(uint Number, GroupId Group, ulong View, int Peer)> which)
        {
            Assert.Equal(held.FindAll(which).Select(static one => one.Number), taken.Select(static frame => frame.Header.View));
            held.RemoveAll(which);
        }
    }
}
