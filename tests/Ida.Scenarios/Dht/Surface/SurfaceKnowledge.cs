using GroupCore.Runtime;
using Ida.Testing.Checking;

namespace Ida.Scenarios;

/// <summary>What clients were told that keys held, and with which version, so that later puts can expect it.</summary>
internal sealed class SurfaceKnowledge(Prng random)
{
    /// <summary>Years ahead of any clock: added to a version, it makes one that no key ever has.</summary>
    public const ulong Never = 1UL << 60;

    private readonly Dictionary<string, List<(ulong Version, HistoryValue Value)>> _seen = [];

    /// <summary>A key held the value with the version; with version 0 it was absent.</summary>
    public void Learn(string key, ulong version, HistoryValue value)
    {
        if (!_seen.TryGetValue(key, out var seen)) _seen[key] = seen = [];
        seen.Add((version, value));
    }

    /// <summary>What a key held with a version; null where nobody was told.</summary>
    public HistoryValue? ValueOf(string key, ulong version)
    {
        if (version == 0) return HistoryValue.Absent;
        int at = _seen.TryGetValue(key, out var seen) ? seen.FindIndex(one => one.Version == version) : -1;
        return at < 0 ? default(HistoryValue?) : seen![at].Value;
    }

    /// <summary>What to expect of a key: most often what was told last, which may still hold. A null value means that no key ever has the version.</summary>
    public (ulong Version, HistoryValue? Value) Guess(string key)
    {
        if (!_seen.TryGetValue(key, out var seen)) return (0, HistoryValue.Absent);
        int what = random.Next(8);
        if (what == 0) return (0, HistoryValue.Absent);
        // Not a plain null, which would become a text value, but no value at all.
        if (what == 1) return (seen[^1].Version + Never, default(HistoryValue?));
        return what == 2 ? seen[random.Next(seen.Count)] : seen[^1];
    }
}
