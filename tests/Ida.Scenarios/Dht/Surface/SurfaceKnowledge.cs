using GroupCore.Runtime;

namespace Ida.Scenarios;

/// <summary>What clients were told that keys held, with which version: to expect it of later puts.</summary>
internal sealed class SurfaceKnowledge(Prng random)
{
    // Years ahead of any clock.
    private const ulong Never = 1UL << 60;
    private readonly Dictionary<string, List<(ulong Version, long? Element)>> _seen = [];

    /// <summary>A key held the element with the version; with version 0 it was absent.</summary>
    public void Learn(string key, ulong version, long? element)
    {
        if (!_seen.TryGetValue(key, out var seen)) _seen[key] = seen = [];
        seen.Add((version, element));
    }

    /// <summary>What a key held with a version, as far as anybody was told.</summary>
    public long? ElementOf(string key, ulong version) => version == 0 || !_seen.TryGetValue(key, out var seen) ? null : seen.Find(one => one.Version == version).Element;

    /// <summary>What to expect of a key: most often what was told last, which may hold still.</summary>
    public (ulong Version, long? Element) Guess(string key)
    {
        if (!_seen.TryGetValue(key, out var seen)) return (0, null);
        return random.Next(8) switch
        {
            0 => (0, null),
            1 => (seen[^1].Version + Never, null),
            2 => seen[random.Next(seen.Count)],
            _ => seen[^1],
        };
    }
}
