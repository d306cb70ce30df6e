using GroupCore.Runtime;
using Ida.Kinds;
using Ida.Maps;
using Ida.Wire;

namespace Ida.Tests;

/// <summary>Proposals that say of a key what no coordinator says: they are refused as a whole, and leave nothing.</summary>
public sealed class HostileEffectTests
{
    private const int Target = 0, Other = 2, Liar = 3;
    private const byte Put = 1, Remove = 2, Merge = 3, Check = 4, Expects = KeyDeed.Expectation;
    private static readonly byte[] s_oneShard = [0, 2], s_twoShards = [0, 2, 1, 3];

    public static TheoryData<string, bool> Cases() => new()
    {
        { "put", true }, { "remove", true }, { "merge", true }, { "check", true }, { "expected put", true }, { "put in two shards", true },
        { "read", false }, { "expected read", false }, { "check without expectation", false }, { "expectation over two shards", false }, { "check over two shards", false },
        { "one of two keys expects over two shards", false }, { "merge without resolver", false }, { "merge with half a resolver", false }, { "merge without value", false },
        { "put without value", false }, { "remove with value", false }, { "put with resolver", false }, { "check with value", false }, { "expectation without version", false },
    };

    [Theory]
    [MemberData(nameof(Cases))]
    public void An_effect_that_is_not_whole_is_refused(string what, bool held)
    {
        var world = DhtWorld.Founded(4);
        byte[] slots = what.Contains("two shards", StringComparison.Ordinal) ? s_twoShards : s_oneShard;
        byte[][] keys = what switch
        {
            "put" or "put in two shards" => [[Put, 1, 7]],
            "remove" => [[Remove]],
            "merge" => [[Merge, 1, 7, .. BitConverter.GetBytes(ResolverId<int>.Value)]],
            "check" => [[Check | Expects, 9]],
            "expected put" or "expectation over two shards" => [[Put | Expects, 9, 1, 7]],
            "read" => [[0]],
            "expected read" => [[Expects, 9]],
            "check without expectation" => [[Check]],
            "check over two shards" => [[Check | Expects, 9]],
            "one of two keys expects over two shards" => [[Put, 1, 7], [Check | Expects, 9]],
            "merge without resolver" => [[Merge, 1, 7]],
            "merge with half a resolver" => [[Merge, 1, 7, .. new byte[4]]],
            "merge without value" => [[Merge, .. new byte[8]]],
            "put without value" => [[Put]],
            "remove with value" => [[Remove, 1, 7]],
            "put with resolver" => [[Put, 1, 7, .. new byte[8]]],
            "check with value" => [[Check | Expects, 9, 1, 7]],
            _ => [[Check | Expects]],
        };
        AssertTaken(world, Frame(world, slots, keys), held);
    }

    [Fact]
    public void An_effect_that_there_is_not_is_refused()
    {
        var world = DhtWorld.Founded(4);
        for (int effect = 0; effect < 256; effect++)
        {
            if ((effect & ~Expects) is >= Put and <= Check) continue;
            foreach (byte[] rest in (byte[][])[[], [1, 7], [9], [9, 1, 7], [1, 7, .. new byte[8]]]) AssertTaken(world, Frame(world, s_oneShard, [[(byte)effect, .. rest]]), held: false);
        }
    }

    /// <summary>No coordinator asks for a map or a resolver that some member lacks: each replica refuses such a put, and it does not hold up the next one.</summary>
    [Theory]
    [InlineData("texts", 0UL)]
    [InlineData("texts", 12345UL)]
    [InlineData("texts", ulong.MaxValue)]
    [InlineData("nobody's", 0UL)]
    public async Task A_merge_by_a_resolver_or_into_a_map_that_nobody_has_is_refused_by_every_replica(string name, ulong resolver)
    {
        var world = DhtWorld.Founded(4);
        var map = world.Members[1].Dht.Map<string, string>("texts");
        await world.EndAsync(map.PutAsync("a0", "x"));
        world.Settle();
        byte[] key = DhtWorld.KeyOf(name, DhtWorld.Slice(world.Members[Target]).Entries[0].Key.Span[KeyIdentity.MapBytes..]);
        byte[] frame = FrameOf(key, world, s_oneShard, [[Merge, 1, 7, .. BitConverter.GetBytes(resolver == 0 && name != "texts" ? ResolverId<int>.Value : resolver)]]);
        foreach (int to in (int[])[Target, Other])
        {
            world.Members[to].Deliver(new(DhtFrame.Propose, frame, world.View!.Id, world.Members[Liar].Rank));
            Assert.Equal(0, world.Members[to].Host.Current!.Participant.Records.Count);
            Assert.Equal(1, world.Members[to].Dht.Counters.SentOf(DhtFrame.Rejected));
        }
        var next = map.MergeAsync("a0", 5).AsTask();
        world.RunUntil(() => next.IsCompleted, "A merge behind it");
        Assert.Equal("x5", await next);
        world.Settle();
        world.AssertEqualReplicas();
    }

    private static void AssertTaken(DhtWorld world, byte[] frame, bool held)
    {
        var target = world.Members[Target];
        long before = target.Node.Counters.Refused(RefusalReason.Malformed);
        target.Deliver(new(DhtFrame.Propose, frame, world.View!.Id, world.Members[Liar].Rank));
        Assert.Equal(before + (held ? 0 : 1), target.Node.Counters.Refused(RefusalReason.Malformed));
        Assert.Equal(0, target.Node.Counters.Refused(RefusalReason.Unexpected));
        Assert.Equal(held ? 1 : 0, target.Host.Current!.Participant.Records.Count);
        Assert.Equal(held ? 1 : 0, target.Host.Current.Participant.Slice.Table.Count);
    }

    private static byte[] Frame(DhtWorld world, byte[] slots, byte[][] effects) => FrameOf(DhtWorld.KeyOf("texts", 0xA2, (byte)'a', (byte)'0'), world, slots, effects);

    private static byte[] FrameOf(byte[] key, DhtWorld world, byte[] slots, byte[][] effects)
    {
        var to = new BodyWriter(new byte[400]);
        FrameHead.Write(ref to, world.Members[Liar].Rank, new(new(0, 1), 1));
        to.U8(1);
        to.U64(77);
        to.Var(0);
        to.U64(5);
        to.Blob(slots);
        to.Var((ulong)effects.Length);
        foreach (byte[] effect in effects)
        {
            to.Blob(key);
            to.Raw(effect);
            // The next key in order, of the same shard.
            key = [.. key[..^2], (byte)(key[^2] + 1), key[^1]];
        }
        return to.Written.ToArray();
    }
}
