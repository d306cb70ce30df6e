namespace QuickStart.Data;

/// <summary>
/// What a key holds after a put on it. Every replica runs these, in the same order, so they may depend on their arguments only. They add
/// blindly: if a put were applied twice, a name would stand in a list twice and a counter would be too high.
/// </summary>
internal static class Resolvers
{
    /// <summary>A name comes to the end of a country's list.</summary>
    public static string[] Append(string country, string[]? stored, string name) => [.. stored ?? [], name];

    /// <summary>A counter is raised.</summary>
    public static int Add(string continent, int stored, int more) => stored + more;
}
