using System.Buffers;
using System.Runtime.Serialization;
using GroupCore.Wire;

namespace Ida.Tests;

/// <summary>A user's serializer or hash that throws or returns garbage costs its own call, with an error that names key and map.</summary>
public sealed class UserCodeTests
{
    /// <summary>Keys are equal when their bytes are. A result whose keys their type cannot keep apart is not given in part.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task R_a_key_type_with_an_equality_of_its_own_loses_no_key_of_a_read_silently(bool throws)
    {
        var world = Founded(Options(StableHash.XxHash64));
        var map = world.Members[0].Dht.Map<LooseKey, int>("loose");
        foreach (string key in new[] { "a", "A" })
        {
            var put = map.PutAsync(new LooseKey(key), 1).AsTask();
            world.RunUntil(() => put.IsCompleted, "A put");
        }
        var read = map.GetAsync([new LooseKey("a"), new LooseKey(throws ? "!" : "A")]).AsTask();
        var other = map.GetAsync([new LooseKey("a"), new LooseKey("b")]).AsTask();
        LooseKey.Throws = throws;
        try
        {
            world.RunUntil(() => read.IsCompleted && other.IsCompleted, "The reads");
        }
        finally
        {
            LooseKey.Throws = false;
        }
        if (throws) Assert.Equal("loose", Assert.IsType<UserCodeException>(read.Exception?.InnerException).Map);
        else
        {
            Assert.Contains("equal", Assert.IsType<ArgumentException>(read.Exception?.InnerException).Message, StringComparison.Ordinal);
            Assert.Single(await other);
        }
    }

    /// <summary>Whether the keys are there or not: an absent key must not be found as one that equals it.</summary>
    [Theory]
    [InlineData("a")]
    [InlineData("A")]
    [InlineData("c")]
    public void R_keys_of_a_read_that_their_type_takes_for_equal_are_refused_whatever_is_stored(string stored)
    {
        var world = Founded(Options(StableHash.XxHash64));
        var map = world.Members[0].Dht.Map<LooseKey, int>("loose");
        var put = map.PutAsync(new LooseKey(stored), 1).AsTask();
        world.RunUntil(() => put.IsCompleted, "The put");
        var read = map.GetAsync([new LooseKey("a"), new LooseKey("A")]).AsTask();
        world.RunUntil(() => read.IsCompleted, "The read");
        Assert.Contains("equal", Assert.IsType<ArgumentException>(read.Exception?.InnerException).Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_serializer_that_throws_costs_its_own_call()
    {
        var world = DhtWorld.Founded(4, options: Options(new LastByteHash()));
        var dht = world.Members[0].Dht;
        var map = dht.Map<string, string>("texts");
        Named(Assert.Throws<UserCodeException>(() => { _ = map.PutAsync("a1", "write").AsTask(); }), "a1");
        Named(Assert.Throws<UserCodeException>(() => { _ = map.PutAsync([new("b1", "good"), new("c1", "back")]).AsTask(); }), "c1");
        var batch = dht.NewBatch().Put(map, "d1", "kept");
        Named(Assert.Throws<UserCodeException>(() => batch.Put(map, "e1", "far")), "e1");
        var put = batch.Put(map, "f1", "read").CommitAsync().AsTask();
        world.RunUntil(() => put.IsCompleted, "The batch");
        Assert.Equal(2, (await put).Versions.Count);
        var one = map.GetAsync("f1").AsTask();
        var many = map.GetAsync(["d1", "f1"]).AsTask();
        var reading = dht.NewReading();
        var cell = reading.Add(map, "f1");
        var run = reading.RunAsync().AsTask();
        world.RunUntil(() => one.IsCompleted && many.IsCompleted && run.IsCompleted, "The reads");
        foreach (Task call in new Task[] { one, many, run }) Named(Assert.IsType<UserCodeException>(call.Exception!.InnerException), "f1");
        Assert.False(cell.Entry.Found);
        var good = map.GetAsync(["a1", "b1", "c1", "d1", "e1"]).AsTask();
        world.RunUntil(() => good.IsCompleted, "The last read");
        Assert.Equal("kept", Assert.Single(await good).Value);

        static void Named(UserCodeException error, string key)
        {
            Assert.Equal(("texts", key), (error.Map, error.Key));
            Assert.Contains("The serializer", error.Message, StringComparison.Ordinal);
            Assert.NotNull(error.InnerException);
        }
    }

    [Fact]
    public async Task A_hash_that_throws_costs_its_own_call_and_no_node()
    {
        var hash = new MoodyHash();
        var world = DhtWorld.Founded(4, options: Options(hash));
        var map = world.Members[0].Dht.Map<string, int>("ints");
        hash.Throws = true;
        var error = Assert.Throws<UserCodeException>(() => { _ = map.PutAsync("a1", 1).AsTask(); });
        Assert.Equal(("ints", "a1"), (error.Map, error.Key));
        hash.Throws = false;
        var put = map.PutAsync("b1", 1, new() { Timeout = TimeSpan.FromMilliseconds(50) }).AsTask();
        var get = map.GetAsync("c1", new() { Timeout = TimeSpan.FromMilliseconds(50) }).AsTask();
        world.Poke();
        hash.Throws = true;
        world.DeliverAll();
        hash.Throws = false;
        world.RunUntil(() => put.IsCompleted && get.IsCompleted, "The calls that met it");
        Assert.IsType<DhtConfigurationException>(put.Exception!.InnerException);
        Assert.IsType<DhtConfigurationException>(get.Exception!.InnerException);
        var other = map.PutAsync([new("d0", 1), new("d1", 1)]).AsTask();
        world.RunUntil(() => other.IsCompleted, "A later put");
        Assert.Equal(2, (await other).Versions.Count);
    }

    [Fact]
    public async Task A_put_that_was_executed_is_told_to_a_retry_where_the_hash_throws()
    {
        var hash = new MoodyHash();
        var world = DhtWorld.Founded(4, options: Options(hash));
        var put = world.Members[0].Dht.Map<string, int>("ints").PutAsync("a1", 1).AsTask();
        world.RunUntil(() => put.IsCompleted, "The put");
        world.ChangeView();
        var retry = world.Members[2].Dht.Map<string, int>("ints").PutAsync("a1", 1, new() { Operation = (await put).Operation }).AsTask();
        world.Poke();
        hash.Throws = true;
        world.DeliverAll();
        hash.Throws = false;
        world.RunUntil(() => retry.IsCompleted, "The retry");
        Assert.Equal((await put).Versions, (await retry).Versions);
    }

    /// <summary>What the issuer's own attempts met says nothing of the retries of other members.</summary>
    [Fact]
    public async Task R_a_put_that_the_hash_refused_and_another_member_repeated_is_not_said_to_be_absent()
    {
        var hash = new MoodyHash();
        var world = DhtWorld.Founded(4, options: Options(hash));
        Task<PutResult> Put(int member, string key, int value, OperationId? operation = null)
        {
            var put = world.Members[member].Dht.Map<string, int>("ints").PutAsync(key, value, new() { Operation = operation }).AsTask();
            world.Poke();
            return put;
        }
        async Task<PutResult> EndOf(Task<PutResult> put)
        {
            world.RunUntil(() => put.IsCompleted, "The put");
            return await put;
        }
        var id = PooledOperationTests.Unknown(world, world.Members[0].Dht.Map<string, int>("ints").PutAsync("a1", 1, new() { Timeout = TimeSpan.FromMilliseconds(5) }).AsTask());
        hash.Throws = true;
        world.DeliverAll();
        hash.Throws = false;
        world.Settle();
        var done = await EndOf(Put(2, "a1", 1, id));
        Assert.Equal(done.Versions, (await EndOf(Put(0, "a1", 1, id))).Versions);
        // Replicas forget the put.
        await EndOf(Put(0, "b1", 2));
        await EndOf(Put(0, "b1", 3));
        world.Settle();
        foreach (int member in new[] { 0, 2 })
        {
            var error = await Assert.ThrowsAsync<OutcomeForgottenException>(() => EndOf(Put(member, "a1", 1, id)));
            Assert.DoesNotContain("was executed", error.Message, StringComparison.Ordinal);
        }
        // A retry with other pairs is under way at the member that issued it.
        var there = Put(0, "a1", 7, id);
        var here = Put(2, "a1", 7, id);
        world.DeliverAll((from, to) => from != 0 || to == 2);
        Assert.False(there.IsCompleted || here.IsCompleted);
        foreach (var put in new[] { there, here }) await Assert.ThrowsAsync<OutcomeForgottenException>(() => EndOf(put));
    }

    private static DhtWorld Founded(DhtOptions options)
    {
        var world = new DhtWorld { Options = options, Declare = static maps => maps.Map<LooseKey, int>("loose") };
        world.Found(4);
        return world;
    }

    private static DhtOptions Options(IStableHash hash) => new() { ShardSize = 2, TargetSize = 4, Hash = hash, Serializer = new MoodySerializer(), Member = new() { Timeout = TimeSpan.FromHours(10) } };

    private sealed class MoodyHash : IStableHash
    {
        public string Name => "moody";

        public bool Throws { get; set; }

        public ulong Hash(ReadOnlySpan<byte> key) => Throws ? throw new TimeZoneNotFoundException("of the user") : key[^1];
    }

    /// <summary>The exception is user code too: when it is asked for its message, it may throw again.</summary>
    [Fact]
    public void An_error_that_throws_when_it_is_asked_for_its_message_is_told_by_its_type()
    {
        var world = DhtWorld.Founded(4, options: Options(new LastByteHash()));
        var map = world.Members[0].Dht.Map<string, string>("texts");
        var error = Assert.Throws<UserCodeException>(() => { _ = map.PutAsync("a1", "unspeakable").AsTask(); });
        Assert.Equal(("texts", "a1"), (error.Map, error.Key));
        Assert.IsType<UnspeakableException>(error.InnerException);
        Assert.Contains(nameof(UnspeakableException), error.Message, StringComparison.Ordinal);
    }

    /// <summary>Within a turn of one node, the thread may run a turn of another node, with that node's resolvers.</summary>
    [Fact]
    public void What_a_resolver_gives_is_written_whole_where_writing_it_runs_another_resolver()
    {
        var nested = new NestedSerializer();
        Assert.Equal([3, 3], KeyIdentity.ToBytes(nested, 3));
        for (byte i = 0; i < 3; i++) Assert.Equal([i, i], nested.Inner[i]);
    }

    private sealed class UnspeakableException : Exception
    {
        public override string Message => throw new InvalidOperationException("unspeakable");
    }

    // The number, then, after all smaller ones were written elsewhere, the number again.
    private sealed class NestedSerializer : IPayloadSerializer
    {
        public Dictionary<int, byte[]> Inner { get; } = [];

        public void Serialize<T>(IBufferWriter<byte> to, T value)
        {
            if (value is not int number) throw new NotSupportedException();
            to.Write([(byte)number]);
            if (number > 0) Inner[number - 1] = KeyIdentity.ToBytes(this, number - 1);
            to.Write([(byte)number]);
        }

        public T Deserialize<T>(ReadOnlySpan<byte> bytes) => throw new NotSupportedException();
    }

    private sealed class MoodySerializer : IPayloadSerializer
    {
        public void Serialize<T>(IBufferWriter<byte> to, T value)
        {
            if (value is "write") throw new TimeZoneNotFoundException("of the user");
            if (value is "unspeakable") throw new UnspeakableException();
            if (value is "back") to.Advance(-3);
            else if (value is "far") to.Advance(1 << 20);
            else ContractSerializer.Instance.Serialize(to, value);
        }

        public T Deserialize<T>(ReadOnlySpan<byte> bytes)
        {
            var value = ContractSerializer.Instance.Deserialize<T>(bytes);
            return value is "read" ? throw new TimeZoneNotFoundException("of the user") : value;
        }
    }

    /// <summary>Equal whatever the case of the letters; the bytes differ.</summary>
    [DataContract]
    private readonly record struct LooseKey([property: DataMember(Order = 0)] string Text)
    {
        public static bool Throws { get; set; }

        public bool Equals(LooseKey other) => string.Equals(Text, other.Text, StringComparison.OrdinalIgnoreCase);

        public override int GetHashCode() => Throws ? throw new InvalidOperationException("no hash code") : StringComparer.OrdinalIgnoreCase.GetHashCode(Text);
    }
}
