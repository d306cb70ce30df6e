using GroupCore.Runtime;
using Ida.Kinds;
using Ida.Shared;
using Ida.Wire;

namespace Ida.Tests;

/// <summary>Answers whose report on a put is damaged: they are refused and counted, and leave nothing in the call that they are for.</summary>
public sealed class HostileReportTests
{
    private const int Victim = 1, Liar = 0;
    private const ulong Lie = 999;

    public static TheoryData<string, bool> Damages()
    {
        var data = new TheoryData<string, bool>();
        foreach (string frame in (string[])["Executed", "Proposed", "Quiescent"])
            foreach (bool merge in (bool[])[false, true]) data.Add(frame, merge);
        return data;
    }

    [Theory]
    [MemberData(nameof(Damages))]
    public async Task A_damaged_report_is_no_answer(string frame, bool merge)
    {
        var world = DhtWorld.Founded(4);
        var map = world.Members[Victim].Dht.Map<string, string>("texts");
        await world.EndAsync(map.PutAsync([new("a0", "x"), new("b0", "x")]));
        world.Settle();
        Task<string?> call = merge ? map.MergeAsync("a0", 5).AsTask() : TextAsync(world.Members[Victim].Dht.NewBatch().Expect(map, "a0", 1).Put(map, "b0", "y").CommitAsync());
        world.Poke();
        var victim = world.Members[Victim];
        var op = Assert.Single(victim.Host.Current!.Coordinator.Standing()).Op;
        byte[] versions = merge ? [1, .. Number(Lie)] : [2, .. Number(Lie), .. Number(Lie)];
        foreach (byte[] report in Damaged(merge ? 1 : 2))
        {
            long before = victim.Node.Counters.Refused(RefusalReason.Malformed);
            victim.Deliver(new(FrameOf(frame), [.. Head(op.Running!.Key), .. versions, .. report], world.View!.Id, world.Members[Liar].Rank));
            Assert.Equal(before + 1, victim.Node.Counters.Refused(RefusalReason.Malformed));
            for (int part = 0; part < op.PartCount; part++) Assert.True(op.Parts[part] is { HasResult: false, Report: null });
        }
        Assert.False(call.IsCompleted);
        world.RunUntil(() => call.IsCompleted, "The call");
        Assert.Equal(merge ? "x5" : "False", await call);
        world.AssertIdle();

        byte[] Head(in AttemptId key)
        {
            var to = new BodyWriter(new byte[100]);
            FrameHead.Write(ref to, victim.Rank, key);
            if (frame == "Executed") return to.Written.ToArray();
            to.U64(Lie);
            to.U8(3);
            return to.Written.ToArray();
        }
    }

    /// <summary>The same frames with sound reports are taken, so it is the reports that are refused.</summary>
    [Theory]
    [InlineData("Executed")]
    [InlineData("Proposed")]
    [InlineData("Quiescent")]
    public void A_sound_report_is_an_answer(string frame)
    {
        var world = DhtWorld.Founded(4);
        var map = world.Members[Victim].Dht.Map<string, string>("texts");
        var victim = world.Members[Victim];
        var call = map.MergeAsync("a0", 5).AsTask();
        world.Poke();
        var op = Assert.Single(victim.Host.Current!.Coordinator.Standing()).Op;
        byte[] body = Sound();
        victim.Deliver(new(FrameOf(frame), body, world.View!.Id, world.Members[Liar].Rank));
        Assert.Equal(0, victim.Node.Counters.Refused(RefusalReason.Malformed));
        Assert.Equal((true, Lie, Verdict.Applied), (op.Parts[0].HasResult, op.Parts[0].Version, op.Parts[0].Report!.Verdict));
        Assert.False(call.IsCompleted);

        byte[] Sound()
        {
            var to = new BodyWriter(new byte[100]);
            FrameHead.Write(ref to, victim.Rank, op.Running!.Key);
            if (frame != "Executed")
            {
                to.U64(Lie);
                to.U8(3);
            }
            to.Var(1);
            to.Var(Lie);
            PutReportCodec.Write(ref to, new(Verdict.Applied, 0, null, [0xA1, (byte)'5']));
            return to.Written.ToArray();
        }
    }

    [Fact]
    public async Task A_damaged_report_in_what_the_issuer_tells_says_nothing()
    {
        var world = DhtWorld.Founded(4);
        var issuer = world.Members[Victim];
        var map = issuer.Dht.Map<string, string>("texts");
        await world.EndAsync(map.PutAsync("a0", "x"));
        var id = PooledOperationTests.Unknown(world, map.MergeAsync("a0", 5, new() { Timeout = TimeSpan.FromMilliseconds(5) }).AsTask());
        world.Settle();
        await world.EndAsync(map.PutAsync("z0", "x"));
        var asker = world.Members[3];
        var retry = asker.Dht.Map<string, string>("texts").MergeAsync("a0", 5, new() { Operation = id }).AsTask();
        world.Poke();
        for (int i = 0; i < 100 && !Asks(); i++)
            foreach (var (from, to) in world.Busy())
                if (!Asks()) world.Deliver(from, to);
        var op = Assert.Single(asker.Host.Current!.Coordinator.Standing()).Op;
        Assert.True(op.Asks);
        foreach (byte[] report in Damaged(1))
        {
            long before = asker.Node.Counters.Refused(RefusalReason.Malformed);
            asker.Deliver(new(DhtFrame.End, [.. Head(), .. report], world.View!.Id, issuer.Rank));
            Assert.Equal(before + 1, asker.Node.Counters.Refused(RefusalReason.Malformed));
            Assert.True(op.Parts[0] is { HasResult: false, Report: null } && op.Asks);
        }
        Assert.False(retry.IsCompleted);
        world.RunUntil(() => retry.IsCompleted, "The retry");
        Assert.Equal("x5", await retry);

        bool Asks() => asker.Host.Current!.Coordinator.Standing().Any(static one => one.Op.Asks);

        byte[] Head()
        {
            var to = new BodyWriter(new byte[100]);
            FrameHead.Write(ref to, issuer.Rank, new(id, op.Attempt, op.Payload));
            to.U8((byte)EndStatus.Executed);
            to.Var(1);
            to.Var(Lie);
            return to.Written.ToArray();
        }
    }

    private static IEnumerable<byte[]> Damaged(int keys)
    {
        yield return [];
        yield return [5];
        yield return [255, 0, 0];
        // No report, but bytes behind it.
        yield return [0, 0];
        yield return [3, 0];
        yield return [1];
        yield return [1, (byte)keys];
        yield return [1, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1];
        yield return [2, 0];
        yield return [2, (byte)keys, 1, (byte)'e'];
        yield return [2, 0, 5, (byte)'e'];
        yield return [2, 0, .. Number((4 * DhtLimits.ErrorChars) + 1), .. new byte[(4 * DhtLimits.ErrorChars) + 1]];
        yield return [4];
        yield return [4, 9, 1];
        yield return [4, .. Number(DhtLimits.ValueBytes + 1), .. new byte[DhtLimits.ValueBytes + 1]];
    }

    private static byte[] Number(ulong value)
    {
        var to = new BodyWriter(new byte[10]);
        to.Var(value);
        return to.Written.ToArray();
    }

    private static GroupCore.Wire.FrameType FrameOf(string frame) => frame switch
    {
        "Executed" => DhtFrame.Executed,
        "Proposed" => DhtFrame.Proposed,
        _ => DhtFrame.Quiescent,
    };

    private static async Task<string?> TextAsync(ValueTask<PutResult> call) => $"{(await call).IsApplied}";
}
