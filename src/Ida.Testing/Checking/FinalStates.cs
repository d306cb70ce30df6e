namespace Ida.Testing.Checking;

/// <summary>Compares the final states of replicas and joins them into one.</summary>
internal static class FinalStates
{
    /// <summary>Reports replicas that differ; returns one value per key, in order of keys, as the first replica has it.</summary>
    public static List<OperationAccess> Merge(History history, bool disjoint, CheckReport report)
    {
        var owner = new SortedDictionary<string, int>(StringComparer.Ordinal);
        var ofShard = new Dictionary<int, FinalState>();
        for (int i = 0; i < history.Finals.Count; i++)
        {
            var replica = history.Finals[i];
            FinalState? sibling = null;
            foreach (var (key, value) in replica.State.OrderBy(pair => pair.Key, StringComparer.Ordinal))
            {
                if (value.IsAbsent) continue;
                if (!owner.TryGetValue(key, out int first))
                {
                    owner[key] = i;
                    continue;
                }
                var other = history.Finals[first];
                sibling ??= other;
                if (other.State[key] != value)
                    report.Add(AnomalyKind.Divergence, key, $"key {key}: {other.Member} has {other.State[key]}, {replica.Member} has {value}");
                else if (VersionOf(other, key) is { } left && VersionOf(replica, key) is { } right && left != right)
                    report.Add(AnomalyKind.Divergence, key, $"key {key}: {other.Member} has version {left}, {replica.Member} has version {right}");
            }
            if (replica.Shard is { } shard && !ofShard.TryAdd(shard, replica)) CompareKeys(ofShard[shard], replica, report);
            else if (disjoint && sibling is not null) CompareKeys(sibling, replica, report);
        }
        return [.. owner.Select(pair => new OperationAccess(pair.Key, history.Finals[pair.Value].State[pair.Key], VersionOf(history.Finals[pair.Value], pair.Key)))];
    }

    private static void CompareKeys(FinalState left, FinalState right, CheckReport report)
    {
        foreach (string key in left.State.Keys.Union(right.State.Keys, StringComparer.Ordinal).Order(StringComparer.Ordinal))
        {
            bool inLeft = Holds(left, key), inRight = Holds(right, key);
            if (inLeft == inRight) continue;
            var (has, lacks) = inLeft ? (left, right) : (right, left);
            report.Add(AnomalyKind.Divergence, key, $"key {key}: {has.Member} has {has.State[key]}, {lacks.Member} of the same shard has none");
        }
    }

    private static bool Holds(FinalState replica, string key) => replica.State.TryGetValue(key, out var value) && !value.IsAbsent;

    private static long? VersionOf(FinalState replica, string key) => replica.Versions is { } versions && versions.TryGetValue(key, out long version) ? version : null;
}
