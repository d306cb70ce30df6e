using Ida.Tests.Shared;

namespace Ida.Analyzers.Tests;

/// <summary>Folders use each other in one direction only, so that each can be read together with only those that it uses.</summary>
public sealed class FolderGraphTests
{
    [Fact]
    public void Folders_of_the_source_are_in_no_cycle()
    {
        string source = Path.Combine(RepositoryFiles.Root, "src");
        var graph = new FolderGraph(Directory.EnumerateFiles(source, "*.cs", SearchOption.AllDirectories)
            .Select(file => (Path: Path.GetRelativePath(source, file).Replace('\\', '/'), File: file))
            .Where(static file => !file.Path.Split('/').Any(static part => part is "obj" or "bin"))
            .OrderBy(static file => file.Path, StringComparer.Ordinal)
            .Select(static file => (file.Path, File.ReadAllText(file.File))));
        Assert.True(graph.Folders.Count() > 40);
        Assert.NotEmpty(graph.Uses("Ida/Nodes", "Oracle"));
        string[] found = [.. graph.Cycles()];
        Assert.True(found.Length == 0, $"Cycles of folders:\n{string.Join("\n\n", found.Select(cycle => Text(graph, cycle)))}");
    }

    [Fact]
    public void Two_folders_that_use_each_other_are_a_cycle() =>
        Assert.Equal(["a, b"], Graph("namespace A { class X { B.Y? _y; } }", "namespace B { using A; class Y { void M() => new X(); } }").Cycles());

    [Fact]
    public void A_cycle_over_several_folders_is_one() =>
        Assert.Equal(["a, b, c"], Graph("class X : Y;", "class Y { Z? _z; }", "static class Z { public static void Of(this string s) { _ = nameof(X); } }", "class W { void M() => \"\".Of(); }").Cycles());

    [Fact]
    public void Comments_and_members_of_the_same_name_are_no_use()
    {
        var graph = Graph("class X { Y? _y; }", "/// <summary><see cref=\"X\"/></summary>\nclass Y { int X; int M() => X + this.X; }");
        Assert.Empty(graph.Cycles());
        Assert.Equal(["file.cs names Y"], graph.Uses("a", "b"));
    }

    /// <summary>Each text is a file in a folder of its own: a, b, c.</summary>
    private static FolderGraph Graph(params string[] texts) => new(texts.Select(static (text, at) => ($"{(char)('a' + at)}/file.cs", text)));

    private static string Text(FolderGraph graph, string cycle)
    {
        string[] folders = cycle.Split(", ");
        return string.Join('\n', folders.SelectMany(folder => folders.Select(other => (folder, other, Names: graph.Uses(folder, other).ToArray())))
            .Where(static use => use.Names.Length > 0).Select(static use => $"{use.folder} -> {use.other}: {string.Join("; ", use.Names.Take(12))}"));
    }
}
