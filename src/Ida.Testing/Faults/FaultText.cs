using System.Globalization;

namespace Ida.Testing;

/// <summary>Reads one fault: time, kind, whom, "x" and a factor, "for" and a time.</summary>
internal static class FaultText
{
    public static Fault Parse(string text)
    {
        var words = text.Split(' ', StringSplitOptions.RemoveEmptyEntries);
        if (words.Length < 3 || !TryTime(words[0], out var at) || !Enum.TryParse(words[1], ignoreCase: true, out FaultKind kind)) throw Bad(text);
        var fault = new Fault(at, kind, -1, TimeSpan.Zero);
        fault = kind == FaultKind.Partition ? fault with { Side = Numbers(words[2], ',', text) } : Whom(fault, Numbers(words[2], '>', text), text);
        int next = 3;
        if (next < words.Length && words[next][0] == 'x')
        {
            if (!double.TryParse(words[next++].AsSpan(1), NumberStyles.Float, CultureInfo.InvariantCulture, out double factor)) throw Bad(text);
            fault = fault with { Factor = factor };
        }
        if (next == words.Length) return fault;
        if (next + 2 != words.Length || words[next] != "for") throw Bad(text);
        if (words[next + 1] == "good") return fault with { For = Timeout.InfiniteTimeSpan };
        return TryTime(words[next + 1], out var time) ? fault with { For = time } : throw Bad(text);
    }

    private static Fault Whom(Fault fault, List<int> numbers, string text)
    {
        bool way = fault.Kind is FaultKind.Cut or FaultKind.Drop or FaultKind.Slow or FaultKind.Break;
        if (numbers.Count != (way ? 2 : 1)) throw Bad(text);
        return fault with { Node = numbers[0], Other = way ? numbers[1] : -1 };
    }

    private static List<int> Numbers(string word, char separator, string text)
    {
        var numbers = new List<int>();
        foreach (string part in word.Split(separator))
            numbers.Add(int.TryParse(part, NumberStyles.None, CultureInfo.InvariantCulture, out int number) ? number : throw Bad(text));
        return numbers;
    }

    private static bool TryTime(string word, out TimeSpan time)
    {
        time = default;
        if (!word.EndsWith("ms", StringComparison.Ordinal)) return false;
        if (!double.TryParse(word.AsSpan(0, word.Length - 2), NumberStyles.AllowDecimalPoint, CultureInfo.InvariantCulture, out double milliseconds)) return false;
        time = TimeSpan.FromTicks((long)Math.Round(milliseconds * TimeSpan.TicksPerMillisecond));
        return true;
    }

    private static FormatException Bad(string text) =>
        new($"'{text}' is not a fault: expected such as '120ms crash 2 for 50ms', '0.5ms cut 0>1 for good', '3ms slow 0>1 x20 for 9ms', '4ms partition 0,2 for 1ms'.");
}
