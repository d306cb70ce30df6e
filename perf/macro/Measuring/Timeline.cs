namespace Ida.Perf.Macro.Measuring;

/// <summary>Successes in steps of 10 ms from the start of a run.</summary>
internal sealed class Timeline(int steps)
{
    public const int StepMs = 10;
    public const int StepsPerSecond = 1000 / StepMs;
    private readonly int[] _counts = new int[steps];

    public Timeline(IEnumerable<int> counts) : this(0) => _counts = [.. counts];

    public int Length => _counts.Length;

    public int[] ToArray() => [.. _counts];

    /// <summary>Counts one success; times outside of the run do not count. May be called from any thread.</summary>
    public void Count(long sinceStart)
    {
        long step = sinceStart / Clock.Millisecond / StepMs;
        if (step >= 0 && step < _counts.Length) Interlocked.Increment(ref _counts[step]);
    }

    public static Timeline Sum(IReadOnlyCollection<Timeline> lines)
    {
        var sum = new Timeline(lines.Min(l => l.Length));
        foreach (var line in lines)
            for (int i = 0; i < sum.Length; i++) sum._counts[i] += line._counts[i];
        return sum;
    }

    /// <summary>Mean per second.</summary>
    public double Rate(int from, int to)
    {
        long sum = 0;
        for (int i = from; i < to; i++) sum += _counts[i];
        return (double)sum * StepsPerSecond / Math.Max(1, to - from);
    }

    /// <summary>The longest time without any success, and the step after it.</summary>
    public (int Ms, int End) LongestZero(int from, int to)
    {
        var longest = (Length: 0, End: from);
        for (int i = from, run = 0; i < to; i++)
        {
            run = _counts[i] == 0 ? run + 1 : 0;
            if (run > longest.Length) longest = (run, i + 1);
        }
        return (longest.Length * StepMs, longest.End);
    }

    /// <summary>
    /// Whether, from <paramref name="fault"/> on, any 100 ms fell below half of <paramref name="before"/>. If so, also the time from the fault to the first 500 ms at 90 %
    /// that begin after the longest gap, or −1 if there are none.
    /// </summary>
    public (bool Dipped, int BackMs) Recovery(int fault, double before)
    {
        const int Dip = StepsPerSecond / 10, Back = StepsPerSecond / 2;
        int dip = -1;
        for (int i = fault; i + Dip <= Length && dip < 0; i++)
            if (Rate(i, i + Dip) < 0.5 * before) dip = i;
        if (dip < 0) return (false, 0);
        for (int i = Math.Max(dip, LongestZero(fault, Length).End); i + Back <= Length; i++)
            if (Rate(i, i + Back) >= 0.9 * before) return (true, (i - fault) * StepMs);
        return (true, -1);
    }
}
