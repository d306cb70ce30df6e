using QuickStart.Data;

namespace QuickStart.Checks;

/// <summary>
/// A set of keys that is read in one step. It is chosen so that a half-done put cannot hide: a row together with lists that must contain it, or a counter together with all
/// the rows that it counts.
/// </summary>
internal sealed class Cut
{
    private Cut(ZoneTable table, string name, IReadOnlyList<Zone> rows, IReadOnlyList<string> countries, IReadOnlyList<string> continents)
    {
        Table = table;
        Name = name;
        Rows = rows;
        Countries = countries;
        Continents = continents;
    }

    public ZoneTable Table { get; }

    public string Name { get; }

    public IReadOnlyList<Zone> Rows { get; }

    /// <summary>Countries whose lists are read.</summary>
    public IReadOnlyList<string> Countries { get; }

    /// <summary>Continents whose counters are read; all their rows are in <see cref="Rows"/>.</summary>
    public IReadOnlyList<string> Continents { get; }

    /// <summary>Number of keys in the cut.</summary>
    public int Keys => Rows.Count + Countries.Count + Continents.Count;

    /// <summary>The list of a country and all its rows.</summary>
    public static Cut OfCountry(ZoneTable table, string code) => new(table, table.CountryName(code), table.RowsOfCountry(code), [code], []);

    /// <summary>The counter of a continent, all its rows, and the lists of all their countries.</summary>
    public static Cut OfContinent(ZoneTable table, string continent)
    {
        var rows = table.RowsOfContinent(continent);
        return new(table, continent, rows, [.. rows.SelectMany(ZoneTable.CountriesOf).Distinct()], [continent]);
    }

    /// <summary>Everything.</summary>
    public static Cut OfAll(ZoneTable table) => new(table, "everything", table.Rows, table.Countries, table.Continents);
}
