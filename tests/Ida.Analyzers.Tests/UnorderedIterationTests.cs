namespace Ida.Analyzers.Tests;

/// <summary>IDA0001 reports code that follows the order of a hash table, and nothing that has an order of its own.</summary>
public sealed class UnorderedIterationTests
{
    [Theory]
    [InlineData("Dictionary<int, int> t", "t")]
    [InlineData("Dictionary<int, int> t", "t.Keys")]
    [InlineData("Dictionary<int, int> t", "t.Values")]
    [InlineData("HashSet<int> t", "t")]
    [InlineData("ConcurrentDictionary<int, int> t", "t")]
    [InlineData("FrozenDictionary<int, int> t", "t")]
    [InlineData("FrozenSet<int> t", "t")]
    [InlineData("ImmutableDictionary<int, int> t", "t")]
    [InlineData("ImmutableHashSet<int> t", "t")]
    public async Task A_loop_and_a_spread_over_a_hash_table_are_reported(string parameter, string source)
    {
        Assert.Equal([source], await ReportsInAsync(parameter, $"foreach (var each in {source}) Console.Write(each);"));
        Assert.Equal([source], await ReportsInAsync(parameter, $"object[] all = [.. {source}];"));
    }

    [Theory]
    [InlineData("foreach (var (key, value) in t) Console.Write(key + value);", "t")]
    [InlineData("foreach (var each in (IEnumerable<KeyValuePair<int, int>>)t) Console.Write(each);", "(IEnumerable<KeyValuePair<int, int>>)t")]
    [InlineData("_ = t.First();", "t")]
    [InlineData("_ = t.Values.ToList();", "t.Values")]
    [InlineData("_ = Enumerable.ToArray(t.Keys);", "t.Keys")]
    [InlineData("_ = t.Where(each => each.Key > 1);", "t")]
    [InlineData("_ = from each in t select each.Key;", "t")]
    public async Task A_query_and_a_loop_in_disguise_are_reported(string body, string source)
    {
        string reported = Assert.Single(await ReportsInAsync("Dictionary<int, int> t", body));
        Assert.Contains(reported, source, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("List<int> t", "foreach (int each in t) Console.Write(each);")]
    [InlineData("int[] t", "foreach (int each in t) Console.Write(each);")]
    [InlineData("SortedDictionary<int, int> t", "foreach (var each in t.Values) Console.Write(each);")]
    [InlineData("SortedSet<int> t", "object[] all = [.. t];")]
    [InlineData("ImmutableSortedDictionary<int, int> t", "_ = t.First();")]
    [InlineData("ImmutableArray<int> t", "_ = t.Select(each => each + 1);")]
    public async Task What_has_an_order_is_not_reported(string parameter, string body) => Assert.Empty(await ReportsInAsync(parameter, body));

    [Theory]
    [InlineData("_ = t[1]; t.Add(2, 2); t.Remove(1); _ = t.TryGetValue(3, out _);")]
    [InlineData("_ = t.Count; _ = t.Count(); _ = t.Any(each => each.Key > 1); _ = t.All(each => each.Key > 1); _ = t.Contains(new(1, 1));")]
    [InlineData("for (int i = 0; i < t.Count; i++) Console.Write(i);")]
    public async Task Code_in_which_no_order_shows_is_not_reported(string body) => Assert.Empty(await ReportsInAsync("Dictionary<int, int> t", body));

    private static Task<string[]> ReportsInAsync(string parameters, string body) => Snippet.ReportsInAsync<UnorderedIterationAnalyzer>("IDA0001", parameters, body);
}
