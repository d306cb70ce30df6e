namespace QuickStart.Data;

/// <summary>
/// Computes the value of a key after a put on it. Every replica runs these resolvers, in the same order, so they may depend only on their arguments. They do not look for
/// repetitions: if a put were applied twice, a name would occur twice in a list and a counter would be too high.
/// </summary>
internal static class Resolvers
{
    /// <summary>Appends a zone's name to a country's list.</summary>
    public static string[] Append(string country, string[]? stored, string name) => [.. stored ?? [], name];

    /// <summary>Adds to a continent's counter.</summary>
    public static int Add(string continent, int stored, int more) => stored + more;
}
