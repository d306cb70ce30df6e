using System.Text.Json.Nodes;
using Ida.Perf.Macro.Measuring;

namespace Ida.Perf.Macro.Members;

/// <summary>Start of the load and the measuring window, as the driver sent them: times of the machine's clock.</summary>
internal readonly record struct Window(long Start, long From, long Until)
{
    /// <summary>From start, warm-up in ms, length in ms.</summary>
    public static Window Of(long[] numbers)
    {
        long from = numbers[0] + (numbers[1] * Clock.Millisecond);
        return new(numbers[0], from, from + (numbers[2] * Clock.Millisecond));
    }

    public bool Contains(long time) => time >= From && time < Until;

    /// <summary>Waits for the end of the window. Puts the collector's work during the window, and the growth of each counter, into <paramref name="answer"/>.</summary>
    public async Task WatchAsync(JsonObject answer, params (string Name, Func<long> Value)[] counters)
    {
        await Clock.UntilAsync(From);
        var before = MemoryUse.Now;
        long[] counts = [.. counters.Select(c => c.Value())];
        long began = Clock.Now;
        await Clock.UntilAsync(Until);
        double seconds = (Clock.Now - began) / (double)Clock.Second;
        var used = MemoryUse.Now - before;
        (answer["allocated"], answer["collections"], answer["pause_ms"]) = (used.AllocatedBytes, used.Collections, used.PauseMs);
        answer["window_s"] = seconds;
        for (int i = 0; i < counters.Length; i++) answer[counters[i].Name] = counters[i].Value() - counts[i];
    }
}
