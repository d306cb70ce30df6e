using System.Diagnostics;
using System.Globalization;
using GroupCore.Runtime;
using Ida.Chaos.Judging;
using Ida.Chaos.Members;

namespace Ida.Chaos.Driving;

/// <summary>
/// Stops and cuts too short for anybody to notice: one in ten. Half of them come when all is well and nothing has changed for seconds, so that what changes
/// then would be for the blink, and are judged; the other half as soon as they can, beside what is left of the fault before.
/// </summary>
internal sealed class Blinks(ChaosOptions options, Roster roster, Nemesis nemesis, Prng random)
{
    private static readonly TimeSpan s_poll = TimeSpan.FromMilliseconds(50), s_first = TimeSpan.FromMilliseconds(500);

    /// <summary>Who is silent is excluded within a second or two; what has not changed after that long is not going to.</summary>
    private static readonly TimeSpan s_calm = TimeSpan.FromSeconds(4);

    /// <summary>How much longer than it should a blink may last for want of the driver's time, and be judged: nobody may be excluded for half a second.</summary>
    private static readonly TimeSpan s_heldUp = TimeSpan.FromMilliseconds(200);

    /// <summary>How many were judged.</summary>
    public int Judged { get; private set; }

    /// <summary>Whether the next stop or cut is a blink; null where it is none.</summary>
    public async Task<Blink?> DrawAsync(CancellationToken cancel)
    {
        if (!random.Chance(0.1)) return null;
        return random.Next(2) == 0 ? new(Length(), null) : await CalmAsync(cancel);
    }

    /// <summary>A blink at a calm moment, which is waited for; where none comes it is not judged.</summary>
    public async Task<Blink> CalmAsync(CancellationToken cancel)
    {
        await nemesis.WholeAsync(cancel);
        var moment = new CalmMoment(Said());
        return new(Length(), await AllHeardAsync(cancel) && moment.Change(Said()) is null ? moment : null);
    }

    /// <summary>Looks, some time after a blink, whether anybody has noticed; not where the driver itself was held up, or a member was not heard of.</summary>
    public async Task JudgeAsync(Blink blink, TimeSpan took, string what, CancellationToken cancel)
    {
        if (blink.Before is not { } before || took > TimeSpan.FromMilliseconds(options.BlinkMs) + s_heldUp || !await AllHeardAsync(cancel)) return;
        nemesis.CheckEnds();
        if (before.Change(Said()) is { } change)
            throw new ChaosFailedException(string.Create(CultureInfo.InvariantCulture, $"{what} for {took.TotalMilliseconds:F0} ms, and nothing else was done: {change}."));
        Judged++;
    }

    /// <summary>Lets seconds pass; whether all members were heard of all the time, and again after it. Whoever was not waited for the machine.</summary>
    private async Task<bool> AllHeardAsync(CancellationToken cancel)
    {
        bool all = true;
        // Who was stopped, for a control, has to speak first.
        await Task.Delay(s_first, cancel);
        for (long since = Stopwatch.GetTimestamp(); Stopwatch.GetElapsedTime(since) < s_calm;)
        {
            await Task.Delay(s_poll, cancel);
            all &= roster.Running.All(static one => one.IsFresh);
        }
        return all;
    }

    private TimeSpan Length() => TimeSpan.FromMilliseconds(random.Next(1, options.BlinkMs));

    private IEnumerable<(string Name, MemberStatus Status)> Said() => roster.Running.Select(static one => (one.Name, one.Status));
}
