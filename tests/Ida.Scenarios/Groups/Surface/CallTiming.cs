using GroupCore.Runtime;

namespace Ida.Scenarios;

/// <summary>When a call of a group is cancelled, if it is.</summary>
internal readonly record struct CallTiming(CancellationTokenSource? Source, TimeSpan After, bool Before, bool Queued, bool InView)
{
    public CancellationToken Token => Source?.Token ?? default;

    public static CallTiming Draw(Prng random, Ingredients drawn)
    {
        int what = (int)random.Next(24);
        if (what > 4) return new(null, TimeSpan.MaxValue, false, false, false);
        var source = new CancellationTokenSource();
        switch (what)
        {
            case 0:
                drawn.Draw(GroupNames.CancelledBefore);
                source.Cancel();
                return new(source, TimeSpan.MaxValue, true, false, false);
            case 1:
                drawn.Draw(GroupNames.CancelQueued);
                return new(source, TimeSpan.MaxValue, false, true, false);
            case 2:
                drawn.Draw(GroupNames.CancelInView);
                return new(source, TimeSpan.MaxValue, false, false, true);
            default:
                drawn.Draw(GroupNames.CancelLater);
                return new(source, TimeSpan.FromMicroseconds(random.Chance(0.5) ? random.Next(1, 5_000) : random.Next(5_000, 800_000)), false, false, false);
        }
    }
}
