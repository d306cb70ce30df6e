using System.Reflection;
using System.Text.RegularExpressions;
using GroupCore.Groups;
using Ida.Tests.Shared;
using Oracle;

namespace Ida.Testing.Tests.Docs;

/// <summary>The chapters of docs/protocols name only things that exist, and comments in the code cite only headings that exist.</summary>
public sealed partial class ProtocolChapterTests
{
    private const string Folder = "docs/protocols";
    private static readonly string[] s_parts = ["What it guarantees", "State", "Messages", "The normal case", "When things fail", "Rules", "Costs", "Limits", "Where the code is"];
    private static readonly Dictionary<string, HashSet<string>> s_anchors = Directory.GetFiles(RepositoryFiles.PathOf(Folder), "*.md").ToDictionary(path => Path.GetFileName(path), AnchorsOf);

    // Sources by path, each comment on one line.
    private static readonly Dictionary<string, string> s_sources = new[] { "src", "tests", "perf", "samples" }
        .SelectMany(static folder => Directory.EnumerateFiles(RepositoryFiles.PathOf(folder), "*.cs", SearchOption.AllDirectories))
        .Where(static path => !BuildOutput().IsMatch(path))
        .ToDictionary(static path => Path.GetRelativePath(RepositoryFiles.Root, path), static path => NextCommentLine().Replace(File.ReadAllText(path), " "));

    // The rules that a test can leave out, with the class of rules of their layer. A rule that two layers keep is in both classes.
    private static readonly HashSet<(string Layer, string Name)> s_rules = new[] { typeof(GroupRules), typeof(OracleRules), typeof(DhtRules) }
        .SelectMany(static layer => layer.GetFields(BindingFlags.Instance | BindingFlags.Public).Select(rule => (layer.Name, rule.Name))).ToHashSet();

    public static TheoryData<string> Chapters => [.. s_anchors.Keys.Where(static name => name != "README.md").Order(StringComparer.Ordinal)];

    [Fact]
    public void Each_citation_in_a_comment_leads_to_a_heading()
    {
        int citations = 0;
        var wrong = new List<string>();
        foreach (var (path, text) in s_sources)
        {
            foreach (Match match in Citation().Matches(text))
            {
                string chapter = match.Groups["chapter"].Value;
                foreach (Capture anchor in match.Groups["anchor"].Captures)
                {
                    citations++;
                    if (!s_anchors.TryGetValue(chapter, out var anchors) || !anchors.Contains(anchor.Value)) wrong.Add($"{path}: {chapter}#{anchor.Value}");
                }
            }
        }
        Assert.Empty(wrong);
        Assert.InRange(citations, 150, 10_000);
    }

    [Fact]
    public void No_comment_cites_a_text_that_is_not_here()
    {
        var found = s_sources.Where(static source => Elsewhere().IsMatch(source.Value)).Select(static source => $"{source.Key}: {Elsewhere().Match(source.Value).Value}");
        Assert.Empty(found);
    }

    [Theory, MemberData(nameof(Chapters))]
    public void A_chapter_has_all_parts_in_order(string chapter)
    {
        var parts = Headings(chapter).Where(static heading => heading.StartsWith("## ", StringComparison.Ordinal)).Select(static heading => heading[3..]);
        Assert.Equal(s_parts, parts);
    }

    [Theory, MemberData(nameof(Chapters))]
    public void No_two_headings_of_a_chapter_have_one_name(string chapter) => Assert.Equal(Headings(chapter).Length, s_anchors[chapter].Count);

    [Theory, MemberData(nameof(Chapters))]
    public void A_chapter_names_tests_and_rules_that_there_are(string chapter)
    {
        string text = File.ReadAllText(RepositoryFiles.PathOf($"{Folder}/{chapter}"));
        var wrong = new List<string>();
        int named = 0;
        foreach (Match match in NamedTest().Matches(text))
        {
            named++;
            var (type, method) = (match.Groups["type"].Value, match.Groups["method"].Value);
            bool there = s_sources.Any(source => Regex.IsMatch(source.Value, $@"\bclass {type}\b") && (method.Length == 0 || Regex.IsMatch(source.Value, $@"\b{method}{(match.Groups["cut"].Success ? "" : @"(<|\()")}")));
            if (!there) wrong.Add(match.Value);
        }
        foreach (Match match in NamedRule().Matches(text))
            if (!s_rules.Contains((match.Groups["layer"].Value, match.Groups["rule"].Value))) wrong.Add(match.Value);
        Assert.Empty(wrong);
        Assert.InRange(named, 5, 1000);
    }

    /// <summary>Each rule that a test can leave out has a section, perhaps in several chapters; one of the sections names the test.</summary>
    [Fact]
    public void A_rule_that_chapters_say_is_left_out_is_so_by_a_test_that_they_name()
    {
        var named = new SortedDictionary<string, HashSet<(string Type, string Method)>>(StringComparer.Ordinal);
        foreach (string section in s_anchors.Keys.SelectMany(static chapter => File.ReadAllText(RepositoryFiles.PathOf($"{Folder}/{chapter}")).Split("\n### ").Skip(1)))
        {
            if (LeftOut().Match(section) is not { Success: true } first) continue;
            var tests = NamedTest().Matches(section).Select(static match => (match.Groups["type"].Value, match.Groups["method"].Value));
            foreach (Match match in NamedRule().Matches(section, first.Index))
            {
                string rule = match.Groups["rule"].Value;
                if (!named.TryGetValue(rule, out var all)) named.Add(rule, all = []);
                all.UnionWith(tests);
            }
        }
        Assert.Equal(s_rules.Select(static rule => rule.Name).Distinct(StringComparer.Ordinal).Order(StringComparer.Ordinal), named.Keys);
        Assert.Empty(named.Where(static rule => !rule.Value.Any(test => LeavesOut(test.Type, test.Method, rule.Key))).Select(static rule => rule.Key));
    }

    // Whether the test, or one whose name begins like this, has the rule in its text or attributes; without a name, any test of the class.
    private static bool LeavesOut(string type, string method, string rule)
    {
        foreach (string path in s_sources.Where(source => Regex.IsMatch(source.Value, $@"\bclass {type}\b")).Select(static source => source.Key))
        {
            string source = File.ReadAllText(RepositoryFiles.PathOf(path)).ReplaceLineEndings("\n");
            var texts = method.Length == 0 ? [source] : Regex.Matches(source, $@"\b{method}").Select(name => TextOf(source, name.Index));
            if (texts.Any(text => NamesInCode(text, rule))) return true;
        }
        return false;
    }

    /// <summary>Whether the code of a test that runs names a rule: neither in a comment, nor in a skipped case or test.</summary>
    internal static bool NamesInCode(string text, string rule)
    {
        if (SkippedTest().IsMatch(text)) return false;
        return Regex.IsMatch(SkippedCase().Replace(Comment().Replace(text, ""), ""), $@"\b(Group|Oracle|Dht)Rules\.{rule}\b");
    }

    [Theory]
    [InlineData("[Fact]\n void A() => Run(nameof(GroupRules.R3AllReports));", true)]
    [InlineData("[InlineData(nameof(GroupRules.R3AllReports), 5)]\n void A() => Run();", true)]
    [InlineData("[Fact]\n void A() => Run(); // as GroupRules.R3AllReports", false)]
    [InlineData("/// <summary>GroupRules.R3AllReports</summary>\n[Fact]\n void A() => Run();", false)]
    [InlineData("[InlineData(nameof(GroupRules.R3AllReports), Skip = \"later\")]\n[InlineData(2)]\n void A() => Run();", false)]
    [InlineData("[Theory(Skip = \"later\")]\n[InlineData(nameof(GroupRules.R3AllReports))]\n void A() => Run();", false)]
    public void A_test_leaves_a_rule_out_where_it_runs_without_it(string text, bool leavesOut) => Assert.Equal(leavesOut, NamesInCode(text, "R3AllReports"));

    private static string TextOf(string source, int name)
    {
        int begin = source.LastIndexOf("\n\n", name, StringComparison.Ordinal);
        return source[Math.Max(0, begin)..(EndOfMember().Match(source, name) is { Success: true } end ? end.Index : source.Length)];
    }

    [Theory, MemberData(nameof(Chapters))]
    public void Links_of_a_chapter_lead_somewhere(string chapter)
    {
        string folder = RepositoryFiles.PathOf(Folder);
        foreach (Match match in Link().Matches(File.ReadAllText(Path.Combine(folder, chapter))))
        {
            string target = match.Groups["target"].Value;
            if (target.Contains("://", StringComparison.Ordinal)) continue;
            string[] parts = target.Split('#');
            string path = Path.Combine(folder, parts[0].Length == 0 ? chapter : parts[0]);
            Assert.True(File.Exists(path), $"{chapter}: {target}");
            Assert.True(parts.Length == 1 || AnchorsOf(path).Contains(parts[1]), $"{chapter}: {target}");
        }
    }

    private static string[] Headings(string chapter) => HeadingsOf(RepositoryFiles.PathOf($"{Folder}/{chapter}"));

    private static string[] HeadingsOf(string path) => [.. File.ReadAllLines(path).Where(static line => Heading().IsMatch(line))];

    // Derives anchors from headings as the pages that show them do.
    private static HashSet<string> AnchorsOf(string path) =>
        [.. HeadingsOf(path).Select(static heading => NotOfAnchor().Replace(heading.TrimStart('#').Trim().ToLowerInvariant(), "").Replace(' ', '-'))];

    [GeneratedRegex(@"^#+ ")]
    private static partial Regex Heading();

    [GeneratedRegex("[^a-z0-9 _-]")]
    private static partial Regex NotOfAnchor();

    [GeneratedRegex(@"[\\/](bin|obj)[\\/]")]
    private static partial Regex BuildOutput();

    [GeneratedRegex(@"\r?\n\s*//+ ")]
    private static partial Regex NextCommentLine();

    [GeneratedRegex(@"//[^\n]*")]
    private static partial Regex Comment();

    [GeneratedRegex(@"\[(Fact|Theory)\([^\]\n]*\bSkip\b")]
    private static partial Regex SkippedTest();

    [GeneratedRegex(@"\[InlineData\([^\]\n]*\bSkip\b[^\]\n]*\]")]
    private static partial Regex SkippedCase();

    [GeneratedRegex(@"\n    \}|;\n\n")]
    private static partial Regex EndOfMember();

    [GeneratedRegex(@"(?<chapter>[a-z-]+\.md)#(?<anchor>[a-z0-9_-]+)(, #(?<anchor>[a-z0-9_-]+))*")]
    private static partial Regex Citation();

    [GeneratedRegex(@"groupcore-oracle \d|\bida \d+\.\d", RegexOptions.IgnoreCase)]
    private static partial Regex Elsewhere();

    [GeneratedRegex(@"`(?<type>[A-Z]\w+Tests)(\.(?<method>\w+)(?<cut>…)?)?`")]
    private static partial Regex NamedTest();

    [GeneratedRegex(@"`(?<layer>(Group|Oracle|Dht)Rules)\.(?<rule>\w+)`")]
    private static partial Regex NamedRule();

    [GeneratedRegex(@"(\*Controls?\*|[Ss]hown by(\*:)?)\s+`(Group|Oracle|Dht)Rules\.")]
    private static partial Regex LeftOut();

    [GeneratedRegex(@"\]\((?<target>[^)\s]+)\)")]
    private static partial Regex Link();
}
