using System.Diagnostics;
using System.Globalization;
using GroupCore.Runtime;
using Ida.Chaos.Judging;
using Ida.Chaos.Members;

namespace Ida.Chaos.Driving;

/// <summary>
/// One stop or cut in ten is too short for anybody to notice. Half of these blinks come when all is well and nothing has changed for seconds, so that a change after them
/// is due to the blink: these are judged. The other half come at once, beside what is left of the fault before.
/// </summary>
/// <remarks>
/// If nothing has changed, nobody has noticed, whatever else happened. A change is due to the blink, unless the machine gave the driver or a process no time (a process says so itself, or says
/// nothing): then the blink is not judged. A member that speaks, and says that its DHT does not answer, has noticed.
/// </remarks>
internal sealed class Blinks(ChaosOptions options, Roster roster, Nemesis nemesis, Prng random)
{
    /// <summary>From this many unjudged blinks on, a run with no more judged ones shows nothing about blinks. If blinks were asked for, none need be unjudged for that.</summary>
    private const int Enough = 3;

    /// <summary>At most this many more blinks are made if blinks were asked for and they show nothing when the time is over.</summary>
    private const int MostMore = 6;

    /// <summary>How many times a calm moment is waited for.</summary>
    private const int Trials = 5;
    private static readonly TimeSpan s_poll = TimeSpan.FromMilliseconds(50), s_first = TimeSpan.FromMilliseconds(500);

    /// <summary>A silent member is excluded within a second or two; what has not changed after this time is not going to.</summary>
    private static readonly TimeSpan s_calm = TimeSpan.FromSeconds(4);

    /// <summary>How much longer than planned a blink, or a pause of the driver or of a member, may last for lack of time and still be judged: half a second may exclude nobody.</summary>
    private static readonly TimeSpan s_heldUp = TimeSpan.FromMilliseconds(250);

    /// <summary>How many blinks were judged.</summary>
    public int Judged { get; private set; }

    /// <summary>How many blinks were to be judged but could not be: something had changed, perhaps for another reason.</summary>
    public int Unjudged { get; private set; }

    /// <summary>Whether no more blinks were judged than could not be: a defect would hide among the unjudged ones.</summary>
    public bool ShowNothing => AreNothing(Judged, Unjudged, options.Faults.Contains(FaultKind.Blink));

    /// <summary>Whether another blink is wanted after the time of the run and so many more blinks: what could not be judged was due to the machine, and the next one may be judged.</summary>
    public bool WantMore(int more) => IsMoreWanted(Judged, Unjudged, options.Faults.Contains(FaultKind.Blink), more);

    /// <summary>Draws whether the next stop or cut is a blink; null if it is none.</summary>
    public async Task<Blink?> DrawAsync(CancellationToken cancel)
    {
        if (!random.Chance(0.1)) return null;
        return random.Next(2) == 0 ? new(Length(), null) : await CalmAsync(cancel);
    }

    /// <summary>Waits for a calm moment, and returns a blink for it; if none comes, a change after the blink is not judged.</summary>
    public async Task<Blink> CalmAsync(CancellationToken cancel)
    {
        string? hindered = null;
        for (int i = 0; i < Trials; i++)
        {
            await nemesis.WholeAsync(cancel);
            var moment = new CalmMoment(Said());
            var look = await SecondsAsync(cancel);
            hindered = look.Hindered ?? moment.HeldUp(Said(), s_heldUp) ?? look.Silent ?? moment.Change(Said());
            if (hindered is null) break;
        }
        return new(Length(), new(Said()), hindered is null ? null : $"before it {hindered}");
    }

    /// <summary>Looks, some time after a blink, whether anybody has noticed.</summary>
    /// <param name="blink">The blink.</param>
    /// <param name="took">How long it lasted.</param>
    /// <param name="stopped">The member that was stopped for it; null: none.</param>
    /// <param name="what">What it was, for a report.</param>
    /// <param name="cancel">Gives up.</param>
    public async Task JudgeAsync(Blink blink, TimeSpan took, MemberProcess? stopped, string what, CancellationToken cancel)
    {
        if (blink.Before is not { } before) return;
        what = string.Create(CultureInfo.InvariantCulture, $"{what} for {took.TotalMilliseconds:F0} ms");
        var look = await SecondsAsync(cancel);
        nemesis.CheckEnds();
        // A member that is not heard from now may have changed without our knowing.
        string? lost = roster.Running.FirstOrDefault(static one => !one.IsHeard) is { } one ? $"{one.Name} is not heard from" : null;
        string? change = before.Change(Said()) ?? look.Silent ?? lost;
        if (change is null)
        {
            Judged++;
            return;
        }
        string? hindered = blink.Hindered ?? (took > TimeSpan.FromMilliseconds(options.BlinkMs) + s_heldUp ? "the driver was held up in it" : look.Hindered) ?? before.HeldUp(Said(), s_heldUp, stopped?.Name, took) ?? lost;
        if (hindered is null) throw new ChaosFailedException($"{what}, and nothing else was done: {change}.");
        Unjudged++;
        nemesis.Say($"not judged: {what}: {change}; but {hindered}");
    }

    /// <summary>Lets seconds pass, and watches meanwhile.</summary>
    private async Task<BlinkLook> SecondsAsync(CancellationToken cancel)
    {
        var look = new BlinkLook();
        // A member that was stopped for long, in a control, has to speak first.
        await Task.Delay(s_first, cancel);
        for (long since = Stopwatch.GetTimestamp(), last = since; Stopwatch.GetElapsedTime(since) < s_calm; last = Stopwatch.GetTimestamp())
        {
            await Task.Delay(s_poll, cancel);
            if (Stopwatch.GetElapsedTime(last) is var passed && passed > s_poll + s_heldUp) look.Hinder(string.Create(CultureInfo.InvariantCulture, $"the driver was held up for {passed.TotalMilliseconds:F0} ms"));
            foreach (var one in roster.Running) look.Note(one.Name, one.IsHeard, one.Status);
        }
        return look;
    }

    /// <summary>Whether so many judged and so many unjudged blinks show nothing.</summary>
    public static bool AreNothing(int judged, int unjudged, bool asked) => judged <= unjudged && (asked || unjudged >= Enough);

    /// <summary>Whether blinks that were asked for show nothing yet, and another one may change that.</summary>
    public static bool IsMoreWanted(int judged, int unjudged, bool asked, int more) => asked && more < MostMore && AreNothing(judged, unjudged, asked);

    private TimeSpan Length() => TimeSpan.FromMilliseconds(random.Next(1, options.BlinkMs));

    private IEnumerable<(string Name, MemberStatus Status)> Said() => roster.Running.Select(static one => (one.Name, one.Status));
}
