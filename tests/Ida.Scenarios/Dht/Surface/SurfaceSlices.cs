using Ida.Testing.Checking;

namespace Ida.Scenarios;

/// <summary>
/// What members show of their slices while anything fails, judged by what clients were told. Each value is one that somebody wrote, with the version that its caller was told. A put of several keys shows in all
/// that the slice has, or in none: a slice is one moment. And a member that says it has all of its shard shows what its own callers were told before it was asked.
/// </summary>
/// <remarks>Lists are never removed, so of them alone it is known that they must be there.</remarks>
internal sealed class SurfaceSlices
{
    private readonly List<(int Member, string Key, int Shard, ulong Version)> _told = [];
    private readonly List<(string Client, List<(string Key, ulong Version)> Pairs)> _puts = [];
    private readonly List<(string Who, bool IsWhole, Dictionary<string, ulong> Versions)> _shown = [];
    private readonly SeenSlices _values = new();

    /// <summary>How many answers to members' own callers there were so far.</summary>
    public int Told => _told.Count;

    /// <summary>The caller of a put that was applied was told versions.</summary>
    /// <param name="operation">The put.</param>
    /// <param name="told">What it was told.</param>
    /// <param name="by">The member by which alone it was called, so that this one has executed its part; null for several.</param>
    public void Add(SurfaceOperation operation, SurfaceTold told, HarnessMember? by)
    {
        if (told is not { IsApplied: true, Versions.Count: > 0 } || operation.Dead.Count > 0) return;
        var changed = operation.Parts.Index().Where(static one => one.Item.Kind is PartKind.Append or PartKind.Put).ToList();
        if (changed.Count > 1) _puts.Add((operation.Client, changed.ConvertAll(one => (one.Item.Name, told.Versions[one.Index]))));
        if (by is null) return;
        foreach (var (i, part) in changed)
            if (part.Kind == PartKind.Append) _told.Add((by.Index, part.Name, SurfaceDriver.ShardOf(by.Dht, part), told.Versions[i]));
    }

    /// <summary>A member has answered a snapshot; throws where it lacks what its own callers were told.</summary>
    /// <param name="member">The member.</param>
    /// <param name="asked">When it was asked, by the recorder of the history.</param>
    /// <param name="told">How many answers there were then.</param>
    /// <param name="slice">What it shows.</param>
    public void Add(HarnessMember member, long asked, int told, LocalSlice slice)
    {
        string who = $"m{member.Index}";
        var versions = new Dictionary<string, ulong>();
        var lists = new Dictionary<string, (List<string>, long)>();
        var values = new Dictionary<string, (string, long)>();
        foreach (string map in SurfaceDriver.Lists)
            foreach (var (key, found) in slice.Of(SurfaceDriver.List(member.Dht, map)))
            {
                versions[$"{map}:{key}"] = found.Version;
                lists[$"{map}:{key}"] = (found.Value.ConvertAll(static element => SeenSlices.TextOf(element)), (long)found.Version);
            }
        foreach (string map in SurfaceDriver.Values)
            foreach (var (key, found) in slice.Of(SurfaceDriver.Value(member.Dht, map)))
            {
                versions[$"{map}:{key}"] = found.Version;
                values[$"{map}:{key}"] = (SeenSlices.TextOf(SurfacePart.ElementOf(found.Value)), (long)found.Version);
            }
        _shown.Add((who, slice.IsInitialised, versions));
        // What must be there is judged here.
        _values.Add(new(who, asked, slice.IsInitialised, lists, values, static _ => false));
        if (!slice.IsInitialised) return;
        foreach (var (by, key, shard, version) in _told.Take(told))
        {
            if (by == member.Index && shard == slice.Shard && versions.GetValueOrDefault(key) < version)
                throw new ScenarioFailedException($"{who} shows a whole slice with {key} at version {versions.GetValueOrDefault(key)}, and had told its own caller version {version} before.");
        }
    }

    /// <summary>What was wrong with slices of members that <paramref name="lasts"/>; null for nothing. What one holds that is excluded meanwhile, and does not know it, the others need not have.</summary>
    public string? Wrong(History history, Func<string, bool> lasts)
    {
        foreach (var (who, isWhole, versions) in _shown)
        {
            if (!isWhole || !lasts(who)) continue;
            foreach (var (client, pairs) in _puts)
            {
                // Of a value that is not there it is not known whether it was removed, and of none whether its key is of this shard.
                var there = pairs.FindAll(pair => versions.ContainsKey(pair.Key));
                if (there.Find(pair => versions[pair.Key] >= pair.Version) is { Key: { } shows } && there.Find(pair => versions[pair.Key] < pair.Version) is { Key: { } lacks })
                    return $"{who} shows a put of {client} in {shows} and not in {lacks}, which it was to change together.";
            }
        }
        return _values.Wrong(history, lasts);
    }
}
