using GroupCore.Runtime;
using GroupCore.Wire;
using Ida.Kinds;
using Ida.Shared;
using Ida.Wire;

namespace Ida.Tests;

/// <summary>An answer that is not right to the last byte is refused and counted, and leaves nothing in the call that it is for.</summary>
public sealed class HostileAnswerTests
{
    private const ulong Lie = 999;

    /// <summary>What is wrong with the answer: bytes behind its end, parts of another shard, too few parts.</summary>
    public enum Fault
    {
        Behind, OtherShard, TooFew,
    }

    [Theory]
    [InlineData(Fault.Behind)]
    [InlineData(Fault.OtherShard)]
    [InlineData(Fault.TooFew)]
    public async Task R_what_a_bad_executed_says_is_not_a_result(Fault fault)
    {
        var world = DhtWorld.Founded(4);
        var (victim, put, head) = Begin(world);
        int count = fault == Fault.OtherShard ? 3 : fault == Fault.TooFew ? 1 : 2;
        AssertRefused(world, victim, DhtFrame.Executed, [.. head, .. Parts(count), .. Behind(fault)]);
        await AssertSoundAsync(world, put);
    }

    [Theory]
    [InlineData(Fault.Behind)]
    [InlineData(Fault.OtherShard)]
    [InlineData(Fault.TooFew)]
    public async Task R_what_a_bad_quiescent_says_is_not_a_result(Fault fault)
    {
        var world = DhtWorld.Founded(4);
        var (victim, put, head) = Begin(world);
        int count = fault == Fault.OtherShard ? 3 : fault == Fault.TooFew ? 1 : 2;
        AssertRefused(world, victim, DhtFrame.Quiescent, [.. head, .. BitConverter.GetBytes(Lie), 3, .. Parts(count), .. Behind(fault)]);
        await AssertSoundAsync(world, put);
    }

    [Fact]
    public async Task R_a_bad_answer_does_not_say_that_a_value_is_too_large()
    {
        var world = DhtWorld.Founded(4);
        var (victim, put, head) = Begin(world);
        AssertRefused(world, victim, DhtFrame.Quiescent, [.. head, .. BitConverter.GetBytes(Lie), 7, 0]);
        await AssertSoundAsync(world, put);
    }

    /// <summary>The member that issued the put is asked how it ended. Its answer has versions only with "executed", and then all of them.</summary>
    [Fact]
    public async Task R_a_bad_end_says_nothing()
    {
        var world = DhtWorld.Founded(4);
        var map = world.Members[1].Dht.Map<string, int>("ints");
        var first = map.PutAsync([new("a0", 1), new("a1", 1)]).AsTask();
        world.RunUntil(() => first.IsCompleted, "The first put");
        var next = map.PutAsync([new("a0", 2), new("a1", 2)]).AsTask();
        world.RunUntil(() => next.IsCompleted, "A put that acknowledges the first");
        var id = (await first).Operation;
        var victim = world.Members[3];
        var retry = victim.Dht.Map<string, int>("ints").PutAsync([new("a0", 1), new("a1", 1)], new() { Operation = id }).AsTask();
        world.Poke();
        for (int i = 0; i < 100 && !victim.Host.Current!.Coordinator.Standing().Any(static one => one.Op.Asks); i++)
            foreach (var (from, to) in world.Busy())
                if (!victim.Host.Current!.Coordinator.Standing().Any(static one => one.Op.Asks)) world.Deliver(from, to);
        var op = Assert.Single(victim.Host.Current!.Coordinator.Standing()).Op;
        Assert.True(op.Asks);
        byte[] head = Head(victim, 1, new(id, op.Attempt, op.Payload));
        AssertRefused(world, victim, DhtFrame.End, [.. head, (byte)EndStatus.Executed, .. EndParts(2), 0], from: 1);
        AssertRefused(world, victim, DhtFrame.End, [.. head, (byte)EndStatus.UnderWay, .. EndParts(2)], from: 1);
        AssertRefused(world, victim, DhtFrame.End, [.. head, (byte)EndStatus.Executed, .. EndParts(1)], from: 1);
        Assert.False(retry.IsCompleted);
        for (int part = 0; part < 2; part++) Assert.NotEqual(Lie, op.Parts[part].Version);
        world.RunUntil(() => retry.IsCompleted, "The retry");
        Assert.IsType<OutcomeForgottenException>(retry.Exception!.InnerException);
    }

    /// <summary>
    /// A commit that nobody decided ends the reader's own part of a read. Then the part comes again for other keys, as if the reader had taken over the read itself.
    /// </summary>
    [Theory]
    [InlineData(1)]
    [InlineData(4_096)]
    public async Task R_a_part_that_is_handed_on_in_the_name_of_the_reader_is_no_part_of_its_read(int keys)
    {
        var world = DhtWorld.Founded(4);
        var victim = world.Members[1];
        var read = victim.Dht.Map<string, int>("ints").GetAsync(["a0", "a1"], new() { Timeout = TimeSpan.FromSeconds(1) }).AsTask();
        world.Poke();
        var liar = world.Members[world.Waiting(1, 0) > 0 ? 0 : 2];
        var own = victim.Host.Current!.Participant.Records.Oldest!;
        byte[] head = Head(victim, victim.Rank, own.Key);
        victim.Deliver(new(DhtFrame.Commit, [.. head, .. BitConverter.GetBytes(own.Proposed + 1), 1], world.View!.Id, liar.Rank));
        Assert.Equal(0, victim.Host.Current.Participant.Records.Count);
        long before = victim.Node.Counters.Refused(RefusalReason.Unexpected);
        byte[] part = [1, (byte)victim.Rank, 0, .. head, 0, .. Propose([(byte)liar.Host.Current!.State.Slot, 1], keys, put: false)];
        victim.Deliver(new(DhtFrame.Forward, part, world.View.Id, liar.Rank));
        Assert.Equal(before + 1, victim.Node.Counters.Refused(RefusalReason.Unexpected));
        Assert.Equal(0, victim.Host.Current.Participant.Records.Count);
        await AssertEndsAndServesAsync(world, victim, read);
    }

    /// <summary>Only values can be too large for a frame. A caller that is told so of a put takes the put for not executed, and it may be executed.</summary>
    [Fact]
    public async Task R_a_put_is_not_said_to_have_too_much_to_tell()
    {
        var world = DhtWorld.Founded(4);
        var (victim, put, head) = Begin(world);
        long before = victim.Node.Counters.Refused(RefusalReason.Malformed);
        ulong time = victim.Host.Current!.Participant.Records.Oldest!.Proposed;
        for (int rank = 0; rank < 4; rank++)
            if (rank != victim.Rank) victim.Deliver(new(DhtFrame.Proposed, [.. head, .. BitConverter.GetBytes(time), 7], world.View!.Id, rank));
        Assert.Equal(before + 3, victim.Node.Counters.Refused(RefusalReason.Malformed));
        world.RunUntil(() => put.IsCompleted, "The put");
        Assert.Equal(3, (await put).Versions.Count);
    }

    /// <summary>Reads leave no outcomes. A member that says a read was executed long ago lies, and would make it end with keys that are not there.</summary>
    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    public async Task R_a_read_is_not_said_to_be_done(int parts)
    {
        var world = DhtWorld.Founded(4);
        var map = world.Members[1].Dht.Map<string, int>("ints");
        var put = map.PutAsync([new("a0", 1), new("a1", 2)]).AsTask();
        world.RunUntil(() => put.IsCompleted, "A put");
        var victim = world.Members[1];
        var read = victim.Dht.Map<string, int>("ints").GetAsync(["a0", "a1"]).AsTask();
        world.Poke();
        byte[] head = Head(victim, victim.Rank, Assert.Single(victim.Host.Current!.Coordinator.Standing()).Op.Running!.Key);
        long before = victim.Node.Counters.Refused(RefusalReason.Unexpected);
        for (int rank = 0; rank < 4; rank++)
            if (rank != victim.Rank) victim.Deliver(new(DhtFrame.Executed, [.. head, .. Parts(parts)], world.View!.Id, rank));
        Assert.Equal(before + 3, victim.Node.Counters.Refused(RefusalReason.Unexpected));
        world.RunUntil(() => read.IsCompleted, "The read");
        Assert.Equal([1, 2], (await read).Values.Order());
    }

    /// <summary>A member answers a read of a key that it does not hold, before the member that was asked does.</summary>
    [Theory]
    [InlineData((byte)ReadStatus.Found)]
    [InlineData((byte)ReadStatus.Absent)]
    [InlineData((byte)ReadStatus.NotInitialised)]
    [InlineData((byte)ReadStatus.Overloaded)]
    [InlineData((byte)ReadStatus.Misplaced)]
    public async Task R_an_answer_from_another_shard_is_none(byte status)
    {
        var world = DhtWorld.Founded(4);
        var (victim, liar) = (world.Members[1], world.Members[3]);
        var map = victim.Dht.Map<string, int>("ints");
        var put = map.PutAsync("a0", 1).AsTask();
        world.RunUntil(() => put.IsCompleted, "The put");
        ulong request = (await put).Operation.Sequence + 1;
        var read = map.GetAsync("a0").AsTask();
        world.Poke();
        Assert.False(read.IsCompleted);
        long before = victim.Node.Counters.Refused(RefusalReason.NotEntitled);
        for (ulong i = 0; i < 4; i++)
        {
            var bytes = new byte[32];
            var lie = new BodyWriter(bytes);
            lie.Var(request + i);
            lie.Var(1);
            lie.Var(0);
            lie.U8(status);
            lie.Var(Lie);
            if (status == (byte)ReadStatus.Found) lie.Raw([42]);
            victim.Deliver(new(DhtFrame.Value, lie.Written.ToArray(), world.View!.Id, liar.Rank));
        }
        Assert.False(read.IsCompleted);
        // Answers to calls that do not exist are ignored, as late answers are.
        Assert.Equal(before + 1, victim.Node.Counters.Refused(RefusalReason.NotEntitled));
        world.RunUntil(() => read.IsCompleted, "The read");
        Assert.Equal(1, (await read).Value);
    }

    /// <summary>A retry names a put, and a member is asked how it ended. Before it answers, that member proposes the very attempt itself, with other keys.</summary>
    [Fact]
    public async Task R_results_of_other_keys_than_the_callers_are_not_taken()
    {
        var world = DhtWorld.Founded(4);
        var (liar, victim) = (world.Members[1], world.Members[3]);
        var id = new OperationId(liar.Host.Current!.State.Session, 1001);
        var retry = victim.Dht.Map<string, int>("ints").PutAsync("a1", 1, new() { Operation = id, Timeout = TimeSpan.FromSeconds(1) }).AsTask();
        world.Poke();
        var op = Assert.Single(victim.Host.Current!.Coordinator.Standing()).Op;
        Assert.True(op.Asks);
        byte[] head = Head(victim, liar.Rank, new(id, op.Attempt + 1, op.Payload));
        victim.Deliver(new(DhtFrame.Propose, [.. head, 1, .. BitConverter.GetBytes(op.Payload), .. Propose([1, 3], 4_096, put: true)], world.View!.Id, liar.Rank));
        Assert.Equal(1, victim.Host.Current.Participant.Records.Count);
        victim.Deliver(new(DhtFrame.End, [.. Head(victim, liar.Rank, new(id, op.Attempt, op.Payload)), (byte)EndStatus.UnderWay, 0], world.View.Id, liar.Rank));
        Assert.True(op.Running is not null && !op.Parts[0].HasResult);
        await AssertEndsAndServesAsync(world, victim, retry);
    }

    /// <summary>A put of two keys in one shard and one in the other, of which only the caller's own participant has heard; and the head of answers to it.</summary>
    /// <summary>Stable and Aborted are an attempt and nothing more; Abort, Rejected, Recover and NotHeld are an attempt and one byte, which has few values.</summary>
    [Theory]
    [InlineData(196, "00")]
    [InlineData(199, "00")]
    [InlineData(198, "")]
    [InlineData(198, "02")]
    [InlineData(198, "0000")]
    [InlineData(200, "")]
    [InlineData(200, "FF")]
    [InlineData(200, "0000")]
    [InlineData(203, "")]
    [InlineData(203, "08")]
    [InlineData(203, "0000")]
    [InlineData(204, "")]
    [InlineData(204, "02")]
    [InlineData(204, "0000")]
    public async Task A_short_frame_that_is_not_right_to_its_last_byte_has_no_effect(byte type, string behind)
    {
        var world = DhtWorld.Founded(4);
        var (victim, put, head) = Begin(world);
        int held = victim.Host.Current!.Participant.Records.Count;
        AssertRefused(world, victim, (FrameType)type, [.. head, .. Convert.FromHexString(behind)]);
        Assert.Equal(held, victim.Host.Current.Participant.Records.Count);
        await AssertSoundAsync(world, put);
    }

    /// <summary>The DHT has types to spare, which no build sends yet.</summary>
    [Theory]
    [InlineData(216)]
    [InlineData(223)]
    public async Task A_type_of_the_dht_that_is_not_used_is_unknown(byte type)
    {
        var world = DhtWorld.Founded(4);
        var (victim, put, head) = Begin(world);
        victim.Deliver(new((FrameType)type, head, world.View!.Id, 0));
        victim.Deliver(new((FrameType)type, [], world.View!.Id, 0));
        Assert.Equal(2, victim.Node.Counters.Refused(RefusalReason.UnknownType));
        await AssertSoundAsync(world, put);
    }

    private static (HarnessMember Victim, Task<PutResult> Put, byte[] Head) Begin(DhtWorld world)
    {
        var victim = world.Members[1];
        var put = victim.Dht.Map<string, int>("ints").PutAsync([new("a0", 1), new("b0", 1), new("a1", 1)]).AsTask();
        world.Poke();
        return (victim, put, Head(victim, victim.Rank, victim.Host.Current!.Participant.Records.Oldest!.Key));
    }

    private static byte[] Head(HarnessMember at, int owner, in AttemptId key)
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
        for (int i = 0; i < count; i++) parts.Var(Lie);
        if (count > 0) PutReportCodec.Write(ref parts, new(Verdict.Failed, 0, "lie", null));
        return parts.Written.ToArray();
    }

    private static byte[] EndParts(int count)
    {
        var bytes = new byte[64];
        var parts = new BodyWriter(bytes);
        parts.Var((ulong)count);
        for (int i = 0; i < count; i++)
        {
            parts.Var(Lie);
            PutReportCodec.Write(ref parts, new(Verdict.Failed, 0, "lie", null));
        }
        return parts.Written.ToArray();
    }

    /// <summary>What follows the flags of a proposal, and the payload of a put: keys of the second shard.</summary>
    private static byte[] Propose(byte[] slots, int keys, bool put)
    {
        var bytes = new byte[64 + (keys * 20)];
        var to = new BodyWriter(bytes);
        to.Var(0);
        to.U64(5);
        to.Blob(slots);
        to.Var((ulong)keys);
        for (int i = 0; i < keys; i++)
        {
            to.Blob(DhtWorld.KeyOf("ints", (byte)(i >> 8), (byte)i, (byte)'1'));
            if (!put) continue;
            to.U8(1);
            to.Blob([1]);
        }
        return to.Written.ToArray();
    }

    private static async Task AssertEndsAndServesAsync(DhtWorld world, HarnessMember victim, Task call)
    {
        world.RunUntil(() => call.IsCompleted, "The call");
        var map = victim.Dht.Map<string, int>("ints");
        var put = map.PutAsync([new("z0", 1), new("z1", 2)]).AsTask();
        world.RunUntil(() => put.IsCompleted, "A put afterwards");
        Assert.Equal(2, (await put).Versions.Count);
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
    }
}
