using System.Globalization;

namespace Ida.Chaos;

/// <summary>The texts of the command line; null: not given.</summary>
internal sealed record ChaosTexts(string? Members, string? ShardSize, string? Seconds, string? Faults, string? Clients, string? History, string? Seed, string? Longest = null, string? Blink = null);

/// <summary>What to run, checked.</summary>
internal sealed record ChaosOptions(int Members, int ShardSize, int Seconds, IReadOnlyList<FaultKind> Faults, int Clients, string? History, ulong Seed, TimeSpan Longest, int BlinkMs)
{
    /// <summary>The members of as many whole shards as fit, with at least one member left over as a spare.</summary>
    public int TargetSize => (Members - 1) / ShardSize * ShardSize;

    public int Shards => TargetSize / ShardSize;

    /// <summary>Reads the texts; on failure <paramref name="error"/> is one line that says what is allowed.</summary>
    public static bool TryParse(ChaosTexts texts, out ChaosOptions options, out string error)
    {
        options = null!;
        if (!TryNumber(texts.Members, "--members", 5, 4, 16, out int members, out error)) return false;
        if (!TryNumber(texts.ShardSize, "--shard-size", 2, 2, members - 1, out int shardSize, out error)) return false;
        if (!TryNumber(texts.Seconds, "--seconds", 60, 5, 100_000, out int seconds, out error)) return false;
        if (!TryNumber(texts.Clients, "--clients", 2, 1, 64, out int clients, out error)) return false;
        if (!TryNumber(texts.Seed, "--seed", 1, 0, int.MaxValue, out int seed, out error)) return false;
        if (!TryNumber(texts.Longest, "--longest", 8, 1, 600, out int longest, out error)) return false;
        if (!TryNumber(texts.Blink, "--blink", 50, 2, 10_000, out int blink, out error)) return false;
        var faults = new List<FaultKind>();
        foreach (string name in (texts.Faults ?? "kill,stop,cut,join,leave").Split(',', StringSplitOptions.TrimEntries))
        {
            if (!Enum.TryParse(name, ignoreCase: true, out FaultKind kind) || int.TryParse(name, out _))
            {
                error = $"--faults takes {string.Join(", ", Enum.GetNames<FaultKind>()).ToLowerInvariant()}, separated by commas, not \"{name}\".";
                return false;
            }
            if (!faults.Contains(kind)) faults.Add(kind);
        }
        options = new(members, shardSize, seconds, faults, clients, texts.History, (ulong)seed, TimeSpan.FromSeconds(longest), blink);
        return true;
    }

    private static bool TryNumber(string? text, string name, int otherwise, int least, int most, out int number, out string error)
    {
        (number, error) = (otherwise, "");
        if (text is null || (int.TryParse(text, NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out number) && number >= least && number <= most)) return true;
        error = $"{name} must be a whole number from {least} to {most}, not \"{text}\".";
        return false;
    }
}
