using Ida.Ordering;

namespace Ida.Tests;

/// <summary>What a slice keeps of keys that are gone.</summary>
public sealed class EntryTableTests
{
    [Fact]
    public void R_a_table_that_was_large_becomes_small_and_loses_nothing()
    {
        const int Keys = 100_000, Left = 100;
        var table = new EntryTable();
        int least = table.Buckets;
        var entries = Enumerable.Range(0, Keys).Select(i =>
        {
            byte[] key = BitConverter.GetBytes(i);
            return table.FindOrAdd(key, StableHash.Of(key), 1);
        }).ToList();
        Assert.InRange(table.Buckets, Keys / 2, Keys * 4);
        foreach (var entry in entries.Skip(Left)) table.Remove(entry);
        Assert.InRange(table.Buckets, least, least * 4);
        Assert.All(entries.Take(Left), entry => Assert.Same(entry, table.Find(entry.Key, entry.Hash)));
        Assert.All(entries.Skip(Left), entry => Assert.Null(table.Find(entry.Key, entry.Hash)));
        Assert.Equal(Left, table.Count);
    }
}
