namespace GroupCore.Membership;

/// <summary>Computes the next rank list: a pure function that the Oracle and every member run alike.</summary>
internal static class Ranks
{
    /// <summary>The next list: from the old one, the members of it that stay, and the joiners in joining order.</summary>
    public static List<ProcessId> Compose(IReadOnlyList<ProcessId> old, Func<ProcessId, bool> stays, IReadOnlyList<ProcessId> joined, Composition policy)
    {
        var next = new List<ProcessId?>(old.Count + joined.Count);
        foreach (var member in old)
        {
            if (stays(member)) next.Add(member);
            else if (policy == Composition.HotSwap) next.Add(null);
        }
        foreach (var joiner in joined) next.Add(joiner);
        TrimEnd(next);
        for (int rank = 0; rank < next.Count; rank++)
        {
            if (next[rank] is not null) continue;
            next[rank] = next[^1];
            next.RemoveAt(next.Count - 1);
            TrimEnd(next);
        }
        return next.ConvertAll(member => member!.Value);
    }

    private static void TrimEnd(List<ProcessId?> list)
    {
        while (list.Count > 0 && list[^1] is null) list.RemoveAt(list.Count - 1);
    }
}
