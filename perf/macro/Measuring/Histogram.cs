using System.Globalization;
using System.Numerics;
using System.Text;

namespace Ida.Perf.Macro.Measuring;

/// <summary>Log-linear histogram of nanoseconds with 128 steps per power of two: a value is kept to better than 0.8 %, the maximum exactly. For one writer at a time.</summary>
internal sealed class Histogram
{
    private const int StepBits = 7;
    private const int Steps = 1 << StepBits;
    private readonly long[] _counts = new long[(64 - StepBits) * Steps];

    public long Count { get; private set; }

    public long Max { get; private set; }

    public void Record(long nanoseconds)
    {
        long value = Math.Max(0, nanoseconds);
        _counts[IndexOf(value)]++;
        Count++;
        if (value > Max) Max = value;
    }

    public void Add(Histogram other)
    {
        for (int i = 0; i < _counts.Length; i++) _counts[i] += other._counts[i];
        Count += other.Count;
        Max = Math.Max(Max, other.Max);
    }

    /// <summary>The value in µs at or below which this fraction of the samples lies; NaN without samples.</summary>
    public double Microseconds(double fraction)
    {
        if (Count == 0) return double.NaN;
        long rank = Math.Max(1, (long)Math.Ceiling(fraction * Count)), seen = 0;
        for (int i = 0; i < _counts.Length; i++)
        {
            seen += _counts[i];
            if (seen >= rank) return Math.Min(MiddleOf(i), Max) / 1e3;
        }
        return Max / 1e3;
    }

    /// <summary>One word: max;index:count,index:count,…</summary>
    public string Encode()
    {
        var text = new StringBuilder().Append(CultureInfo.InvariantCulture, $"{Max};");
        for (int i = 0; i < _counts.Length; i++)
            if (_counts[i] != 0) text.Append(CultureInfo.InvariantCulture, $"{i}:{_counts[i]},");
        return text.ToString();
    }

    public static Histogram Decode(string text)
    {
        var histogram = new Histogram();
        int end = text.IndexOf(';', StringComparison.Ordinal);
        histogram.Max = long.Parse(text.AsSpan(0, end), CultureInfo.InvariantCulture);
        foreach (string cell in text[(end + 1)..].Split(',', StringSplitOptions.RemoveEmptyEntries))
        {
            int colon = cell.IndexOf(':', StringComparison.Ordinal);
            long count = long.Parse(cell.AsSpan(colon + 1), CultureInfo.InvariantCulture);
            histogram._counts[int.Parse(cell.AsSpan(0, colon), CultureInfo.InvariantCulture)] = count;
            histogram.Count += count;
        }
        return histogram;
    }

    private static int IndexOf(long value)
    {
        if (value < Steps) return (int)value;
        int shift = BitOperations.Log2((ulong)value) - StepBits;
        return (shift * Steps) + (int)(value >> shift);
    }

    private static double MiddleOf(int index)
    {
        if (index < Steps) return index;
        int shift = (index / Steps) - 1;
        return ((index % Steps) + Steps + 0.5) * Math.Pow(2, shift);
    }
}
