namespace Ida.Testing;

/// <summary>Delta debugging: leaves out halves, quarters, … single items of a list while what is left still fails.</summary>
internal static class ListShrinker
{
    /// <summary>The smallest list found with at most <paramref name="maxRuns"/> calls of <paramref name="fails"/>.</summary>
    public static List<T> Shrink<T>(List<T> items, Func<List<T>, bool> fails, int maxRuns)
    {
        int runs = 0;
        bool Fails(List<T> candidate) => runs++ < maxRuns && fails(candidate);
        bool smaller = true;
        while (smaller && runs < maxRuns) smaller = Once(ref items, Fails);
        return items;
    }

    /// <summary>One pass from coarse to fine; returns whether anything could be left out.</summary>
    public static bool Once<T>(ref List<T> items, Func<List<T>, bool> fails)
    {
        bool removed = false;
        for (int chunk = Math.Max(1, items.Count); chunk >= 1; chunk /= 2)
        {
            for (int at = 0; at < items.Count;)
            {
                var candidate = items.ToList();
                candidate.RemoveRange(at, Math.Min(chunk, items.Count - at));
                if (fails(candidate)) (items, removed) = (candidate, true);
                else at += chunk;
            }
        }
        return removed;
    }
}
