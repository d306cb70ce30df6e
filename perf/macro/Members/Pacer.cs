using System.Collections.Concurrent;
using Ida.Perf.Macro.Measuring;

namespace Ida.Perf.Macro.Members;

/// <summary>
/// Starts an operation whenever one is due, at most as many at a time as it has lanes. Latency counts from when an operation was due, so a
/// stall counts for every operation that it held up.
/// </summary>
internal sealed class Pacer(Lane[] lanes, double rate, Window window) : IDisposable
{
    private const long LateLimit = 5 * Clock.Second;
    private const int LastSeconds = 30;
    private readonly BlockingCollection<Lane> _free = new(new ConcurrentQueue<Lane>(lanes));

    public void Run()
    {
        for (long i = 0; ; i++)
        {
            long due = window.Start + (long)(i * Clock.Second / rate);
            if (due >= window.Until || Clock.Now >= window.Until + LateLimit) break;
            Clock.SleepUntil(due);
            _ = OnceAsync(_free.Take(), due);
        }
        for (int i = 0; i < lanes.Length; i++)
            if (!_free.TryTake(out _, TimeSpan.FromSeconds(LastSeconds))) throw new TimeoutException("an operation was still under way long after the window");
    }

    public void Dispose() => _free.Dispose();

    private async Task OnceAsync(Lane lane, long due)
    {
        await lane.TryOnceAsync(due);
        _free.Add(lane);
    }
}
