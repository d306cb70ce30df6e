using System.Globalization;

namespace Ida.Mutation;

internal enum Verdict
{
    /// <summary>A test fails, or does not end.</summary>
    Tests,

    /// <summary>All tests pass, and a seed of the campaign fails.</summary>
    Campaign,

    Survived,

    /// <summary>No test reaches the place.</summary>
    NotReached,
}

/// <summary>The verdicts on the mutants, folder by folder.</summary>
internal sealed class Verdicts
{
    private readonly List<(Mutant Mutant, Verdict Verdict)> _all = [];

    public void Add(Mutant mutant, Verdict verdict) => _all.Add((mutant, verdict));

    public void Print(TextWriter to)
    {
        to.WriteLine();
        to.WriteLine("Killed: share of the mutants; by tests, by the campaign; survived, not reached by a test");
        foreach (var folder in _all.GroupBy(static one => Path.GetDirectoryName(one.Mutant.Path)!).OrderBy(static group => group.Key, StringComparer.Ordinal)) Print(to, folder.Key, [.. folder]);
        Print(to, "all", _all);
    }

    private static void Print(TextWriter to, string name, List<(Mutant, Verdict Verdict)> some)
    {
        int Of(Verdict verdict) => some.Count(one => one.Verdict == verdict);
        int killed = Of(Verdict.Tests) + Of(Verdict.Campaign);
        double share = some.Count == 0 ? 0 : 100.0 * killed / some.Count;
        to.WriteLine(string.Create(CultureInfo.InvariantCulture, $"{share,6:0.0} % of {some.Count,5}  {Of(Verdict.Tests),5} {Of(Verdict.Campaign),5}  {Of(Verdict.Survived),5} {Of(Verdict.NotReached),5}  {name}"));
    }
}
