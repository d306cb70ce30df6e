using System.Globalization;
using GroupCore.Runtime;
using Ida.Scenarios;

namespace Ida.Campaign;

/// <summary>The texts of the command line; null: not given.</summary>
internal sealed record CampaignTexts(string? Suite, string? Seeds, string? Seed, string? Scenario, string? Mutate, string? History, bool First = false);

/// <summary>What to run, checked.</summary>
internal sealed record CampaignOptions(Suite Suite, ulong First, int Count, Scenario? Only, IReadOnlyList<Rule> Mutated, string? History, bool StopsAtFirst)
{
    private const int DefaultSeeds = 1_000, DefaultMutationSeeds = 20_000, MostSeeds = 10_000_000;

    /// <summary>The scenario of a seed.</summary>
    public Scenario Of(ulong seed) => Only ?? Suite.Of(seed);

    /// <summary>Reads the texts; on failure <paramref name="error"/> is one line that says what is allowed.</summary>
    public static bool TryParse(CampaignTexts texts, out CampaignOptions options, out string error)
    {
        options = null!;
        error = "";
        if (Suite.All.FirstOrDefault(one => one.Name == texts.Suite) is not { } suite)
        {
            error = $"--suite must be {string.Join(" or ", Suite.All)}, not \"{texts.Suite}\".";
            return false;
        }
        ulong first = 1;
        if (texts.Seed is not null && !ulong.TryParse(texts.Seed, NumberStyles.None, CultureInfo.InvariantCulture, out first))
        {
            error = $"--seed must be a whole number from 0 to {ulong.MaxValue}, not \"{texts.Seed}\".";
            return false;
        }
        int count = texts.Seed is not null ? 1 : texts.Mutate is not null ? DefaultMutationSeeds : DefaultSeeds;
        if (texts.Seeds is not null && (!int.TryParse(texts.Seeds, NumberStyles.AllowThousands, CultureInfo.InvariantCulture, out count) || count is < 1 or > MostSeeds))
        {
            error = $"--seeds must be a whole number from 1 to {MostSeeds}, not \"{texts.Seeds}\".";
            return false;
        }
        var scenarios = suite.Round.Distinct().ToList();
        var only = scenarios.Find(one => one.Name == texts.Scenario);
        if (texts.Scenario is not null && only is null)
        {
            error = $"--scenario must be one of {string.Join(", ", scenarios)} in suite {suite}, not \"{texts.Scenario}\".";
            return false;
        }
        var rules = MutationTable.RulesOf(suite);
        IReadOnlyList<Rule> mutated = texts.Mutate is null ? [] : texts.Mutate == "all" ? rules : [.. rules.Where(rule => rule.ToString() == texts.Mutate)];
        if (texts.Mutate is not null && mutated.Count == 0)
        {
            error = $"--mutate must be all or one of {string.Join(", ", rules)} in suite {suite}, not \"{texts.Mutate}\".";
            return false;
        }
        if (texts.History is not null && suite != Suite.Ida)
        {
            error = $"--history needs --suite {Suite.Ida}: suite {suite} records no operations.";
            return false;
        }
        options = new(suite, first, count, only, mutated, texts.History, texts.First);
        return true;
    }

    /// <summary>The command that repeats one seed.</summary>
    public string Replay(ulong seed) => $"dotnet run -c Release --project tests/Ida.Campaign -- --suite {Suite}{(Only is null ? "" : $" --scenario {Only}")} --seed {seed}";
}
