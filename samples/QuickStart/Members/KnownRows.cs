using System.Collections.Concurrent;
using QuickStart.Checks;

namespace QuickStart.Members;

/// <summary>Rows whose put was acknowledged at any member, or that a read has shown: each later read must show them.</summary>
internal sealed class KnownRows
{
    private readonly ConcurrentDictionary<string, bool> _names = new(StringComparer.Ordinal);

    public void Add(string name) => _names[name] = true;

    /// <summary>The rows of a cut that are known now; called before a read of the cut begins.</summary>
    public HashSet<string> Of(Cut cut) => [.. cut.Rows.Select(r => r.Name).Where(_names.ContainsKey)];
}
