using System.Globalization;
using Ida.Scenarios;
using Oracle;

namespace Ida.Campaign;

/// <summary>The texts of the command line; null for an option that was not given.</summary>
internal sealed record CampaignTexts(string? Suite, string? Seeds, string? Seed, string? Scenario, string? Mutate, string? History, bool First = false, string? Detection = null, string? Seconds = null);

/// <summary>What to run, checked.</summary>
internal sealed record CampaignOptions(Suite Suite, ulong First, int Count, Scenario? Only, IReadOnlyList<string> Mutated, string? History, bool StopsAtFirst)
{
    private const int DefaultSeeds = 1_000, DefaultMutationSeeds = 20_000, MostSeeds = 10_000_000, MostSeconds = 1_000_000;

    /// <summary>The times of detection that were asked for, as the replay command repeats them.</summary>
    public string Detection { get; init; } = "";

    /// <summary>The time after which no further seed is begun; null for no limit.</summary>
    public TimeSpan? Time { get; init; }

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
        TimeSpan? time = null;
        if (texts.Seconds is not null)
        {
            if (texts.Mutate is not null || !int.TryParse(texts.Seconds, NumberStyles.None, CultureInfo.InvariantCulture, out int seconds) || seconds is < 1 or > MostSeconds)
            {
                error = $"--seconds must be a whole number from 1 to {MostSeconds}, without --mutate, not \"{texts.Seconds}\".";
                return false;
            }
            time = TimeSpan.FromSeconds(seconds);
            if (texts.Seeds is null) count = MostSeeds;
        }
        var scenarios = suite.Scenarios.ToList();
        var only = scenarios.Find(one => one.Name == texts.Scenario);
        if (texts.Scenario is not null && only is null)
        {
            error = $"--scenario must be one of {string.Join(", ", scenarios)} in suite {suite}, not \"{texts.Scenario}\".";
            return false;
        }
        string times = "";
        if (texts.Detection is not null)
        {
            if (only != OracleScenarios.Pauses || !TryParseDetection(texts.Detection, out var membership))
            {
                error = $"--detection must be PROBE,ROUNDS,LEASE with PROBE and LEASE in milliseconds, for the scenario {OracleScenarios.Pauses}, not \"{texts.Detection}\".";
                return false;
            }
            only = OracleScenarios.PausesWith(membership);
            times = $" --detection {texts.Detection}";
        }
        var rules = MutationTable.RulesOf(suite);
        IReadOnlyList<string> mutated = texts.Mutate is null ? [] : texts.Mutate == "all" ? rules : [.. rules.Where(rule => rule == texts.Mutate)];
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
        options = new(suite, first, count, only, mutated, texts.History, texts.First) { Detection = times, Time = time };
        return true;
    }

    /// <summary>The command that repeats one seed.</summary>
    public string Replay(ulong seed) => $"dotnet run -c Release --project tests/Ida.Campaign -- --suite {Suite}{(Only is null ? "" : $" --scenario {Only}")}{Detection} --seed {seed}";

    private static bool TryParseDetection(string text, out OracleOptions membership)
    {
        membership = new();
        string[] parts = text.Split(',');
        if (parts.Length != 3 || !Parse(parts[0], out int probe) || !Parse(parts[1], out int rounds) || !Parse(parts[2], out int lease)) return false;
        membership = membership with { ProbeInterval = TimeSpan.FromMilliseconds(probe), ProbeRounds = rounds, LeaseDuration = TimeSpan.FromMilliseconds(lease) };
        try
        {
            membership.Validate();
            return true;
        }
        catch (InvalidOptionException)
        {
            return false;
        }

        static bool Parse(string part, out int number) => int.TryParse(part, NumberStyles.None, CultureInfo.InvariantCulture, out number);
    }
}
