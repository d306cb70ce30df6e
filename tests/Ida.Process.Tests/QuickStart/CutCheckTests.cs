using QuickStart.Checks;
using QuickStart.Data;

namespace Ida.Process.Tests.QuickStart;

/// <summary>The checks of QuickStart find what they are for: each fault that whole puts cannot cause is put into a state and must be seen.</summary>
public sealed class CutCheckTests
{
    private static readonly ZoneTable Table = ZoneTable.Load(Path.Combine(AppContext.BaseDirectory, "data"));

    [Fact]
    public void The_table_is_the_one_that_the_readme_names()
    {
        Assert.Equal(312, Table.Rows.Count);
        Assert.Equal(247, Table.Countries.Count);
        Assert.Equal(["Africa", "America", "Antarctica", "Asia", "Atlantic", "Australia", "Europe", "Indian", "Pacific"], Table.Continents);
        Assert.Equal("Germany", Table.CountryName("DE"));
        Assert.Equal(["Europe/Berlin", "Europe/Zurich"], Table.RowsOfCountry("DE").Select(r => r.Name).Order(StringComparer.Ordinal));
        Assert.Equal(Table.Rows.Count, Table.Continents.Sum(c => Table.RowsOfContinent(c).Count));
    }

    [Fact]
    public void A_line_with_too_few_columns_is_named()
    {
        string directory = Directory.CreateTempSubdirectory("ida-zones-").FullName;
        try
        {
            File.WriteAllText(Path.Combine(directory, "zone1970.tab"), "# comment\nDE\t+5230+01322\n");
            File.WriteAllText(Path.Combine(directory, "iso3166.tab"), "DE\tGermany\n");
            var e = Assert.Throws<InvalidDataException>(() => ZoneTable.Load(directory));
            Assert.Contains("zone1970.tab:2", e.Message, StringComparison.Ordinal);
        }
        finally
        {
            Directory.Delete(directory, recursive: true);
        }
    }

    [Fact]
    public void Every_state_that_whole_puts_lead_to_is_accepted()
    {
        var state = Empty();
        foreach (var row in Table.Rows)
        {
            Put(state, row);
            foreach (string country in ZoneTable.CountriesOf(row)) Assert.Null(Fault(Cut.OfCountry(Table, country), state));
            Assert.Null(Fault(Cut.OfContinent(Table, ZoneTable.ContinentOf(row)), state));
        }
        Assert.Null(Fault(Cut.OfAll(Table), state));
    }

    [Theory]
    [InlineData("row")]
    [InlineData("CH")]
    [InlineData("DE")]
    [InlineData("LI")]
    [InlineData("counter")]
    public void Half_a_put_is_seen_whichever_part_is_missing(string missing)
    {
        var state = Empty();
        Put(state, Table.Rows.Single(r => r.Name == "Europe/Berlin"));
        Put(state, Table.Rows.Single(r => r.Name == "Europe/Zurich"), leaveOut: missing);
        foreach (var cut in (Cut[])[Cut.OfAll(Table), Cut.OfContinent(Table, "Europe")])
            Assert.Contains(missing == "counter" ? "counter of Europe" : "half a put", Fault(cut, state), StringComparison.Ordinal);
    }

    [Fact]
    public void A_put_that_was_applied_twice_is_seen()
    {
        var state = Empty();
        Put(state, Table.Rows[0]);
        Put(state, Table.Rows[0]);
        Assert.Contains("twice", Fault(Cut.OfAll(Table), state), StringComparison.Ordinal);
    }

    [Fact]
    public void A_name_in_a_foreign_list_and_a_changed_row_are_seen()
    {
        var row = Table.Rows.Single(r => r.Name == "Europe/Rome");
        var state = Empty();
        Put(state, row);
        state.Lists["FR"] = [row.Name];
        Assert.Contains("does not belong", Fault(Cut.OfAll(Table), state), StringComparison.Ordinal);
        state.Lists.Remove("FR");
        state.Rows[row.Name] = row with { Coordinates = "+0000+00000" };
        Assert.Contains("stored as", Fault(Cut.OfAll(Table), state), StringComparison.Ordinal);
    }

    [Fact]
    public void A_read_that_misses_what_was_acknowledged_before_it_is_seen()
    {
        var cut = Cut.OfCountry(Table, "AU");
        var state = Empty();
        string first = cut.Rows[0].Name;
        Assert.Null(CutCheck.FirstStale(cut, state, _ => false));
        Assert.Contains(first, CutCheck.FirstStale(cut, state, name => name == first), StringComparison.Ordinal);
        Put(state, cut.Rows[0]);
        Assert.Null(CutCheck.FirstStale(cut, state, name => name == first));
    }

    private static CutResult Empty() => new([], [], []);

    private static string? Fault(Cut cut, CutResult state) => CutCheck.FirstFault(cut, new(
        Of(state.Rows, cut.Rows.Select(r => r.Name)), Of(state.Lists, cut.Countries), Of(state.Counters, cut.Continents)));

    private static Dictionary<string, T> Of<T>(Dictionary<string, T> all, IEnumerable<string> keys) =>
        keys.Where(all.ContainsKey).ToDictionary(key => key, key => all[key]);

    private static void Put(CutResult state, Zone row, string? leaveOut = null)
    {
        if (leaveOut != "row") state.Rows[row.Name] = row;
        foreach (string country in ZoneTable.CountriesOf(row))
            if (country != leaveOut) state.Lists[country] = Resolvers.Append(country, state.Lists.GetValueOrDefault(country), row.Name);
        string continent = ZoneTable.ContinentOf(row);
        if (leaveOut != "counter") state.Counters[continent] = Resolvers.Add(continent, state.Counters.GetValueOrDefault(continent), 1);
    }
}
