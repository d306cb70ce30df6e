using System.Text.RegularExpressions;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;

namespace Ida.Mutation;

/// <summary>A copy of the tree with mutants in one of its projects.</summary>
internal sealed partial class MutatedTree(string root, string copy, string project, IReadOnlyList<string> folders)
{
    private const int MostBuilds = 8;
    private readonly List<(string Path, SyntaxNode Code, int Places)> _files = [];
    private List<Mutant> _mutants = [];

    public string Copy => copy;

    public IReadOnlyList<Mutant> Mutants => _mutants;

    /// <summary>Number of places in the folders that can be mutated.</summary>
    public int Places => _files.Sum(static file => file.Places);

    /// <summary>Number of mutants that did not compile.</summary>
    public int Dropped { get; private set; }

    /// <summary>Copies the files that git tracks, as they are in the work tree.</summary>
    public void Make()
    {
        if (Directory.Exists(copy)) Directory.Delete(copy, recursive: true);
        Directory.CreateDirectory(copy);
        foreach (string path in Tool.Run("git", ["-C", root, "ls-files", "-z"], root).Output.Split('\0', StringSplitOptions.RemoveEmptyEntries))
        {
            string to = Path.Combine(copy, path);
            Directory.CreateDirectory(Path.GetDirectoryName(to)!);
            if (File.Exists(Path.Combine(root, path))) File.Copy(Path.Combine(root, path), to);
        }
        // The copy is no repository, so tools that act on a repository leave it alone.
        foreach (string path in Directory.EnumerateFiles(Path.Combine(copy, project), "*.cs", SearchOption.AllDirectories).Order(StringComparer.Ordinal))
        {
            string name = Path.GetRelativePath(copy, path);
            string within = Path.GetRelativePath(Path.Combine(copy, project), path);
            if (folders.Count > 0 && !folders.Any(folder => within.StartsWith(folder, StringComparison.Ordinal))) continue;
            var code = CSharpSyntaxTree.ParseText(File.ReadAllText(path), Mutator.Language, name).GetRoot();
            var counter = new Mutator(name, static _ => 0);
            _ = counter.Visit(code);
            _files.Add((name, code, counter.Places));
        }
    }

    /// <summary>Puts a sample of mutants in at random places, and builds the projects. Mutants that do not compile are taken out again.</summary>
    public void Build(int sample, int seed, IReadOnlyList<string> projects)
    {
        var random = new Random(seed);
        var places = Enumerable.Range(0, Places).ToArray();
        random.Shuffle(places);
        var chosen = places.Take(sample).Order().Select(static (place, i) => (place, Number: i + 1)).ToDictionary(static one => one.place, static one => one.Number);
        var broken = new HashSet<int>();
        for (int attempt = 1; ; attempt++)
        {
            Write(chosen, broken);
            var errors = new HashSet<(string, int)>();
            foreach (string built in projects)
            {
                string output = Tool.Run("dotnet", ["build", built, "-c", "Release", "-nologo", "-nodeReuse:false", "-p:RunAnalyzers=false", "-p:TreatWarningsAsErrors=false", "-p:EnforceCodeStyleInBuild=false", "-p:GenerateDocumentationFile=false"], copy).Output;
                foreach (Match error in ErrorLine().Matches(output))
                    errors.Add((Path.GetRelativePath(copy, error.Groups["path"].Value), int.Parse(error.Groups["line"].Value, System.Globalization.CultureInfo.InvariantCulture)));
                if (errors.Count > 0) break;
                if (!output.Contains(" 0 Error(s)", StringComparison.Ordinal)) throw new InvalidOperationException($"The copy does not build:\n{output}");
            }
            if (errors.Count == 0) break;
            int before = broken.Count;
            foreach (var mutant in _mutants)
                if (errors.Any(error => error.Item1 == mutant.Path && error.Item2 >= mutant.Line && error.Item2 <= mutant.LastLine)) broken.Add(mutant.Number);
            if (broken.Count == before || attempt == MostBuilds) throw new InvalidOperationException($"The copy does not build: {string.Join(", ", errors)}");
        }
        Dropped = broken.Count;
    }

    private void Write(Dictionary<int, int> chosen, HashSet<int> broken)
    {
        _mutants = [];
        int first = 0;
        foreach (var (path, code, count) in _files)
        {
            int start = first;
            var mutator = new Mutator(path, place => chosen.TryGetValue(start + place, out int number) && !broken.Contains(number) ? number : 0);
            File.WriteAllText(Path.Combine(copy, path), mutator.Visit(code).ToFullString());
            _mutants.AddRange(mutator.Mutants);
            first += count;
        }
        File.WriteAllText(Path.Combine(copy, project, "IdaMutant.cs"), Switch.Source(chosen.Count));
    }

    [GeneratedRegex(@"^\s*(?<path>[^(\n]+\.cs)\((?<line>\d+),\d+\): error ", RegexOptions.Multiline)]
    private static partial Regex ErrorLine();
}
