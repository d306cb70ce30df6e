using System.Reflection;
using GroupCore.Diagnostics;
using GroupCore.Groups.Views;
using GroupCore.Watching;
using Ida.Tests.Shared;
using Microsoft.Extensions.Logging;
using Oracle;

namespace Ida.Testing.Tests.Docs;

/// <summary>docs/guide/operations.md lists each event that the code logs and each attribute that it measures.</summary>
public sealed class OperationsGuideTests
{
    private const string Page = "docs/guide/operations.md", Accept = "IDA_ACCEPT_OPERATIONS";
    private const string Head = "| Attribute | Kind | Unit | Tags | What it tells |\n|---|---|---|---|---|\n";
    private static readonly Type[] s_tables = [typeof(GroupCoreEvents), typeof(OracleEvents), typeof(IdaEvents)];

    public static TheoryData<Type> Tables => [.. s_tables];

    [Theory, MemberData(nameof(Tables))]
    public void Ids_of_a_project_are_in_its_range_and_each_is_used_once(Type table)
    {
        var events = EventsOf(table);
        int first = (int)table.GetField("First")!.GetRawConstantValue()!, last = (int)table.GetField("Last")!.GetRawConstantValue()!;
        Assert.NotEmpty(events);
        Assert.All(events, one => Assert.InRange(one.Id, first, last));
        Assert.Equal(events.Count, events.DistinctBy(static one => one.Id).Count());
    }

    [Fact]
    public void Ranges_do_not_overlap_and_no_name_is_used_twice()
    {
        var ranges = s_tables.Select(static table => ((int)table.GetField("First")!.GetRawConstantValue()!, (int)table.GetField("Last")!.GetRawConstantValue()!)).Order().ToList();
        for (int i = 1; i < ranges.Count; i++) Assert.True(ranges[i - 1].Item2 < ranges[i].Item1);
        var names = s_tables.SelectMany(EventsOf).Select(static one => one.Name).ToList();
        Assert.Equal(names.Count, names.Distinct(StringComparer.Ordinal).Count());
    }

    [Fact]
    public void No_other_class_logs()
    {
        var others = s_tables.SelectMany(static table => table.Assembly.GetTypes()).Except(s_tables)
            .Where(static type => type.GetMethods(BindingFlags.Static | BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.DeclaredOnly).Any(static method => method.IsDefined(typeof(LoggerMessageAttribute))));
        Assert.Empty(others);
    }

    [Theory, MemberData(nameof(Tables))]
    public void The_page_lists_each_event_with_id_name_level_and_meaning(Type table)
    {
        string category = (string)table.GetField("Category")!.GetRawConstantValue()!;
        var listed = Rows($"### `{category}`").Select(static cells =>
        {
            Assert.True(cells is ["", _, _, _, { Length: > 10 }, ""], string.Join('|', cells));
            return $"{cells[1]} {cells[2]} {cells[3]}";
        });
        Assert.Equal(EventsOf(table).Select(static one => $"{one.Id} `{one.Name}` {one.Level}"), listed);
    }

    [Fact]
    public void The_page_lists_each_attribute_as_it_is_declared()
    {
        string page = File.ReadAllText(RepositoryFiles.PathOf(Page)).ReplaceLineEndings("\n");
        int from = page.IndexOf(Head, StringComparison.Ordinal);
        Assert.True(from >= 0, "There is no table of attributes.");
        int end = page.IndexOf("\n\n", from, StringComparison.Ordinal);
        string table = Head + string.Join('\n', NodeAttributes.All.Rows().Concat(GroupAttributes.All.Rows()).Concat(OracleAttributes.All.Rows()).Concat(DhtAttributes.All.Rows()));
        RepositoryFiles.Matches(Page, page[..from] + table + page[end..], Accept);
    }

    private static IEnumerable<string[]> Rows(string heading)
    {
        string[] parts = File.ReadAllText(RepositoryFiles.PathOf(Page)).Split($"\n{heading}");
        Assert.True(parts.Length == 2, heading);
        return parts[1].Split("\n#")[0].Split('\n').Where(static line => line.Length > 2 && line[0] == '|' && char.IsDigit(line[2])).Select(static line => line.Split('|', StringSplitOptions.TrimEntries));
    }

    private static List<(int Id, string Name, LogLevel Level)> EventsOf(Type table) =>
    [
        .. table.GetMethods(BindingFlags.Static | BindingFlags.NonPublic | BindingFlags.Public)
            .Select(static method => (Method: method, Message: method.GetCustomAttribute<LoggerMessageAttribute>()))
            .Where(static one => one.Message is not null)
            .Select(static one => (one.Message!.EventId, one.Method.Name, one.Message.Level)).OrderBy(static one => one.EventId),
    ];
}
