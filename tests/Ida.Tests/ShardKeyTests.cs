using System.Globalization;
using GroupCore.Runtime;
using Ida.Wire;

namespace Ida.Tests;

/// <summary>Where keys lie: by their own bytes, whatever their map, or by their shard key.</summary>
public sealed class ShardKeyTests
{
    private static readonly DhtOptions s_options = new() { ShardSize = 2, TargetSize = 4, Member = new() { Timeout = TimeSpan.FromHours(10) } };

    /// <summary>So a batch over both maps is a batch of one shard, and may expect versions of both.</summary>
    [Fact]
    public async Task The_same_key_of_two_maps_lies_in_one_shard()
    {
        var world = DhtWorld.Founded(4, options: s_options);
        var dht = world.Members[1].Dht;
        var (ints, texts) = (dht.Map<string, int>("ints"), dht.Map<string, string>("texts"));
        string[] keys = [.. Enumerable.Range(0, 20).Select(static i => $"key{i}")];
        foreach (string key in keys)
        {
            var first = await world.EndAsync(dht.NewBatch().Expect(ints, key, 0).Expect(texts, key, 0).Put(ints, key, 1).Put(texts, key, "one").CommitAsync());
            Assert.True(first.IsApplied);
            var second = await world.EndAsync(dht.NewBatch().Put(ints, key, 2).Expect(texts, key, 0).CommitAsync());
            Assert.False(second.IsApplied);
        }
        world.Settle();
        for (int shard = 0; shard < 2; shard++)
        {
            var slice = DhtWorld.Slice(world.Initialised(shard)[0]);
            Assert.Equal(slice.Of(ints).Select(static one => one.Key).Order(), slice.Of(texts).Select(static one => one.Key).Order());
            Assert.NotEmpty(slice.Entries);
        }
        // Other keys lie elsewhere.
        Assert.Contains(keys, key => Record.Exception(() => { _ = dht.NewBatch().Expect(ints, keys[0], 0).Expect(texts, key, 0).CommitAsync().AsTask(); }) is ArgumentException);
        world.AssertEqualReplicas();
    }

    /// <summary>Two times of one moment are one key, though their hours differ: a key is placed by what is written of it.</summary>
    [Fact]
    public async Task Equal_keys_lie_in_one_shard_whatever_else_their_objects_hold()
    {
        var world = new DhtWorld { Options = s_options, Declare = static maps => maps.Map<DateTimeOffset, int>("times").ShardBy(static time => time.Hour) };
        world.Found(4);
        var noon = new DateTimeOffset(2026, 1, 1, 12, 0, 0, TimeSpan.Zero);
        for (int hour = 0; hour < 12; hour++)
        {
            var key = noon.AddHours(hour);
            await world.EndAsync(world.Members[0].Dht.Map<DateTimeOffset, int>("times").PutAsync(key, hour));
            foreach (var member in world.Members)
                Assert.Equal((true, hour), await world.EndAsync(member.Dht.Map<DateTimeOffset, int>("times").GetAsync(key.ToOffset(TimeSpan.FromHours(hour + 1)))) is var found ? (found.Found, found.Value) : default);
        }
        world.AssertEqualReplicas();
    }

    /// <summary>By the type of the key, or by the declaration, which counts more. A key that equals the shard key lies there too.</summary>
    [Fact]
    public async Task Keys_with_equal_shard_keys_lie_in_one_shard()
    {
        var world = new DhtWorld { Options = s_options, Declare = Declare };
        world.Found(4);
        var dht = world.Members[1].Dht;
        var (customers, orders, lines, days) = (dht.Map<string, int>("customers"), dht.Map<Order, int>("orders"), dht.Map<string, int>("lines"), dht.Map<Order, int>("days"));
        string[] names = [.. Enumerable.Range(0, 10).Select(static i => $"customer{i}")];
        foreach (string name in names)
        {
            var batch = dht.NewBatch().Expect(customers, name, 0).Put(customers, name, 3);
            for (int i = 0; i < 3; i++) batch.Expect(orders, new(name, i), 0).Put(orders, new(name, i), i).Put(lines, $"{name}/{i}", i);
            Assert.True((await world.EndAsync(batch.CommitAsync())).IsApplied);
            foreach (var member in world.Members)
            {
                Assert.Equal(2, (await world.EndAsync(member.Dht.Map<Order, int>("orders").GetAsync(new Order(name, 2)))).Value);
                Assert.Equal(3, (await world.EndAsync(member.Dht.Map<string, int>("lines").GetAsync([$"{name}/0", $"{name}/1", $"{name}/2"]))).Count);
            }
        }
        // The declaration places these keys by their number.
        Assert.Contains(names, name => Record.Exception(() => { _ = dht.NewBatch().Expect(customers, name, 0).Expect(days, new(name, 1), 0).CommitAsync().AsTask(); }) is ArgumentException);
        var together = dht.NewBatch();
        foreach (string name in names) together.Expect(days, new(name, 1), 0).Put(days, new(name, 1), 1);
        Assert.True((await world.EndAsync(together.CommitAsync())).IsApplied);
        world.AssertIdle();
        world.AssertEqualReplicas();
        // A newcomer gets all of them, as ever.
        var late = world.Add();
        world.ChangeView();
        late.Enable(world.Options, Declare);
        world.ChangeView();
        world.Settle();
        world.AssertEqualReplicas();

        static void Declare(DhtMaps maps)
        {
            maps.Map<string, int>("customers");
            maps.Map<Order, int>("orders");
            maps.Map<string, int>("lines").ShardBy(static key => key[..key.IndexOf('/', StringComparison.Ordinal)]);
            maps.Map<Order, int>("days").ShardBy(static key => key.Number);
        }
    }

    /// <summary>It differs at the caller's member, or at a participant: the call is not executed, and its error says why.</summary>
    [Theory]
    [InlineData(0)]
    [InlineData(2)]
    public async Task A_shard_key_that_another_member_makes_otherwise_fails_the_call(int differs)
    {
        var world = new DhtWorld { Options = s_options with { Hash = new LastByteHash() } };
        for (int i = 0; i < 4; i++) world.Add();
        world.ChangeView();
        foreach (var member in world.Members)
            member.Enable(world.Options, maps => maps.Map<string, int>("stock").ShardBy(key => member.Index == differs ? $"{key}1" : $"{key}0"));
        world.ChangeView();
        world.ViewRequested = false;
        var map = world.Members[differs == 0 ? 0 : 1].Dht.Map<string, int>("stock");
        Task[] calls = [map.PutAsync("a", 1).AsTask(), map.GetAsync(["a", "b"]).AsTask()];
        world.RunUntil(() => Array.TrueForAll(calls, static call => call.IsCompleted), "The calls");
        var put = await Assert.ThrowsAsync<DhtConfigurationException>(() => calls[0]);
        Assert.Contains("shard key", put.Message, StringComparison.Ordinal);
        // A read asks one replica of the shard.
        if (differs == 0) await Assert.ThrowsAsync<DhtConfigurationException>(() => calls[1]);
        world.Settle();
        Assert.All(world.Members, static member => Assert.Empty(DhtWorld.Slice(member).Entries));
    }

    [Fact]
    public async Task A_shard_key_that_throws_costs_its_call_and_no_node()
    {
        bool throws = false;
        var world = new DhtWorld { Options = s_options, Declare = maps => maps.Map<string, int>("stock").ShardBy(key => throws ? throw new TimeZoneNotFoundException("of the user") : key == "null" ? null! : key) };
        world.Found(4);
        var map = world.Members[1].Dht.Map<string, int>("stock");
        throws = true;
        var error = Assert.Throws<UserCodeException>(() => { _ = map.PutAsync("a", 1).AsTask(); });
        Assert.Equal(("stock", "a"), (error.Map, error.Key));
        Assert.Contains("shard key", error.Message, StringComparison.Ordinal);
        throws = false;
        Assert.Throws<UserCodeException>(() => { _ = map.PutAsync("null", 1).AsTask(); });
        var calls = new List<Task> { map.PutAsync(Enumerable.Range(0, 10).Select(static i => KeyValuePair.Create($"{i}", i))).AsTask() };
        for (int i = 0; i < 10; i++) calls.Add(map.GetAsync($"{i}", new() { Timeout = TimeSpan.FromSeconds(1) }).AsTask());
        world.Poke();
        throws = true;
        world.DeliverAll();
        throws = false;
        world.RunUntil(() => calls.TrueForAll(static call => call.IsCompleted), "The calls that met it");
        await Assert.ThrowsAsync<DhtConfigurationException>(() => calls[0]);
        Assert.Contains(calls.Skip(1), static call => call.Exception?.InnerException is DhtConfigurationException);
        await world.EndAsync(map.PutAsync("a", 1));
        world.AssertIdle();
        Assert.Single(world.Members.SelectMany(static member => DhtWorld.Slice(member).Entries).Select(static entry => Convert.ToHexString(entry.Key.Span)).Distinct());
    }

    /// <summary>Bytes that are no key of the map, from a member that lies.</summary>
    [Theory]
    [InlineData("orders")]
    [InlineData("lines")]
    public void A_key_that_cannot_be_read_is_refused_like_one_that_lies_elsewhere(string name)
    {
        var world = new DhtWorld
        {
            Declare = static maps =>
            {
                maps.Map<Order, int>("orders");
                maps.Map<string, int>("lines").ShardBy(static key => key.Length);
            },
        };
        world.Found(4);
        var (target, liar) = (world.Members[0], world.Members[3]);
        foreach (byte[] bytes in (byte[][])[[0xC1], [0xA5, (byte)'a'], [0x92, 1], [0xC0], []])
        {
            byte[] key = DhtWorld.KeyOf(name, bytes);
            var propose = new BodyWriter(new byte[200]);
            FrameHead.Write(ref propose, liar.Rank, new(new(0, 1), 1));
            propose.U8(1);
            propose.U64(77);
            propose.Var(0);
            propose.U64(5);
            propose.Blob([0, 2]);
            propose.Var(1);
            propose.Blob(key);
            propose.U8(2);
            target.Deliver(new(DhtFrame.Propose, propose.Written.ToArray(), world.View!.Id, liar.Rank));
            var get = new BodyWriter(new byte[100]);
            get.Var(1);
            get.Var(1);
            get.Var(0);
            get.U8(0);
            get.Blob(key);
            target.Deliver(new(DhtFrame.Get, get.Written.ToArray(), world.View.Id, liar.Rank));
        }
        Assert.Equal(0, target.Host.Current!.Participant.Records.Count);
        Assert.Equal(0, target.Host.Current.Participant.Slice.Table.Count);
        Assert.Equal((5, 5), (target.Dht.Counters.SentOf(DhtFrame.Rejected), target.Dht.Counters.SentOf(DhtFrame.Value)));
        Assert.Equal(0, target.Node.Counters.Refused(RefusalReason.Malformed));
    }

    /// <summary>At the caller, and once for each use of a key at each replica; never under a thread's own culture.</summary>
    [Fact]
    public async Task A_shard_key_is_asked_once_for_each_use_under_the_invariant_culture()
    {
        var cultures = new List<CultureInfo>();
        var world = new DhtWorld { Options = s_options with { Hash = new LastByteHash() } };
        world.Declare = maps => maps.Map<string, int>("stock").ShardBy(key =>
        {
            cultures.Add(CultureInfo.CurrentCulture);
            return key;
        });
        world.Found(4);
        var culture = CultureInfo.CurrentCulture;
        CultureInfo.CurrentCulture = (CultureInfo)CultureInfo.InvariantCulture.Clone();
        try
        {
            var put = world.Members[1].Dht.Map<string, int>("stock").PutAsync("a0", 1).AsTask();
            Assert.Single(cultures);
            world.RunUntil(() => put.IsCompleted, "The put");
            await put;
        }
        finally
        {
            CultureInfo.CurrentCulture = culture;
        }
        Assert.Equal(3, cultures.Count);
        Assert.All(cultures, static one => Assert.Same(CultureInfo.InvariantCulture, one));
    }

    private readonly record struct Order(string Customer, int Number) : IShardKey<string>
    {
        string IShardKey<string>.ShardKey => Customer;
    }
}
