using Ida.Testing.Checking;

namespace Ida.Scenarios;

/// <summary>
/// Judges what members show of their slices while anything fails, by what clients were told. Somebody must have written each value, with the version that its caller was told. A
/// member that says it has all of its shard must show what its own callers were told before it was asked. In such a slice, which is one moment, a put of several keys must show
/// in all of the keys that are there, or in none.
/// </summary>
/// <remarks>Only lists are never removed, so only they are known to be there.</remarks>
internal sealed class SurfaceSlices
{
    private readonly List<(int Member, string Key, int Shard, ulong Version)> _told = [];
    private readonly List<(string Client, List<(string Key, ulong Version)> Pairs)> _puts = [];
    private readonly List<(string Who, bool IsWhole, Dictionary<string, ulong> Versions)> _shown = [];
    private readonly SeenSlices _values = new();

    /// <summary>How many answers to members' own callers there were so far.</summary>
    public int Told => _told.Count;

    /// <summary>Notes the versions that the caller of an applied put was told.</summary>
    /// <param name="operation">The put.</param>
    /// <param name="told">What it was told.</param>
    /// <param name="by">The only member at which it was called, which has therefore executed its part; null if there were several.</param>
    public void Add(SurfaceOperation operation, SurfaceTold told, HarnessMember? by)
    {
        if (told is not { IsApplied: true, Versions.Count: > 0 } || operation.Dead.Count > 0) return;
        var changed = operation.Parts.Index().Where(static one => one.Item.Kind is PartKind.Append or PartKind.Put).ToList();
        if (changed.Count > 1) _puts.Add((operation.Client, changed.ConvertAll(one => (one.Item.Name, told.Versions[one.Index]))));
        if (by is null) return;
        foreach (var (i, part) in changed)
            if (part.Kind == PartKind.Append) _told.Add((by.Index, part.Name, SurfaceDriver.ShardOf(by.Dht, part), told.Versions[i]));
    }

    /// <summary>A member has answered a snapshot; throws if it lacks what its own callers were told.</summary>
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

    /// <summary>
    /// What is wrong with slices of members for which <paramref name="lasts"/> holds; null for nothing. Others are not judged: a member that was excluded and does not know it
    /// may hold what the rest does not have.
    /// </summary>
    public string? Wrong(History history, Func<string, bool> lasts)
    {
        foreach (var (who, isWhole, versions) in _shown)
        {
            if (!isWhole || !lasts(who)) continue;
            foreach (var (client, pairs) in _puts)
            {
                // A value that is not there may have been removed, or its key may be of another shard.
                var there = pairs.FindAll(pair => versions.ContainsKey(pair.Key));
                if (there.Find(pair => versions[pair.Key] >= pair.Version) is { Key: { } shows } && there.Find(pair => versions[pair.Key] < pair.Version) is { Key: { } lacks })
                    return $"{who} shows a put of {client} in {shows} and not in {lacks}, which it was to change together.";
            }
        }
        return _values.Wrong(history, lasts);
    }
}
