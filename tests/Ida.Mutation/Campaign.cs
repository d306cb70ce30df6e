using System.Globalization;

namespace Ida.Mutation;

/// <summary>Random schedules of a suite, in a process with a mutant switched on.</summary>
internal sealed class Campaign(string copy, string suite, TimeSpan most)
{
    public const string Project = "tests/Ida.Campaign";

    /// <summary>The message about the first seed that fails; null if none fails in the time.</summary>
    public string? Kill(Mutant mutant)
    {
        // The campaign's seeds are the same each time. So a failure is the mutant's doing, as long as the original code passes them.
        var (code, output) = Tool.Run(Path.Combine(copy, Project, "bin", "Release", "net10.0", "Ida.Campaign"), ["--suite", suite, "--seeds", "1000000", "--first"], copy, most,
            (Switch.On, mutant.Number.ToString(CultureInfo.InvariantCulture)));
        if (code is null) return null;
        return output.Split('\n').FirstOrDefault(static line => line.Contains(" failed for seed ", StringComparison.Ordinal)) ?? $"exit code {code}";
    }
}
