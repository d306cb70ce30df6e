namespace Ida.Tests;

/// <summary>What cannot be declared is refused at once, with an error that names it and says what is allowed.</summary>
public sealed class MapDeclarationTests
{
    private static readonly DhtOptions s_options = new() { ShardSize = 1, TargetSize = 1 };

    [Theory]
    [InlineData("")]
    [InlineData("é", 129)]
    [InlineData("half")]
    public void A_name_that_no_other_member_could_read_is_refused(string name, int times = 1)
    {
        // An attribute cannot hold half of a pair.
        string whole = name == "half" ? "half \uD83D" : string.Concat(Enumerable.Repeat(name, times));
        Refused(maps => maps.Map<string, int>(whole), "name", whole.StartsWith("half", StringComparison.Ordinal) ? "surrogate" : "1 to 256 bytes of UTF-8");
    }

    [Theory]
    [InlineData("a")]
    [InlineData("é", 128)]
    [InlineData("a\uD83D\uDE00 b")]
    public void Any_other_name_is_taken(string name, int times = 1) => Assert.NotNull(Sealed(maps => maps.Map<string, int>(string.Concat(Enumerable.Repeat(name, times)))));

    [Fact]
    public void A_map_is_declared_once() => Refused(static maps =>
    {
        maps.Map<string, int>("stock");
        maps.Map<string, long>("stock");
    }, "\"stock\"", "System.Int32", "System.Int64");

    /// <summary>Keys are told apart by 64 bits of a hash of the name.</summary>
    [Fact]
    public void Two_names_with_one_hash_are_refused()
    {
        const string One = "orders of Europe", Other = "drpoywycdT%X2M3z";
        Assert.Equal(KeyIdentity.IdOf(One), KeyIdentity.IdOf(Other));
        Refused(static maps =>
        {
            maps.Map<string, int>(One);
            maps.Map<string, int>(Other);
        }, One, Other, "same hash");
    }

    [Fact]
    public void A_map_has_one_resolver_for_a_type() => Refused(static maps => maps.Map<string, int>("stock").OnMerge<long>(static (_, n, more) => n + (int)more).OnMerge<int>(static (_, n, more) => n + more)
        .OnMerge<long>(static (_, n, _) => n), "\"stock\"", "System.Int64");

    [Fact]
    public void A_map_has_one_shard_key() => Refused(static maps => maps.Map<string, int>("stock").ShardBy(static key => key.Length).ShardBy(static key => key), "\"stock\"", "ShardBy<System.Int32>", "ShardBy<System.String>");

    [Fact]
    public void A_shard_key_is_of_a_type_that_can_be_a_key()
    {
        Refused(static maps => maps.Map<string, int>("stock").ShardBy(static key => new HashSet<string> { key }), "\"stock\"", "HashSet");
        Refused(static maps => maps.Map<SetKey, int>("stock"), "\"stock\"", "HashSet");
        Refused(static maps => maps.Map<TwoKeys, int>("stock"), "\"stock\"", nameof(TwoKeys), "ShardBy");
        Assert.NotNull(Sealed(static maps => maps.Map<TwoKeys, int>("stock").ShardBy(static key => key.Text)));
    }

    [Fact]
    public void Nothing_is_declared_once_the_dht_is_enabled()
    {
        MapDeclaration<string, int>? kept = null;
        DhtMaps? maps = null;
        Sealed(declared => (maps, kept) = (declared, declared.Map<string, int>("stock")));
        Assert.Contains("\"late\"", Assert.Throws<DhtConfigurationException>(() => maps!.Map<string, int>("late")).Message, StringComparison.Ordinal);
        Assert.Contains("System.Int64", Assert.Throws<DhtConfigurationException>(() => kept!.OnMerge<long>(static (_, n, _) => n)).Message, StringComparison.Ordinal);
        Assert.Contains("shard key", Assert.Throws<DhtConfigurationException>(() => kept!.ShardBy(static key => key)).Message, StringComparison.Ordinal);
    }

    [Fact]
    public void At_least_one_map_is_declared() => Refused(static _ => { }, "No map");

    [Fact]
    public void Declarations_are_bounded_in_number_and_bytes()
    {
        Assert.NotNull(Sealed(static maps => Many(maps, 1024, 1)));
        Refused(static maps => Many(maps, 1025, 1), "\"1024\"", "1024");
        Refused(static maps => Many(maps, 200, 240), "bytes", "49152");
        Refused(static maps =>
        {
            var map = maps.Map<string, int>("stock");
            var add = typeof(MapDeclarationTests).GetMethod(nameof(Add), System.Reflection.BindingFlags.NonPublic | System.Reflection.BindingFlags.Static)!;
            var type = typeof(int);
            for (int i = 0; i <= 256; i++)
            {
                type = i % 16 == 0 ? typeof(int) : type.MakeArrayType();
                try
                {
                    add.MakeGenericMethod(i < 16 ? type : typeof(ValueTuple<,>).MakeGenericType(type, Nested(i / 16))).Invoke(null, [map]);
                }
                catch (System.Reflection.TargetInvocationException error)
                {
                    throw error.InnerException!;
                }
            }
        }, "\"stock\"", "256");
    }

    private static Type Nested(int depth) => depth == 0 ? typeof(long) : Nested(depth - 1).MakeArrayType();

    private static void Add<TIncoming>(MapDeclaration<string, int> map) => map.OnMerge<TIncoming>(static (_, n, _) => n);

    private static void Many(DhtMaps maps, int count, int length)
    {
        for (int i = 0; i < count; i++) maps.Map<string, int>($"{i}".PadLeft(length, '0'));
    }

    private static Maps.DeclaredMaps Sealed(Action<DhtMaps> declare)
    {
        var maps = new DhtMaps();
        declare(maps);
        return maps.Seal(s_options);
    }

    private static void Refused(Action<DhtMaps> declare, params string[] said)
    {
        var error = Assert.Throws<DhtConfigurationException>(() => Sealed(declare));
        Assert.All(said, one => Assert.Contains(one, error.Message, StringComparison.Ordinal));
    }

    private readonly record struct SetKey(string Text) : IShardKey<HashSet<string>>
    {
        HashSet<string> IShardKey<HashSet<string>>.ShardKey => [Text];
    }

    private readonly record struct TwoKeys(string Text) : IShardKey<string>, IShardKey<int>
    {
        string IShardKey<string>.ShardKey => Text;

        int IShardKey<int>.ShardKey => Text.Length;
    }
}
