using System.Globalization;

namespace Ida.Testing;

/// <summary>Which seeds to run: "IDA_SEED" names one, "IDA_SEEDS" a count ("5000") or a range ("5001-9000"); otherwise 1 … the test's count.</summary>
internal readonly record struct SeedRange(ulong First, ulong Last)
{
    public static SeedRange Choose(int count, string? one, string? many)
    {
        if (!string.IsNullOrWhiteSpace(one)) return new(Seed(one, "IDA_SEED"), Seed(one, "IDA_SEED"));
        if (string.IsNullOrWhiteSpace(many)) return new(1, (ulong)count);
        int dash = many.IndexOf('-', StringComparison.Ordinal);
        var range = dash < 0 ? new SeedRange(1, Seed(many, "IDA_SEEDS")) : new(Seed(many[..dash], "IDA_SEEDS"), Seed(many[(dash + 1)..], "IDA_SEEDS"));
        return range.First <= range.Last ? range : throw new FormatException($"IDA_SEEDS '{many}' is empty: expected a count such as 5000 or a range such as 5001-9000.");
    }

    private static ulong Seed(string text, string variable)
    {
        text = text.Trim();
        bool hex = text.StartsWith("0x", StringComparison.OrdinalIgnoreCase);
        return ulong.TryParse(hex ? text.AsSpan(2) : text, hex ? NumberStyles.AllowHexSpecifier : NumberStyles.None, CultureInfo.InvariantCulture, out ulong seed)
            ? seed
            : throw new FormatException($"{variable} '{text}' is not a number, decimal or hexadecimal after 0x.");
    }
}
