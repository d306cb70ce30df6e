using System.Collections.Concurrent;
using System.Collections.Frozen;
using System.Collections.Immutable;
using System.Collections.ObjectModel;

namespace GroupCore.Tests.Wire;

/// <summary>Tables of the same content have the same bytes. Replicas are other processes, in which texts have other hashes and may be sorted in another order.</summary>
public sealed class OwnOrderTests
{
    private const int Entries = 50;

    // Two processes, each with hashes of its own.
    private static readonly Seeded s_one = new(1), s_other = new(77_777);

    private static string[] Texts { get; } = [.. Enumerable.Range(0, Entries).Select(static i => $"text {i}")];

    [Fact]
    public void Sets()
    {
        Same<ImmutableHashSet<string>>(static by => ImmutableHashSet.Create(by, Texts));
        Same<IImmutableSet<string>>(static by => ImmutableHashSet.Create(by, Texts));
        Same<IReadOnlySet<string>>(static by => ImmutableHashSet.Create(by, Texts));
        Same<ISet<string>>(static by => ImmutableHashSet.CreateRange(by, Texts).ToBuilder());
        Same<IEnumerable<string>>(static by => ImmutableHashSet.Create(by, Texts));
        Same<IReadOnlyCollection<string>>(static by => ImmutableHashSet.Create(by, Texts));
        Same<FrozenSet<string>>(static by => Texts.ToFrozenSet(by));
        Same<ReadOnlySet<string>>(static by => new(ImmutableHashSet.Create(by, Texts)));
    }

    /// <summary>What several threads have put into a bag has an order that nobody chose.</summary>
    [Fact]
    public void Bags() => Same<ConcurrentBag<string>>(static by => [.. Texts.OrderBy(by.GetHashCode)]);

    [Fact]
    public void Dictionaries()
    {
        Same<ImmutableDictionary<string, int>>(static by => Table.ToImmutableDictionary(by));
        Same<IImmutableDictionary<string, int>>(static by => Table.ToImmutableDictionary(by));
        Same<IReadOnlyDictionary<string, int>>(static by => Table.ToImmutableDictionary(by));
        Same<IDictionary<string, int>>(static by => Table.ToImmutableDictionary(by).ToBuilder());
        Same<FrozenDictionary<string, int>>(static by => Table.ToFrozenDictionary(by));
        Same<ConcurrentDictionary<string, int>>(static by => new(1 + by.Seed % 7, Table, by));
        Same<ReadOnlyDictionary<string, int>>(static by => new(new ConcurrentDictionary<string, int>(Table, by)));
    }

    [Fact]
    public void Sorted_tables_of_texts()
    {
        Same<SortedSet<string>>(static by => new(Texts, by));
        Same<ISet<string>>(static by => new SortedSet<string>(Texts, by));
        Same<ImmutableSortedSet<string>>(static by => ImmutableSortedSet.Create(by, Texts));
        Same<SortedDictionary<string, int>>(static by => new(new Dictionary<string, int>(Table), by));
        Same<SortedList<string, int>>(static by => new(new Dictionary<string, int>(Table), by));
        Same<IReadOnlyDictionary<string, int>>(static by => Table.ToImmutableSortedDictionary(by));
        // Equal in most cultures, which ignore soft hyphens.
        Assert.Equal(2, ContractSerializerTests.Back<SortedSet<string>>(ContractSerializerTests.Bytes<string[]>(["coop", "co\u00ADop"])).Count);
        Assert.Equal(StringComparer.Ordinal, ContractSerializerTests.Back<ImmutableSortedDictionary<string, int>>([0x80]).KeyComparer);
        Assert.Equal("93FF0001", Hex<SortedSet<int>>([1, 0, -1]));
    }

    [Fact]
    public void Tables_in_tables_and_objects()
    {
        Same<ImmutableDictionary<string, Held>>(static by => Texts.ToImmutableDictionary(static text => text, text => new Held(ImmutableHashSet.Create(by, Texts), text), by));
        Same<ImmutableHashSet<Held>>(static by => ImmutableHashSet.CreateRange(Texts.Select(text => new Held(ImmutableHashSet.Create(by, "a", "b", "c"), text))));
    }

    [Fact]
    public void Others_keep_the_order_in_which_they_were_filled()
    {
        string[] texts = ["b", "a"];
        Assert.Equal("92A162A161", Hex<HashSet<string>>([.. texts]));
        Assert.Equal("92A162A161", Hex<IEnumerable<string>>(texts));
        Assert.Equal("82A16201A16102", Hex(new Dictionary<string, int> { ["b"] = 1, ["a"] = 2 }));
        Assert.Equal("82A16102A16201", Hex(new Dictionary<string, int> { ["b"] = 1, ["a"] = 2 }.ToImmutableDictionary()));
    }

    private static KeyValuePair<string, int>[] Table { get; } = [.. Texts.Select(static (text, i) => KeyValuePair.Create(text, i))];

    private static string Hex<T>(T value) => Convert.ToHexString(ContractSerializerTests.Bytes(value));

    // Also when it has been read back, in this process.
    private static void Same<T>(Func<Seeded, T> make)
    {
        byte[] bytes = ContractSerializerTests.Bytes(make(s_one));
        Assert.Equal(bytes, ContractSerializerTests.Bytes(make(s_other)));
        Assert.Equal(bytes.Length, ContractSerializerTests.Bytes(ContractSerializerTests.Back<T>(bytes)).Length);
    }

    public sealed record Held(ImmutableHashSet<string> Texts, string Name);

    private sealed class Seeded(int seed) : IEqualityComparer<string>, IComparer<string>
    {
        public int Seed => seed;

        public bool Equals(string? x, string? y) => x == y;

        public int Compare(string? x, string? y) => seed == 1 ? string.CompareOrdinal(x, y) : string.CompareOrdinal(y, x);

        public int GetHashCode(string text)
        {
            int hash = seed;
            foreach (char one in text) hash = unchecked(((hash << 5) ^ (hash >> 3)) * 31) + one;
            return hash;
        }
    }
}
