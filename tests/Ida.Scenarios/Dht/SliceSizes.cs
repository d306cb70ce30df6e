using Ida.Ordering;

namespace Ida.Scenarios;

/// <summary>Whether the sizes that a slice counts for its maps are those of its entries.</summary>
internal static class SliceSizes
{
    /// <summary>What differs; null where nothing does.</summary>
    public static string? Wrong(EntryTable table)
    {
        var entries = new List<Entry>();
        var range = new List<Entry>();
        for (int i = 0; i < EntryTable.Ranges; i++)
        {
            table.CopyRange(i, range);
            entries.AddRange(range.Where(static entry => entry.Value is not null));
            range.Clear();
        }
        var counted = entries.GroupBy(static entry => KeyIdentity.MapOf(entry.Key))
            .ToDictionary(static map => map.Key, static map => (map.LongCount(), map.Sum(static entry => (long)entry.Key.Length - KeyIdentity.MapBytes + entry.Value!.Length)));
        bool same = counted.Count == table.Sizes.All.Count && counted.All(map => table.Sizes.Of(map.Key) == map.Value);
        return same ? null : $"A slice counts {Text(table.Sizes.All)} and has {Text(counted)}.";
    }

    private static string Text(IReadOnlyDictionary<ulong, (long Entries, long Bytes)> sizes) => string.Join(", ", sizes.OrderBy(static map => map.Key).Select(static map => $"{map.Key:x}: {map.Value}"));
}
