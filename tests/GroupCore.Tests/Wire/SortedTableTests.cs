using System.Collections.Immutable;
using GroupCore.Wire;
using GroupCore.Wire.MessagePack;

namespace GroupCore.Tests.Wire;

/// <summary>How sorted tables are read: entries in another order cost no more, and texts, in tuples too, are in the order of their characters.</summary>
public sealed class SortedTableTests
{
    private const int Keys = 1000;

    // Equal in most cultures, which ignore soft hyphens.
    private const string One = "coop", Other = "co\u00ADop";

    /// <summary>Each entry that goes before others moves them: 45,000 texts took 160 ms, and a million 80 s.</summary>
    [Fact]
    public void Sorted_lists_are_filled_at_their_end_in_whatever_order_the_entries_came()
    {
        Assert.True(Appended<SortedList<RankedKey, int>>() >= Keys - 1);
        Assert.True(Appended<OwnList>() >= Keys - 1);
    }

    [Fact]
    public void Sorted_lists_are_refused_when_a_key_comes_twice()
    {
        Assert.Throws<InvalidDataException>(static () => ContractSerializerTests.Back<SortedList<int, int>>([0x83, 5, 1, 4, 1, 5, 1]));
    }

    [Fact]
    public void Texts_in_tuples_are_told_apart_by_their_characters()
    {
        (string, int)[] keys = [(One, 1), (Other, 1)];
        Two<SortedSet<(string, int)>>(keys);
        Two<ImmutableSortedSet<(string, int)>>(keys);
        Two<SortedSet<Tuple<int, string>>>(new Tuple<int, string>[] { new(1, One), new(1, Other) });
        Two<SortedSet<(int, string)?>>(new (int, string)?[] { (1, One), (1, Other) });
        Two<SortedSet<(int, int, int, int, int, int, int, string, int)>>(new[] { (1, 2, 3, 4, 5, 6, 7, One, 8), (1, 2, 3, 4, 5, 6, 7, Other, 8) });
        // These keys can be compared only with each other.
        Two<SortedSet<(string, RankedKey)>>(new[] { (One, new RankedKey(1)), (One, new RankedKey(2)) });
        Two<SortedSet<(RankedKey?, string)>>(new (RankedKey?, string)[] { (new RankedKey(1), One), (new RankedKey(2), One) });
        var table = keys.ToDictionary(static key => key, static key => 0);
        Two<SortedDictionary<(string, int), int>>(table);
        Two<SortedList<(string, int), int>>(table);
        Two<ImmutableSortedDictionary<(string, int), int>>(table);
        // These tests run without a culture, so no two texts are equal.
        Assert.NotSame(Comparer<(string, int)>.Default, ContractSerializerTests.Back<SortedSet<(string, int)>>([0x90]).Comparer);
        Assert.NotSame(Comparer<(string, int)>.Default, ContractSerializerTests.Back<SortedList<(string, int), int>>([0x80]).Comparer);
    }

    [Fact]
    public void Tuples_are_sorted_item_by_item_and_nothing_comes_first()
    {
        (string?, int)?[] sorted = [null, (null, 3), ("B", 1), ("B", 2), ("a", 0)];
        Assert.Equal(sorted, ContractSerializerTests.Back<SortedSet<(string?, int)?>>(ContractSerializerTests.Bytes<(string?, int)?[]>([.. Enumerable.Reverse(sorted)])));
        Assert.Same(Comparer<(int, long)>.Default, ContractSerializerTests.Back<SortedSet<(int, long)>>([0x90]).Comparer);
    }

    /// <summary>No reader could sort them, since the comparer of whoever made them does not travel.</summary>
    [Fact]
    public void Tables_that_are_sorted_by_an_order_which_their_items_do_not_have_are_refused()
    {
        Refused<SortedSet<Point>>("Point");
        Refused<SortedDictionary<Point, int>>("Point");
        Refused<SortedList<Uri, int>>("Uri");
        Refused<ImmutableSortedSet<int[]>>("Int32[]");
        Refused<ImmutableSortedDictionary<Pair, int>>("Pair");
        Refused<SortedSet<Pair?>>("Nullable<Pair>");
        Refused<SortedSet<(int, Point)>>("ValueTuple<Int32, Point>");
        Refused<SortedSet<(string, Point)>>("ValueTuple<String, Point>");
        Refused<SortedSet<(int, int, int, int, int, int, int, Point)>>("Point");
        // These compare their items as objects.
        Refused<SortedSet<Tuple<int, RankedKey>>>("Tuple<Int32, RankedKey>");
    }

    [Fact]
    public void Tables_of_whatever_has_an_order_are_read()
    {
        Two<SortedSet<RankedKey>>(new[] { new RankedKey(1), new RankedKey(2) });
        Two<SortedSet<RankedKey?>>(new RankedKey?[] { new(1), null });
        Two<SortedSet<Later>>(new[] { new Later(1), new Later(2) });
        Two<SortedSet<Colour>>(new[] { Colour.Red, Colour.Blue });
        Two<SortedSet<(int, RankedKey?)>>(new (int, RankedKey?)[] { (1, new(1)), (1, null) });
        Two<SortedSet<Tuple<string, RankedKey>>>(new Tuple<string, RankedKey>[] { new(One, new(1)), new(One, new(2)) });
        Two<SortedSet<Tuple<int, long?, (byte, RankedKey), Tuple<Guid>>>>(new Tuple<int, long?, (byte, RankedKey), Tuple<Guid>>[] { new(1, 1, (1, new(1)), new(default)), new(1, 1, (1, new(2)), new(default)) });
        Two<SortedSet<(int, int, int, int, int, int, int, RankedKey)>>(new[] { (1, 2, 3, 4, 5, 6, 7, new RankedKey(1)), (1, 2, 3, 4, 5, 6, 7, new RankedKey(2)) });
        Two<ByNumber>(new[] { new Point(1, 1), new Point(2, 2) });
    }

    private static void Refused<T>(string items)
    {
        string message = Assert.Throws<ContractException>(ContractSerializer.Check<T>).Message;
        Assert.Contains("order", message, StringComparison.Ordinal);
        Assert.Contains(items, message, StringComparison.Ordinal);
    }

    private static void Two<T>(System.Collections.ICollection written) =>
        Assert.Equal(2, Assert.IsAssignableFrom<System.Collections.ICollection>(ContractSerializerTests.Back<T>(Written((dynamic)written))).Count);

    private static byte[] Written<TAs>(TAs value) => ContractSerializerTests.Bytes(value);

    /// <summary>How many of the last comparisons in a row found a key behind an existing one.</summary>
    private static int Appended<T>()
    {
        var mixed = Enumerable.Range(0, Keys).ToDictionary(static i => new RankedKey(i * 7919 % Keys), static i => i);
        byte[] bytes = ContractSerializerTests.Bytes(mixed);
        RankedKey.Behind = 0;
        var read = Assert.IsAssignableFrom<SortedList<RankedKey, int>>(ContractSerializerTests.Back<T>(bytes));
        int behind = RankedKey.Behind;
        Assert.Equal(Enumerable.Range(0, Keys), read.Keys.Select(static key => key.Number));
        Assert.All(read, pair => Assert.Equal(mixed[pair.Key], pair.Value));
        return behind;
    }

    internal record Earlier(int Number) : IComparable<Earlier>
    {
        public int CompareTo(Earlier? other) => Number.CompareTo(other?.Number);
    }

    internal sealed record Later(int Number) : Earlier(Number);

    /// <summary>It has the same order wherever it is made.</summary>
    internal sealed class ByNumber() : SortedSet<Point>(Comparer<Point>.Create(static (one, other) => one.X.CompareTo(other.X)));

    internal sealed class OwnList : SortedList<RankedKey, int>;

    internal readonly record struct RankedKey(int Number) : IComparable<RankedKey>
    {
        [ThreadStatic]
        internal static int Behind;

        public int CompareTo(RankedKey other)
        {
            Behind = Number < other.Number ? Behind + 1 : 0;
            return Number.CompareTo(other.Number);
        }
    }
}
