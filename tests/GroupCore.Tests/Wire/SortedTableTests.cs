namespace GroupCore.Tests.Wire;

/// <summary>Sorted tables as they are read: what came in another order than theirs costs no more.</summary>
public sealed class SortedTableTests
{
    private const int Keys = 1000;

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

    /// <summary>How many comparisons in a row, the last ones, found a key behind one that was there.</summary>
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
