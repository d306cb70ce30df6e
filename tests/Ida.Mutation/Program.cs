using System.CommandLine;
using System.Globalization;

namespace Ida.Mutation;

/// <summary>The command line. Exit codes: 0 done, whatever survived; 1 not done because of an error; 2 wrong command line.</summary>
internal static class Program
{
    public static int Main(string[] args)
    {
        var project = new Option<string>("--project") { Description = "What is mutated, such as src/Oracle", HelpName = "FOLDER", Required = true };
        var folders = new Option<string[]>("--folder") { Description = "Only these folders and files of it", HelpName = "NAME", AllowMultipleArgumentsPerToken = true };
        var tests = new Option<string[]>("--tests") { Description = "The projects of tests, such as tests/Oracle.Tests", HelpName = "FOLDER", AllowMultipleArgumentsPerToken = true, Required = true };
        var sample = new Option<int>("--sample") { Description = "How many mutants, at places drawn at random", HelpName = "N", DefaultValueFactory = static _ => 200 };
        var seed = new Option<int>("--seed") { Description = "Seed of the draw", HelpName = "X", DefaultValueFactory = static _ => 1 };
        var suite = new Option<string?>("--suite") { Description = "A campaign's suite for mutants that the tests let pass (groups or ida)", HelpName = "SUITE" };
        var minutes = new Option<double>("--minutes") { Description = "How long each of them may take in it", HelpName = "N", DefaultValueFactory = static _ => 10 };
        var copy = new Option<string>("--copy") { Description = "Where the mutated copy of the tree is made", HelpName = "FOLDER", DefaultValueFactory = static _ => Path.Combine(Path.GetTempPath(), "ida-mutation") };
        var root = new RootCommand("Small changes of the code, one at a time, and whether the tests and a campaign notice.") { project, folders, tests, sample, seed, suite, minutes, copy };
        root.SetAction(parsed =>
        {
            if (parsed.GetValue(suite) is not (null or "groups" or "ida"))
            {
                Console.Error.WriteLine("--suite must be groups or ida");
                return 2;
            }
            var tree = new MutatedTree(Directory.GetCurrentDirectory(), parsed.GetValue(copy)!, parsed.GetValue(project)!, parsed.GetValue(folders) ?? []);
            return Run(tree, parsed.GetValue(tests)!, parsed.GetValue(sample), parsed.GetValue(seed), parsed.GetValue(suite), TimeSpan.FromMinutes(parsed.GetValue(minutes)));
        });
        var result = root.Parse(args);
        if (result.Errors.Count == 0) return result.Invoke();
        foreach (var error in result.Errors) Console.Error.WriteLine(error.Message);
        return 2;
    }

    private static int Run(MutatedTree tree, IReadOnlyList<string> projects, int sample, int seed, string? suite, TimeSpan most)
    {
        tree.Make();
        Console.WriteLine($"{tree.Places} places, {Math.Min(sample, tree.Places)} of them drawn (seed {seed})");
        tree.Build(sample, seed, suite is null ? projects : [.. projects, Campaign.Project]);
        Console.WriteLine($"{tree.Mutants.Count} mutants, {tree.Dropped} more did not compile");
        var tests = new TestSet(tree.Copy, projects);
        tests.Measure(Console.WriteLine);
        var campaign = suite is null ? null : new Campaign(tree.Copy, suite, most);
        var table = new Verdicts();
        foreach (var mutant in tree.Mutants)
        {
            string? killer = tests.Kill(mutant);
            string? found = killer is null ? campaign?.Kill(mutant) : null;
            var verdict = killer is not null ? Verdict.Tests : found is not null ? Verdict.Campaign : tests.Reaches(mutant) ? Verdict.Survived : Verdict.NotReached;
            table.Add(mutant, verdict);
            Console.WriteLine(string.Create(CultureInfo.InvariantCulture, $"{mutant.Number,5} {verdict,-10} {mutant}{(killer ?? found) switch { null => "", var by => $" [{by}]" }}"));
        }
        table.Print(Console.Out);
        return 0;
    }
}
