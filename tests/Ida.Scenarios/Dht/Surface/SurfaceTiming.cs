using GroupCore.Runtime;

namespace Ida.Scenarios;

/// <summary>When a call is cancelled or runs out of time, if it does.</summary>
internal readonly record struct SurfaceTiming(TimeSpan? Timeout, CancellationTokenSource? Source, long CancelAt, bool CancelQueued, bool CancelInView)
{
    public static SurfaceTiming Plain { get; } = new(null, null, long.MaxValue, false, false);

    /// <summary>The options that say so, for the table of calls.</summary>
    public IEnumerable<string> Options
    {
        get
        {
            if (Timeout is { } time) yield return time == System.Threading.Timeout.InfiniteTimeSpan ? "infinite timeout" : "timeout";
            if (Source is not null) yield return "token";
        }
    }

    /// <summary>The level of a call as the table of calls names it.</summary>
    public static string OptionOf(ConsistencyLevel? level) => level is { } named ? $"level {named}" : "level of the table";

    public static SurfaceTiming Draw(Prng random, Ingredients drawn, long deliveries, bool retry)
    {
        TimeSpan? timeout = null;
        switch (random.Next(10))
        {
            case 0:
                drawn.Draw(SurfaceNames.ShortTimeout);
                timeout = TimeSpan.FromMicroseconds(1 + random.Next(20_000));
                break;
            case 1 when drawn.Allows(SurfaceNames.InfiniteTimeout):
                drawn.Draw(SurfaceNames.InfiniteTimeout);
                timeout = System.Threading.Timeout.InfiniteTimeSpan;
                break;
        }
        int cancel = random.Next(16);
        if (cancel > 4) return Plain with { Timeout = timeout };
        var timing = new SurfaceTiming(timeout, new(), long.MaxValue, false, false);
        switch (cancel)
        {
            case 0 when drawn.Allows(SurfaceNames.CancelledBefore):
                drawn.Draw(SurfaceNames.CancelledBefore);
                timing.Source!.Cancel();
                break;
            case 1:
                drawn.Draw(SurfaceNames.CancelQueued);
                timing = timing with { CancelQueued = true };
                break;
            case 2:
                drawn.Draw(SurfaceNames.CancelInView);
                timing = timing with { CancelInView = true };
                break;
            default:
                drawn.Draw(SurfaceNames.CancelLater);
                timing = timing with { CancelAt = deliveries + 1 + random.Next(30) };
                break;
        }
        if (retry) drawn.Draw(SurfaceNames.CancelRetry);
        return timing;
    }
}
