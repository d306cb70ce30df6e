using GroupCore.Runtime;
using GroupCore.Wire;
using Ida.Wire;

namespace Ida.Tests;

/// <summary>An answer that is not what it should be to the last byte is refused and counted, and leaves nothing in the call that it is for.</summary>
public sealed class HostileAnswerTests
{
    private const ulong Lie = 999;

    /// <summary>Where the answer lies: bytes behind its end, parts of another shard, too few parts.</summary>
    public enum Fault
    {
        Behind, OtherShard, TooFew,
    }

    [Theory]
    [InlineData(Fault.Behind)]
    [InlineData(Fault.OtherShard)]
    [InlineData(Fault.TooFew)]
    public async Task R_what_a_bad_done_says_is_not_a_result(Fault fault)
    {
        var world = DhtWorld.Founded(4);
        var (victim, put, head) = Begin(world);
        int count = fault == Fault.OtherShard ? 3 : fault == Fault.TooFew ? 1 : 2;
        AssertRefused(world, victim, DhtFrame.Done, [.. head, .. Parts(count), .. Behind(fault)]);
        await AssertSoundAsync(world, put);
    }

    [Theory]
    [InlineData(Fault.Behind)]
    [InlineData(Fault.OtherShard)]
    [InlineData(Fault.TooFew)]
    public async Task R_what_a_bad_clear_says_is_not_a_result(Fault fault)
    {
        var world = DhtWorld.Founded(4);
        var (victim, put, head) = Begin(world);
        int count = fault == Fault.OtherShard ? 3 : fault == Fault.TooFew ? 1 : 2;
        AssertRefused(world, victim, DhtFrame.Clear, [.. head, .. BitConverter.GetBytes(Lie), 3, .. Parts(count), .. Behind(fault)]);
        await AssertSoundAsync(world, put);
    }

    [Fact]
    public async Task R_a_bad_answer_does_not_say_that_a_value_is_too_large()
    {
        var world = DhtWorld.Founded(4);
        var (victim, put, head) = Begin(world);
        AssertRefused(world, victim, DhtFrame.Clear, [.. head, .. BitConverter.GetBytes(Lie), 7, 0]);
        await AssertSoundAsync(world, put);
    }

    /// <summary>The member that issued the put is asked how it ended; its answer has no versions but with "executed", and then all.</summary>
    [Fact]
    public async Task R_a_bad_end_says_nothing()
    {
        var world = DhtWorld.Founded(4);
        var map = world.Members[1].Dht.Map<string, int>("m");
        var first = map.OrderedPutAsync([new("a0", 1), new("a1", 1)]).AsTask();
        world.RunUntil(() => first.IsCompleted, "The first put");
        var next = map.OrderedPutAsync([new("a0", 2), new("a1", 2)]).AsTask();
        world.RunUntil(() => next.IsCompleted, "A put that acknowledges the first");
        var id = (await first).Operation;
        var victim = world.Members[3];
        var retry = victim.Dht.Map<string, int>("m").OrderedPutAsync([new("a0", 1), new("a1", 1)], new() { Operation = id }).AsTask();
        world.Poke();
        for (int i = 0; i < 100 && !victim.Host.Current!.Coordinator.Standing().Any(static one => one.Op.Asks); i++)
            foreach (var (from, to) in world.Busy())
                if (!victim.Host.Current!.Coordinator.Standing().Any(static one => one.Op.Asks)) world.Deliver(from, to);
        var op = Assert.Single(victim.Host.Current!.Coordinator.Standing()).Op;
        Assert.True(op.Asks);
        byte[] head = Head(victim, 1, new(id, op.Attempt, op.Payload));
        AssertRefused(world, victim, DhtFrame.End, [.. head, (byte)EndStatus.Executed, .. Parts(2), 0], from: 1);
        AssertRefused(world, victim, DhtFrame.End, [.. head, (byte)EndStatus.UnderWay, .. Parts(2)], from: 1);
        AssertRefused(world, victim, DhtFrame.End, [.. head, (byte)EndStatus.Executed, .. Parts(1)], from: 1);
        Assert.False(retry.IsCompleted);
        for (int part = 0; part < 2; part++) Assert.NotEqual(Lie, op.Parts[part].Version);
        world.RunUntil(() => retry.IsCompleted, "The retry");
        Assert.IsType<OutcomeForgottenException>(retry.Exception!.InnerException);
    }

    /// <summary>A put of two keys in one shard and one in the other, of which the own participant has heard only, and the head of answers to it.</summary>
    private static (HarnessMember Victim, Task<PutResult> Put, byte[] Head) Begin(DhtWorld world)
    {
        var victim = world.Members[1];
        var put = victim.Dht.Map<string, int>("m").OrderedPutAsync([new("a0", 1), new("b0", 1), new("a1", 1)]).AsTask();
        world.Poke();
        return (victim, put, Head(victim, victim.Rank, victim.Host.Current!.Participant.Oldest!.Key));
    }

    private static byte[] Head(HarnessMember at, int owner, in Ordering.OpKey key)
    {
        var bytes = new byte[64];
        var head = new BodyWriter(bytes);
        FrameHead.Write(ref head, owner, key);
        return head.Written.ToArray();
    }

    private static byte[] Parts(int count)
    {
        var bytes = new byte[64];
        var parts = new BodyWriter(bytes);
        parts.Var((ulong)count);
        for (int i = 0; i < count; i++)
        {
            parts.Var(Lie);
            parts.Blob("lie"u8);
        }
        return parts.Written.ToArray();
    }

    private static byte[] Behind(Fault fault) => fault == Fault.Behind ? [0] : [];

    private static void AssertRefused(DhtWorld world, HarnessMember victim, FrameType type, byte[] body, int from = 0)
    {
        long before = victim.Node.Counters.Refused(RefusalReason.Malformed);
        victim.Deliver(new(type, body, world.View!.Id, from));
        Assert.Equal(before + 1, victim.Node.Counters.Refused(RefusalReason.Malformed));
    }

    private static async Task AssertSoundAsync(DhtWorld world, Task<PutResult> put)
    {
        Assert.False(put.IsCompleted);
        world.RunUntil(() => put.IsCompleted, "The put");
        var result = await put;
        Assert.Equal(3, result.Versions.Count);
        Assert.DoesNotContain(Lie, result.Versions);
        Assert.Empty(result.Errors);
    }
}
