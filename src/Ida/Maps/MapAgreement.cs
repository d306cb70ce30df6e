using GroupCore.Membership;

namespace Ida.Maps;

/// <summary>
/// Which maps and resolvers the members of a view have in common, and which members' declarations do not fit: a part of the decision, computed by all members alike.
/// Source: dht-view-change.md#only-agreed-maps-are-used.
/// </summary>
internal sealed class MapAgreement
{
    private readonly Dictionary<string, MapShape> _known = new(StringComparer.Ordinal);
    private readonly Dictionary<ulong, string> _names = [];
    private readonly List<MapSet> _taken = [];
    private readonly List<(ProcessId Member, MapSet Set)> _holders = [];
    private List<MapShape> _agreed = [];

    /// <summary>
    /// Takes what a member declares, or says how it contradicts the members that were taken before, or what it lacks of what is already agreed.
    /// </summary>
    public string? Take(MapSet set)
    {
        if (_taken.Exists(set.IsSame)) return null;
        foreach (var map in set.All)
        {
            if (_known.TryGetValue(map.Name, out var known) && map.Contradiction(known) is { } contradiction) return contradiction;
            if (_names.TryGetValue(map.Id, out string? other) && other != map.Name)
                return $"the name of {map.Shown} here has the same hash as that of the map \"{ErrorText.OfAnother(other)}\" there, by which their keys are told apart";
        }
        foreach (var map in _agreed)
        {
            if (set.Find(map.Name) is not { } own) return $"{map.Shown} is not declared here, and is in use there";
            foreach (string incoming in map.Resolvers)
                if (!own.Resolves(incoming)) return $"{map.Shown} has no resolver for {ErrorText.OfAnother(incoming)} here, and one in use there";
        }
        foreach (var map in set.All)
        {
            _known.TryAdd(map.Name, map);
            _names.TryAdd(map.Id, map.Name);
        }
        _taken.Add(set);
        return null;
    }

    /// <summary>All members taken so far are members of the DHT already: what all of them declare is agreed, whichever newcomers follow.</summary>
    public void Settle()
    {
        _agreed = [];
        if (_taken.Count == 0) return;
        foreach (var map in _taken[0].All)
        {
            var resolvers = new List<string>(map.Resolvers);
            bool all = true;
            foreach (var set in _taken)
            {
                var other = set.Find(map.Name);
                all &= other is not null;
                if (other is not null) resolvers.RemoveAll(incoming => !other.Resolves(incoming));
            }
            if (all) _agreed.Add(map with { Resolvers = resolvers });
        }
    }

    /// <summary>A member with a slot in the view: what it lacks cannot be used.</summary>
    public void Hold(ProcessId member, MapSet set)
    {
        if (!_holders.Exists(one => one.Set.IsSame(set))) _holders.Add((member, set));
    }

    /// <summary>A member with a slot that does not declare a map; null if all do.</summary>
    public ProcessId? LackedBy(string map)
    {
        foreach (var (member, set) in _holders)
            if (set.Find(map) is null) return member;
        return null;
    }

    /// <summary>A member with a slot that does not declare a resolver of a map; null if all do.</summary>
    public ProcessId? LackedBy(string map, string incoming)
    {
        foreach (var (member, set) in _holders)
            if (set.Find(map)?.Resolves(incoming) != true) return member;
        return null;
    }
}
