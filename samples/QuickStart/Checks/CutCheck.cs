namespace QuickStart.Checks;

/// <summary>
/// Checks that the result of one atomic read is a state that whole puts can lead to. The check is exact, since only the put of a row writes its name anywhere: the row is
/// there ⇔ its name occurs once in the list of each of its countries, and a counter equals the number of its rows that are there.
/// </summary>
internal static class CutCheck
{
    /// <summary>A text for the first fault; null if there is none.</summary>
    public static string? FirstFault(Cut cut, CutResult read)
    {
        var there = new HashSet<string>(StringComparer.Ordinal);
        foreach (var row in cut.Rows)
        {
            if (!read.Rows.TryGetValue(row.Name, out var stored)) continue;
            if (stored != row) return $"{row.Name} is stored as {stored}";
            there.Add(row.Name);
        }
        foreach (string country in cut.Countries)
        {
            if (FaultOfList(cut, country, read.Lists.GetValueOrDefault(country, []), there) is { } fault) return fault;
        }
        foreach (string continent in cut.Continents)
        {
            int expected = cut.Table.RowsOfContinent(continent).Count(r => there.Contains(r.Name));
            int counted = read.Counters.GetValueOrDefault(continent);
            if (counted != expected) return $"the counter of {continent} says {counted}, but {expected} of its rows are there";
        }
        return null;
    }

    /// <summary>A text for the first row that the read lacks although its put had returned, at any member, before the read began; null if there is none.</summary>
    public static string? FirstStale(Cut cut, CutResult read, Func<string, bool> knownBefore)
    {
        foreach (var row in cut.Rows)
            if (knownBefore(row.Name) && !read.Rows.ContainsKey(row.Name)) return $"{row.Name} was acknowledged before the read began, and the read lacks it";
        return null;
    }

    private static string? FaultOfList(Cut cut, string country, string[] names, HashSet<string> there)
    {
        var listed = new HashSet<string>(StringComparer.Ordinal);
        var ofCountry = cut.Table.RowsOfCountry(country);
        foreach (string name in names)
        {
            if (!listed.Add(name)) return $"{name} occurs twice in the list of {country}: its put was applied twice";
            if (!ofCountry.Any(r => r.Name == name)) return $"{name} is in the list of {country}, where it does not belong";
        }
        foreach (var row in cut.Rows)
        {
            if (!ofCountry.Contains(row) || there.Contains(row.Name) == listed.Contains(row.Name)) continue;
            return there.Contains(row.Name)
                ? $"half a put: the row {row.Name} is there, but not in the list of {country}"
                : $"half a put: {row.Name} is in the list of {country}, but its row is not there";
        }
        return null;
    }
}
