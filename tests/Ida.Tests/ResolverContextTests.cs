using System.Buffers;
using System.Globalization;
using System.Runtime.Serialization;
using GroupCore.Wire;
using Ida.Maps;

namespace Ida.Tests;

/// <summary>Each replica runs a resolver by itself, on whatever thread has its turn, so no thread's own culture may count.</summary>
public sealed class ResolverContextTests
{
    private static readonly AsyncLocal<string?> s_own = new();

    [Theory]
    [InlineData(false, false)]
    [InlineData(true, false)]
    [InlineData(false, true)]
    public void R_a_resolver_runs_under_the_invariant_culture_and_changes_nothing_of_its_callers_context(bool suppressed, bool throws)
    {
        var maps = Declared<string>(map => map.OnMerge<double>((_, stored, more) =>
        {
            Assert.Same(CultureInfo.InvariantCulture, CultureInfo.CurrentUICulture);
            s_own.Value = "the resolver's";
            return throws ? throw new TimeZoneNotFoundException() : $"{stored}{more};";
        }));
        var comma = (CultureInfo)CultureInfo.InvariantCulture.Clone();
        comma.NumberFormat.NumberDecimalSeparator = ",";
        var (culture, uiCulture) = (CultureInfo.CurrentCulture, CultureInfo.CurrentUICulture);
        (CultureInfo.CurrentCulture, CultureInfo.CurrentUICulture) = (comma, comma);
        s_own.Value = "the caller's";
        try
        {
            using var flow = suppressed ? ExecutionContext.SuppressFlow() : default(AsyncFlowControl?);
            byte[]? Resolve() => maps.Resolve(ResolverId<double>.Value, Key(maps), Bytes("1.5;"), Bytes(2.5));
            if (throws) Assert.Throws<TimeZoneNotFoundException>(Resolve);
            else Assert.Equal("1.5;2.5;", ContractSerializer.Instance.Deserialize<string>(Resolve()));
            Assert.Same(comma, CultureInfo.CurrentCulture);
            Assert.Same(comma, CultureInfo.CurrentUICulture);
            if (!suppressed) Assert.Equal("the caller's", s_own.Value);
        }
        finally
        {
            (CultureInfo.CurrentCulture, CultureInfo.CurrentUICulture, s_own.Value) = (culture, uiCulture, null);
        }
    }

    [Fact]
    public void R_the_key_that_a_resolver_gets_is_read_under_the_invariant_culture_and_changes_nothing_either()
    {
        var maps = Declared<Price>(static map => map.OnMerge<string>((price, stored, _) => $"{stored}{ReferenceEquals(price.Culture, CultureInfo.InvariantCulture)};"));
        var key = new ArrayBufferWriter<byte>();
        key.Write(maps.Named("m")!.Identity);
        CanonicalKey.Write(key, new Price { Text = "1.5" });
        var culture = CultureInfo.CurrentCulture;
        var another = CultureInfo.CurrentCulture = (CultureInfo)CultureInfo.InvariantCulture.Clone();
        s_own.Value = "the caller's";
        try
        {
            var resolved = maps.Resolve(ResolverId<string>.Value, key.WrittenSpan, Bytes("a;"), Bytes("b"));
            Assert.Equal("a;True;", ContractSerializer.Instance.Deserialize<string>(resolved));
            Assert.Same(another, CultureInfo.CurrentCulture);
            Assert.Equal("the caller's", s_own.Value);
        }
        finally
        {
            (CultureInfo.CurrentCulture, s_own.Value) = (culture, null);
        }
    }

    /// <summary>The context is entered once: what the key's own code leaves in it is still there when the shard key is asked for.</summary>
    [Fact]
    public void R_a_key_is_read_and_placed_in_one_context_that_is_not_the_callers()
    {
        var seen = new List<(string? Own, bool Read, bool Placed)>();
        var maps = Declared<Price>(map => map.ShardBy(price =>
        {
            seen.Add((s_own.Value, ReferenceEquals(price.Culture, CultureInfo.InvariantCulture), ReferenceEquals(CultureInfo.CurrentCulture, CultureInfo.InvariantCulture)));
            return price.Text;
        }));
        var key = new ArrayBufferWriter<byte>();
        CanonicalKey.Write(key, new Price { Text = "1.5" });
        var culture = CultureInfo.CurrentCulture;
        var another = CultureInfo.CurrentCulture = (CultureInfo)CultureInfo.InvariantCulture.Clone();
        s_own.Value = "the caller's";
        try
        {
            // The second time the context is known.
            ulong place = maps.Named("m")!.HashOf(StableHash.XxHash64, key.WrittenSpan);
            Assert.Equal(place, maps.Named("m")!.HashOf(StableHash.XxHash64, key.WrittenSpan));
            Assert.Equal([("the key's", true, true), ("the key's", true, true)], seen);
            Assert.Same(another, CultureInfo.CurrentCulture);
            Assert.Equal("the caller's", s_own.Value);
        }
        finally
        {
            (CultureInfo.CurrentCulture, s_own.Value) = (culture, null);
        }
    }

    private sealed record Price
    {
        public Price() => s_own.Value = "the key's";

        public string Text { get; set; } = "";

        [IgnoreDataMember]
        public CultureInfo Culture { get; } = CultureInfo.CurrentCulture;
    }

    private static DeclaredMaps Declared<TKey>(Action<MapDeclaration<TKey, string>> declare) where TKey : notnull
    {
        var maps = new DhtMaps();
        declare(maps.Map<TKey, string>("m"));
        return maps.Seal(new() { ShardSize = 1, TargetSize = 1 });
    }

    private static byte[] Key(DeclaredMaps maps)
    {
        var to = new ArrayBufferWriter<byte>();
        to.Write(maps.Named("m")!.Identity);
        CanonicalKey.Write(to, "a");
        return to.WrittenSpan.ToArray();
    }

    private static byte[] Bytes<T>(T value)
    {
        var to = new ArrayBufferWriter<byte>();
        ContractSerializer.Instance.Serialize(to, value);
        return to.WrittenSpan.ToArray();
    }
}
