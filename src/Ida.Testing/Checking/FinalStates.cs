namespace Ida.Testing.Checking;

/// <summary>Compares the final states of replicas and joins them into one.</summary>
internal static class FinalStates
{
    /// <summary>Reports replicas that differ; returns one value per key, in order of keys, the first replica deciding.</summary>
    public static List<OperationAccess> Merge(History history, bool disjoint, CheckReport report)
    {
        var owner = new SortedDictionary<string, int>(StringComparer.Ordinal);
        for (int i = 0; i < history.Finals.Count; i++)
        {
            var replica = history.Finals[i];
            int shard = -1;
            foreach (var (key, value) in replica.State.OrderBy(pair => pair.Key, StringComparer.Ordinal))
            {
                if (value.IsAbsent) continue;
                if (!owner.TryGetValue(key, out int first))
                {
                    owner[key] = i;
                    continue;
                }
                shard = shard < 0 ? first : shard;
                var other = history.Finals[first];
                if (other.State[key] != value)
                    report.Add(AnomalyKind.Divergence, key, $"key {key}: {other.Member} has {other.State[key]}, {replica.Member} has {value}");
            }
            if (disjoint && shard >= 0) CompareKeys(history.Finals[shard], replica, report);
        }
        return [.. owner.Select(pair => new OperationAccess(pair.Key, history.Finals[pair.Value].State[pair.Key], null))];
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
}
