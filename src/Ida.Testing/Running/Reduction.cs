using System.Globalization;

namespace Ida.Testing;

/// <summary>What a run is reduced to: a fault schedule in place of the drawn one, and the numbers of the disturbances that may happen; null stands for all.</summary>
internal sealed record Reduction(FaultSchedule? Faults, SortedSet<int>? Kept)
{
    private const string FaultsVariable = "IDA_FAULTS", KeptVariable = "IDA_KEEP";

    public static Reduction None { get; } = new(null, null);

    public static Reduction FromEnvironment() => Parse(Environment.GetEnvironmentVariable(FaultsVariable), Environment.GetEnvironmentVariable(KeptVariable));

    public static Reduction Parse(string? faults, string? kept) =>
        new(string.IsNullOrWhiteSpace(faults) ? null : FaultSchedule.Parse(faults), string.IsNullOrWhiteSpace(kept) ? null : Numbers(kept));

    /// <summary>The environment that repeats it, with a space at the end; empty when nothing is reduced.</summary>
    public string Variables =>
        (Faults is null ? "" : $"{FaultsVariable}=\"{Faults}\" ") + (Kept is null ? "" : $"{KeptVariable}=\"{(Kept.Count == 0 ? "none" : string.Join(',', Kept))}\" ");

    private static SortedSet<int> Numbers(string text)
    {
        if (text.Trim() == "none") return [];
        var numbers = new SortedSet<int>();
        foreach (string part in text.Split(',', StringSplitOptions.TrimEntries))
        {
            if (!int.TryParse(part, NumberStyles.None, CultureInfo.InvariantCulture, out int number) || number < 1)
                throw new FormatException($"{KeptVariable} '{text}' is not a list of numbers from 1, such as 3,9, or none.");
            numbers.Add(number);
        }
        return numbers;
    }
}
