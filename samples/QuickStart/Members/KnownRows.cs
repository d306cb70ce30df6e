using System.Collections.Concurrent;
using QuickStart.Checks;

namespace QuickStart.Members;

/// <summary>Rows that somebody was told are stored, or that a read has shown: each later read must show them.</summary>
internal sealed class KnownRows
{
    private readonly ConcurrentDictionary<string, bool> _names = new(StringComparer.Ordinal);

    public void Add(string name) => _names[name] = true;

    /// <summary>What is known of a cut at this instant, before a read of it begins.</summary>
    public HashSet<string> Of(Cut cut) => [.. cut.Rows.Select(r => r.Name).Where(_names.ContainsKey)];
}
