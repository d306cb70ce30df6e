using System.Globalization;

namespace Ida.Mutation;

/// <summary>Random schedules of a suite, in a process that has a mutant on.</summary>
internal sealed class Campaign(string copy, string suite, TimeSpan most)
{
    public const string Project = "tests/Ida.Campaign";

    /// <summary>What it says of the first seed that fails; null when none does in the time.</summary>
    public string? Kill(Mutant mutant)
    {
        // Its seeds are the same each time: what one finds is the mutant's doing, as long as the code as written passes them.
        var (code, output) = Tool.Run(Path.Combine(copy, Project, "bin", "Release", "net10.0", "Ida.Campaign"), ["--suite", suite, "--seeds", "1000000", "--first"], copy, most,
            (Switch.On, mutant.Number.ToString(CultureInfo.InvariantCulture)));
        if (code is null) return null;
        return output.Split('\n').FirstOrDefault(static line => line.Contains(" failed for seed ", StringComparison.Ordinal)) ?? $"exit code {code}";
    }
}
