namespace Ida.Tests;

/// <summary>A map is opened by its name, which alone identifies it, and with the types that it is declared with.</summary>
public sealed class MapTests
{
    [Fact]
    public void A_map_that_is_not_declared_is_refused_with_the_names_of_those_that_are()
    {
        var dht = DhtWorld.Founded(4).Members[0].Dht;
        var error = Assert.Throws<UndeclaredMapException>(() => dht.Map<string, int>("stock"));
        Assert.Equal("stock", error.Map);
        Assert.Equal(["bytes", "doubles", "ints", "lists", "longs", "numbers", "sets", "texts"], error.Declared);
        Assert.Contains("\"ints\"", error.Message, StringComparison.Ordinal);
        foreach (string half in new[] { "ints\uD83D", "\uDE00ints", "" }) Assert.Equal(half, Assert.Throws<UndeclaredMapException>(() => dht.Map<string, int>(half)).Map);
        Assert.Throws<ArgumentNullException>(() => dht.Map<string, int>(null!));
    }

    [Fact]
    public void A_map_of_other_types_is_refused_with_both()
    {
        var dht = DhtWorld.Founded(4).Members[0].Dht;
        var error = Assert.Throws<MapTypeException>(() => dht.Map<int, long>("ints"));
        Assert.Equal((typeof(string), typeof(int), typeof(int), typeof(long)), (error.DeclaredKeyType, error.DeclaredValueType, error.KeyType, error.ValueType));
        foreach (string type in new[] { "\"ints\"", "System.String", "System.Int32", "System.Int64" }) Assert.Contains(type, error.Message, StringComparison.Ordinal);
        Assert.Same(dht.Map<string, int>("ints"), dht.Map<string, int>("ints"));
    }

    /// <summary>All that a program of another version, or in another language, needs to find the keys.</summary>
    [Fact]
    public async Task The_identity_of_a_map_is_a_hash_of_its_name_alone()
    {
        var world = DhtWorld.Founded(4);
        await world.EndAsync(world.Members[1].Dht.Map<string, int>("ints").PutAsync("a0", 1));
        Assert.Equal(DhtWorld.KeyOf("ints", 0xA2, (byte)'a', (byte)'0'), Assert.Single(DhtWorld.Slice(world.Members[0]).Entries).Key.ToArray());
        Assert.Equal(StableHash.XxHash64.Hash("ints"u8), BitConverter.ToUInt64(DhtWorld.KeyOf("ints")));
    }

    [Fact]
    public async Task A_resolver_belongs_to_its_map()
    {
        var world = new DhtWorld
        {
            Declare = static maps =>
            {
                maps.Map<string, int>("sums").OnMerge<int>(static (_, n, more) => n + more).OnMerge<string>(static (_, n, text) => n + text.Length);
                maps.Map<string, int>("products").OnMerge<int>(static (_, n, more) => (n == 0 ? 1 : n) * more);
                maps.Map<string, int>("plain");
            },
        };
        world.Found(4);
        var dht = world.Members[1].Dht;
        foreach (int more in new[] { 3, 4 })
        {
            await world.EndAsync(dht.Map<string, int>("sums").MergeAsync("a0", more));
            await world.EndAsync(dht.Map<string, int>("products").MergeAsync("a0", more));
        }
        Assert.Equal(9, await world.EndAsync(dht.Map<string, int>("sums").MergeAsync("a0", "ab")));
        Assert.Equal(12, (await world.EndAsync(dht.Map<string, int>("products").GetAsync("a0"))).Value);
        var none = Assert.Throws<NoResolverException>(() => { _ = dht.Map<string, int>("plain").MergeAsync("a0", 1).AsTask(); });
        Assert.Equal(("plain", typeof(int), typeof(int)), (none.Map, none.StoredType, none.IncomingType));
        var other = Assert.Throws<NoResolverException>(() => { _ = dht.Map<string, int>("sums").MergeAsync("a0", 1.5).AsTask(); });
        Assert.Contains("System.Int32, System.String", other.Message, StringComparison.Ordinal);
        // A put asks no resolver.
        await world.EndAsync(dht.Map<string, int>("sums").PutAsync("a0", 1));
        Assert.Equal(1, (await world.EndAsync(dht.Map<string, int>("sums").GetAsync("a0"))).Value);
        world.AssertIdle();
        world.AssertEqualReplicas();
    }
}
