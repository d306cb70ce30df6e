using System.Globalization;
using System.Text.RegularExpressions;
using Ida.Tests.Shared;

namespace Ida.Testing.Tests.Docs;

/// <summary>
/// The walk of a put in docs/architecture.md is that of the code: each file is there, steps are numbered without a gap, and steps and files are as many as its text says. What decision 0011
/// says of the aim of 70 steps and 30 files follows from these numbers: what every message takes, in GroupCore, is almost as much by itself.
/// </summary>
public sealed partial class WalkTests
{
    private const string Heading = "\n## A put of one key in another shard\n";
    private static readonly string s_walk = File.ReadAllText(RepositoryFiles.PathOf("docs/architecture.md")).Split(Heading)[1].Split("\n## ")[0];
    private static readonly string[] s_sources = [.. Directory.EnumerateFiles(RepositoryFiles.PathOf("src"), "*.cs", SearchOption.AllDirectories)
        .Select(static path => Path.GetRelativePath(RepositoryFiles.Root, path).Replace('\\', '/')).Where(static path => !path.Contains("/obj/", StringComparison.Ordinal) && !path.Contains("/bin/", StringComparison.Ordinal))];

    [Fact]
    public void Each_file_is_there_and_has_its_name_alone() => Assert.All(Files(), static name => Assert.Single(s_sources, path => path.EndsWith($"/{name}", StringComparison.Ordinal)));

    [Fact]
    public void Steps_are_numbered_without_a_gap_and_as_many_as_the_text_says()
    {
        int last = 0;
        foreach (Match row in Row().Matches(s_walk))
        {
            Assert.Equal(last + 1, Number(row.Groups["from"]));
            last = row.Groups["to"].Success ? Number(row.Groups["to"]) : last + 1;
        }
        Assert.Equal(Number(Totals().Match(s_walk).Groups["steps"]), last);
    }

    [Fact]
    public void Files_are_as_many_as_the_text_says()
    {
        var totals = Totals().Match(s_walk);
        var projects = Files().Select(static name => s_sources.First(path => path.EndsWith($"/{name}", StringComparison.Ordinal)).Split('/')[1]).ToList();
        Assert.Equal(Number(totals.Groups["files"]), projects.Count);
        Assert.Equal(Number(totals.Groups["ida"]), projects.Count(static project => project == "Ida"));
        Assert.Equal(Number(totals.Groups["core"]), projects.Count(static project => project == "GroupCore"));
    }

    private static HashSet<string> Files() => [.. Row().Matches(s_walk).SelectMany(static row => Place().Matches(row.Groups["places"].Value)).Select(static place => place.Groups["file"].Value)];

    private static int Number(Group group) => int.Parse(group.Value, CultureInfo.InvariantCulture);

    [GeneratedRegex(@"^\| (?<from>\d+)(-(?<to>\d+))? \| (?<places>[^|]*) \|", RegexOptions.Multiline | RegexOptions.ExplicitCapture)]
    private static partial Regex Row();

    [GeneratedRegex(@"`(?<file>[\w/{}.]+\.cs)\b", RegexOptions.ExplicitCapture)]
    private static partial Regex Place();

    [GeneratedRegex(@"\*\*(?<steps>\d+) steps in (?<files>\d+) files\*\* \((?<ida>\d+) of Ida, (?<core>\d+) of GroupCore\)", RegexOptions.ExplicitCapture)]
    private static partial Regex Totals();
}
