using System.Globalization;

namespace Ida.Mutation;

/// <summary>The test classes of some projects, and which mutants each reaches.</summary>
internal sealed class TestSet(string copy, IReadOnlyList<string> projects)
{
    private const int FailedTests = 2;
    private static readonly TimeSpan s_mostForAll = TimeSpan.FromMinutes(10);
    private readonly List<TestClass> _classes = [];

    /// <summary>Finds the classes, and the mutants that each reaches: runs each class alone, without a mutant.</summary>
    public void Measure(Action<string> say)
    {
        foreach (string project in projects)
        {
            string program = ProgramOf(project);
            var names = Tool.Run(program, ["--list-tests", "--no-ansi"], copy).Output.Split('\n').Select(ClassOf).OfType<string>().Distinct().Order(StringComparer.Ordinal).ToList();
            say($"{project}: {names.Count} classes of tests");
            foreach (string name in names)
            {
                string file = Path.GetTempFileName();
                long began = Environment.TickCount64;
                var (code, output) = Tool.Run(program, ["--filter-class", name, "--no-progress"], copy, s_mostForAll, (Switch.Reached, file));
                var took = TimeSpan.FromMilliseconds(Environment.TickCount64 - began);
                var reached = File.ReadAllLines(file).Select(static line => int.Parse(line, CultureInfo.InvariantCulture)).ToHashSet();
                File.Delete(file);
                if (code != 0)
                {
                    say($"{name} is left out: it fails without a mutant, or did not end ({code})");
                    continue;
                }
                _ = output;
                _classes.Add(new(program, name, took, reached));
            }
        }
    }

    public bool Reaches(Mutant mutant) => _classes.Exists(tests => tests.Reached.Contains(mutant.Number));

    /// <summary>The class that kills a mutant: of the classes that reach it, the quickest first; null if all pass.</summary>
    public string? Kill(Mutant mutant)
    {
        foreach (var tests in _classes.Where(tests => tests.Reached.Contains(mutant.Number)).OrderBy(static tests => tests.Took))
        {
            var limit = (tests.Took * 4) + TimeSpan.FromSeconds(20);
            int? code = Tool.Run(tests.Program, ["--filter-class", tests.Name, "--no-progress", "--stop-on-fail", "on"], copy, limit, (Switch.On, mutant.Number.ToString(CultureInfo.InvariantCulture))).Code;
            if (code == 0) continue;
            return code switch { null => $"{tests.Name} (did not end)", FailedTests => tests.Name, _ => $"{tests.Name} (exit code {code})" };
        }
        return null;
    }

    private string ProgramOf(string project) => Path.Combine(copy, project, "bin", "Release", "net10.0", Path.GetFileName(project));

    // "  Namespace.Class.Method(arguments)"
    private static string? ClassOf(string line)
    {
        if (!line.StartsWith("  ", StringComparison.Ordinal)) return null;
        string name = line.Trim().Split('(')[0];
        int dot = name.LastIndexOf('.');
        return dot > 0 && !name.Contains(' ', StringComparison.Ordinal) ? name[..dot] : null;
    }

    private sealed record TestClass(string Program, string Name, TimeSpan Took, HashSet<int> Reached);
}
