using System.Collections.Immutable;

namespace GroupCore.Tests.Wire;

/// <summary>A sender chooses the keys of a dictionary or a set: its choice must not decide how long it takes to build the table.</summary>
public sealed class ChosenKeyTests
{
    // As many keys as a value of the DHT holds, and the buckets of a table of that many.
    private const int Many = 43_600, Buckets = 43_627, Keys = 1000;

    [Fact]
    public void Keys_that_all_stand_in_one_chain_by_their_own_hashes_are_spread()
    {
        Spread(static i => (int)(uint)(i * Buckets));
        Spread(static i => (uint)(i * Buckets));
        Spread(static i => (long)((i << 32) | i));
        Spread(static i => (i << 32) | i);
        Spread(static i => new Int128(0, (i << 32) | i));
        Spread(static i => new UInt128((i << 32) | i, 0));
        Spread(static i => new TimeSpan((long)((i << 32) | i)));
        Spread(static i => new TimeOnly((long)(i * Buckets)));
        Spread(static i => new DateTime((long)((i << 32) | i)));
        Spread(static i => new DateTimeOffset((long)((i << 32) | i), TimeSpan.Zero));
        Spread(static i => DateOnly.FromDayNumber((int)i));
        Spread(static i => (DayOfWeek)(uint)(i * Buckets));
        Spread(static i => (FarFlags)((i << 32) | i));
        Spread(static i => BitConverter.UInt64BitsToDouble((i << 32) | i));
        Spread(static i => BitConverter.UInt32BitsToSingle((uint)(i * Buckets) & 0x7F7FFFFF));
        Spread(static i => new Guid((int)i, 0, 0, [(byte)i, (byte)(i >> 8), (byte)(i >> 16), 0, 0, 0, 0, 0]));
    }

    [Fact]
    public void Keys_that_are_equal_are_found_however_they_are_written()
    {
        Found(0.0, -0.0);
        Found(double.NaN, BitConverter.UInt64BitsToDouble(0x7FF8_0000_0000_0001));
        Found(0f, -0f);
        Found(float.NaN, -float.NaN);
        Found(new DateTime(5, DateTimeKind.Utc), new DateTime(5, DateTimeKind.Local));
        Found(new DateTimeOffset(2026, 1, 2, 3, 0, 0, TimeSpan.Zero), new DateTimeOffset(2026, 1, 2, 4, 0, 0, TimeSpan.FromHours(1)));
        Found(DayOfWeek.Friday, DayOfWeek.Friday);
        Found(-1L, -1L);
        Found(1.5m, 1.50m);
        Found("key", "key");
    }

    [Fact]
    public void All_tables_that_keep_the_order_in_which_they_are_filled_spread_their_keys()
    {
        var usual = EqualityComparer<long>.Default;
        Assert.NotSame(usual, Back<Dictionary<long, int>>("80").Comparer);
        Assert.NotSame(usual, Assert.IsType<Dictionary<long, int>>(Back<IDictionary<long, int>>("80")).Comparer);
        Assert.NotSame(usual, Assert.IsType<Dictionary<long, int>>(Back<IReadOnlyDictionary<long, int>>("80")).Comparer);
        Assert.NotSame(usual, Back<OrderedDictionary<long, int>>("80").Comparer);
        Assert.NotSame(usual, Back<HashSet<long>>("90").Comparer);
        Assert.NotSame(usual, Assert.IsType<HashSet<long>>(Back<ISet<long>>("90")).Comparer);
        Assert.NotSame(usual, Assert.IsType<HashSet<long>>(Back<IReadOnlySet<long>>("90")).Comparer);
    }

    /// <summary>These tables keep hashes in a tree, by number, or keep none. If a table with chains were filled on the way, keys would be compared along the chains.</summary>
    [Fact]
    public void Immutable_dictionaries_and_sets_are_filled_without_a_table_of_chains()
    {
        Assert.Equal((Keys, 0), Filled<ImmutableDictionary<CountedKey, int>>(map: true));
        Assert.Equal((Keys, 0), Filled<IImmutableDictionary<CountedKey, int>>(map: true));
        Assert.Equal((0, 0), Filled<ImmutableSortedDictionary<CountedKey, int>>(map: true));
        Assert.Equal((Keys, 0), Filled<ImmutableHashSet<CountedKey>>(map: false));
        Assert.Equal((Keys, 0), Filled<IImmutableSet<CountedKey>>(map: false));
        Assert.Equal((0, 0), Filled<ImmutableSortedSet<CountedKey>>(map: false));
    }

    [Fact]
    public void Immutable_dictionaries_are_refused_when_a_key_comes_twice_also_with_the_same_value()
    {
        Assert.Throws<InvalidDataException>(static () => Back<ImmutableDictionary<long, int>>("8205010501"));
        Assert.Throws<InvalidDataException>(static () => Back<IImmutableDictionary<long, int>>("8205010501"));
        Assert.Throws<InvalidDataException>(static () => Back<ImmutableSortedDictionary<long, int>>("8205010501"));
        Assert.Equal(2, Back<ImmutableDictionary<long, int>>("8205010601").Count);
    }

    private static (int Hashes, int Equalities) Filled<T>(bool map)
    {
        byte[] bytes = map
            ? ContractSerializerTests.Bytes(Enumerable.Range(1, Keys).ToDictionary(static i => new CountedKey(i), static i => i))
            : ContractSerializerTests.Bytes(Enumerable.Range(1, Keys).Select(static i => new CountedKey(i)).ToArray());
        (CountedKey.Hashes, CountedKey.Equalities) = (0, 0);
        Assert.Equal(Keys, Assert.IsAssignableFrom<System.Collections.ICollection>(ContractSerializerTests.Back<T>(bytes)).Count);
        return (CountedKey.Hashes, CountedKey.Equalities);
    }

    /// <summary>Hashed and ordered as its number is.</summary>
    internal readonly record struct CountedKey(int Number) : IComparable<CountedKey>
    {
        [ThreadStatic]
        internal static int Hashes, Equalities;

        public bool Equals(CountedKey other)
        {
            Equalities++;
            return Number == other.Number;
        }

        public int CompareTo(CountedKey other) => Number.CompareTo(other.Number);

        public override int GetHashCode()
        {
            Hashes++;
            return Number;
        }
    }

    [Flags]
    private enum FarFlags : ulong;

    private static T Back<T>(string hex) => ContractSerializerTests.Back<T>(Convert.FromHexString(hex));

    // Counts steps along the chains: about as many as keys, while by the keys' own hashes it would be the square.
    private static void Spread<T>(Func<ulong, T> key)
    {
        var comparer = Back<HashSet<T>>("90").Comparer;
        int[] chains = new int[Buckets];
        for (ulong i = 1; i <= Many; i++) chains[(uint)comparer.GetHashCode(key(i)!) % Buckets]++;
        Assert.True(chains.Sum(static length => (long)length * length) < 20 * Many, $"{typeof(T).Name}: {chains.Max()} in one chain");
    }

    private static void Found<T>(T written, T asked) where T : notnull
    {
        Assert.Contains(asked, ContractSerializerTests.Back<HashSet<T>>(ContractSerializerTests.Bytes<T[]>([written])));
        Assert.True(ContractSerializerTests.Back<Dictionary<T, int>>(ContractSerializerTests.Bytes(new Dictionary<T, int> { [written] = 1 })).ContainsKey(asked));
    }
}
