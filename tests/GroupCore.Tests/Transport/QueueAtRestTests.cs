using System.Buffers;
using System.Runtime.CompilerServices;
using GroupCore.Transport;
using GroupCore.Transport.Mesh;
using GroupCore.Transport.Sockets;

namespace GroupCore.Tests.Transport;

/// <summary>What a link keeps of a burst when all of it is acknowledged.</summary>
public sealed class QueueAtRestTests
{
    /// <summary>The pool keeps 16 MiB of each size for the next burst, and no link keeps the rest.</summary>
    [Theory, InlineData(false), InlineData(true)]
    public void Slabs_of_a_burst_to_many_live_on_in_the_pool_alone(bool closed)
    {
        var pool = new SlabPool();
        var sessions = Enumerable.Range(0, 40).Select(i => new LinkSession(i, pool, LinkCarrier.Connection)).ToList();
        var slabs = Burst(pool, sessions, closed);
        Assert.Equal(0, pool.RentedBytes);
        GC.Collect();
        Assert.InRange(slabs.Count(static slab => slab.IsAlive), 0, 16);
        GC.KeepAlive(sessions);
        GC.KeepAlive(pool);
    }

    /// <summary>At its end a mesh lets go of all slabs that it holds. One that remained would be held by nobody, and a simulation would fail for it.</summary>
    [Fact]
    public void A_mesh_lets_go_of_all_its_slabs()
    {
        var node = new ScriptedNode();
        int up = node.Mesh.Open(new("127.0.0.1:5"), 77), down = node.Mesh.Open(new("127.0.0.1:6"), 78), over = node.Mesh.Open(new("127.0.0.1:8"), 79);
        node.Port.Tell(node.Port.Dialled[0], DialResult.Connected);
        node.Answers(node.Port.Dialled[0], HelloStatus.Accepted, 77, 9);
        node.Port.Dialled[0].Say(ScriptedNode.Frames(0, 1)[..^5]);
        node.Come(80, "127.0.0.1:9", 5).Say(new byte[5]);
        foreach (int peer in new[] { up, down, over })
            foreach (int size in new[] { 10, 100_000, 500_000 }) node.Send(peer, 0, size);
        node.Mesh.GiveUp(over);
        node.Turn();
        node.Mesh.Dispose();
        Assert.InRange(node.Mesh.SlabBytes, 1 << 20, long.MaxValue);
        node.Mesh.LetGo();
        Assert.Equal(0, node.Mesh.SlabBytes);
    }

    /// <summary>A run of multicasts behind a frame of more than 256 KiB is copied for each member that does not get that frame: 256 KiB each.</summary>
    [Fact]
    public void Large_buffers_of_links_are_given_back_when_all_is_acknowledged()
    {
        const int large = (256 << 10) + 20, run = 100_000;
        var pool = new SlabPool();
        var buffer = new SendBuffer(pool);
        var sessions = Enumerable.Range(0, 40).Select(i => new LinkSession(i, pool, LinkCarrier.Connection)).ToList();
        buffer.Reserve(large);
        buffer.AppendShared(sessions[0], large);
        buffer.Commit(large);
        buffer.Reserve(run);
        foreach (var session in sessions) buffer.AppendShared(session, run);
        buffer.Commit(run);
        Assert.InRange(pool.RentedBytes, 39L * SlabPool.MediumBytes, long.MaxValue);
        foreach (var session in sessions) TakeAll(session, session == sessions[0] ? large + run : run);
        Assert.InRange(pool.RentedBytes, 0, LinkLimits.FrameBytes);
        // Buffers of the usual size are kept, since each small frame would ask the pool for one.
        foreach (var session in sessions) session.AppendCopy(new byte[100]);
        Assert.Equal((40L * SlabPool.SmallBytes) + LinkLimits.FrameBytes, pool.RentedBytes);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static List<WeakReference> Burst(SlabPool pool, List<LinkSession> sessions, bool closed)
    {
        const int length = 300_000;
        var slabs = new List<WeakReference>();
        foreach (var session in sessions)
        {
            var slab = pool.Rent(length);
            session.AppendSlice(slab, 0, length);
            slab.Release();
            slabs.Add(new(slab));
        }
        foreach (var session in sessions)
        {
            if (closed) session.Close();
            else TakeAll(session, length);
        }
        return slabs;
    }

    /// <summary>If frames for one and for all alternate, each is a slice.</summary>
    [Fact]
    public void Places_for_slices_are_given_back_some_time_after_the_burst_that_needed_them()
    {
        var (queue, slab) = Bursted(10_000);
        Assert.Equal(16_384, queue.Places);
        for (int i = 0; i < 300; i++)
        {
            Append(queue, slab, 1);
            queue.TrimTo(queue.End);
        }
        Assert.InRange(queue.Places, 1, 1_024);
        (queue, _) = Bursted(10_000);
        queue.Clear();
        Assert.InRange(queue.Places, 1, 1_024);
    }

    /// <summary>Otherwise each burst would allocate its places anew.</summary>
    [Fact]
    public void Bursts_that_come_again_and_again_use_the_same_places()
    {
        var (queue, slab) = Bursted(5_000);
        long before = GC.GetAllocatedBytesForCurrentThread(), slices = 0;
        for (int i = 0; i < 1_000; i++, slices += 5_000)
        {
            Append(queue, slab, 5_000);
            queue.TrimTo(queue.End);
        }
        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, slices);
    }

    private static (SliceQueue Queue, Slab Slab) Bursted(int slices)
    {
        var queue = new SliceQueue();
        var slab = new SlabPool().Rent(SlabPool.SmallBytes);
        Append(queue, slab, slices);
        return (queue, slab);
    }

    // No two slices follow each other in the slab.
    private static void Append(SliceQueue queue, Slab slab, int slices)
    {
        for (int i = 0; i < slices; i++) queue.Append(slab, i % 2 * 100, 20, shared: false);
    }

    private static void TakeAll(LinkSession session, long length)
    {
        var write = new ArrayBufferWriter<byte>();
        Assert.True(session.Attach(0) && session.TryTakeWrite(write, 0));
        while (session.TryTakeWrite(write, 0))
        {
        }
        session.Detach();
        Assert.True(session.Attach(length));
    }
}
