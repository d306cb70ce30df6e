using System.Text;

namespace QuickStart.Data;

/// <summary>The data set, zone1970.tab and iso3166.tab of the tz database, with its rows by country and by continent for the checks.</summary>
internal sealed class ZoneTable
{
    private readonly SortedDictionary<string, List<Zone>> _byCountry = new(StringComparer.Ordinal);
    private readonly SortedDictionary<string, List<Zone>> _byContinent = new(StringComparer.Ordinal);
    private readonly Dictionary<string, string> _countryNames = new(StringComparer.Ordinal);

    private ZoneTable(List<Zone> rows, List<(string Code, string Name)> countries)
    {
        Rows = rows;
        foreach (var (code, name) in countries) _countryNames[code] = name;
        foreach (var row in rows)
        {
            Add(_byContinent, ContinentOf(row), row);
            foreach (string country in CountriesOf(row)) Add(_byCountry, country, row);
        }
        Countries = [.. _byCountry.Keys];
        Continents = [.. _byContinent.Keys];
    }

    /// <summary>All rows, in the order of the file.</summary>
    public IReadOnlyList<Zone> Rows { get; }

    /// <summary>Codes of all countries that have a zone, sorted.</summary>
    public IReadOnlyList<string> Countries { get; }

    /// <summary>The first parts of the zones' names, sorted.</summary>
    public IReadOnlyList<string> Continents { get; }

    public static ZoneTable Load(string directory) => new(
        [.. Lines(Path.Combine(directory, "zone1970.tab"), 3).Select(f => new Zone(f[2], f[0], f[1], f.Length > 3 ? f[3] : ""))],
        [.. Lines(Path.Combine(directory, "iso3166.tab"), 2).Select(f => (f[0], f[1]))]);

    public static string ContinentOf(Zone row) => row.Name.Split('/')[0];

    public static string[] CountriesOf(Zone row) => row.Countries.Split(',');

    public IReadOnlyList<Zone> RowsOfCountry(string code) => _byCountry[code];

    public IReadOnlyList<Zone> RowsOfContinent(string continent) => _byContinent[continent];

    public string CountryName(string code) => _countryNames.GetValueOrDefault(code, code);

    private static void Add(SortedDictionary<string, List<Zone>> index, string key, Zone row)
    {
        if (!index.TryGetValue(key, out var rows)) index.Add(key, rows = []);
        rows.Add(row);
    }

    private static IEnumerable<string[]> Lines(string file, int atLeast)
    {
        int number = 0;
        foreach (string line in File.ReadLines(file, Encoding.UTF8))
        {
            number++;
            if (line.Length == 0 || line[0] == '#') continue;
            string[] fields = line.Split('\t');
            if (fields.Length < atLeast) throw new InvalidDataException($"{file}:{number}: {fields.Length} columns, at least {atLeast} expected");
            yield return fields;
        }
    }
}
