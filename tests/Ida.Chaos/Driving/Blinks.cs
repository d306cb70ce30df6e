using System.Diagnostics;
using System.Globalization;
using GroupCore.Runtime;
using Ida.Chaos.Judging;
using Ida.Chaos.Members;

namespace Ida.Chaos.Driving;

/// <summary>
/// Stops and cuts too short for anybody to notice: one in ten. Half of them come when all is well and nothing has changed for seconds, so that what changes
/// then would be for the blink, and are to be judged; the other half as soon as they can, beside what is left of the fault before.
/// </summary>
/// <remarks>
/// Where nothing has changed nobody has noticed, whatever else was. What has changed is for the blink, unless the machine had no time, for the driver or for a process that says so itself, or says
/// nothing: such a blink is not judged. A member that speaks, and says that its DHT does not answer it, has noticed.
/// </remarks>
internal sealed class Blinks(ChaosOptions options, Roster roster, Nemesis nemesis, Prng random)
{
    /// <summary>So many that could not be judged, and no more that were, are a run that shows nothing of blinks; where they are all there is, none.</summary>
    private const int Enough = 3;

    /// <summary>So many more are made where blinks were asked for, and the time is over before they show anything.</summary>
    private const int MostMore = 6;

    /// <summary>How often a calm moment is waited for.</summary>
    private const int Trials = 5;
    private static readonly TimeSpan s_poll = TimeSpan.FromMilliseconds(50), s_first = TimeSpan.FromMilliseconds(500);

    /// <summary>Who is silent is excluded within a second or two; what has not changed after that long is not going to.</summary>
    private static readonly TimeSpan s_calm = TimeSpan.FromSeconds(4);

    /// <summary>How much longer than it should a blink, or a pause of the driver or of a member, may last for want of time: nobody may be excluded for half a second.</summary>
    private static readonly TimeSpan s_heldUp = TimeSpan.FromMilliseconds(250);

    /// <summary>How many were judged.</summary>
    public int Judged { get; private set; }

    /// <summary>How many were to be judged, and could not be: something had changed, and it may have been for another reason.</summary>
    public int Unjudged { get; private set; }

    /// <summary>Whether no more of what was to be judged was than was not: a defect would hide among those.</summary>
    public bool ShowNothing => AreNothing(Judged, Unjudged, options.Faults.Contains(FaultKind.Blink));

    /// <summary>Whether one more is wanted though the time of the run is over, and so many more were made: what could not be judged is for the machine, and another may be judged.</summary>
    public bool WantMore(int more) => IsMoreWanted(Judged, Unjudged, options.Faults.Contains(FaultKind.Blink), more);

    /// <summary>Whether the next stop or cut is a blink; null where it is none.</summary>
    public async Task<Blink?> DrawAsync(CancellationToken cancel)
    {
        if (!random.Chance(0.1)) return null;
        return random.Next(2) == 0 ? new(Length(), null) : await CalmAsync(cancel);
    }

    /// <summary>A blink at a calm moment, which is waited for; where none comes it is not judged.</summary>
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
    /// <param name="stopped">Who was stopped for it; null: nobody.</param>
    /// <param name="what">What it was, for a report.</param>
    /// <param name="cancel">Gives up.</param>
    public async Task JudgeAsync(Blink blink, TimeSpan took, MemberProcess? stopped, string what, CancellationToken cancel)
    {
        if (blink.Before is not { } before) return;
        what = string.Create(CultureInfo.InvariantCulture, $"{what} for {took.TotalMilliseconds:F0} ms");
        var look = await SecondsAsync(cancel);
        nemesis.CheckEnds();
        // Of who is not heard of now nobody knows what has changed.
        string? lost = roster.Running.FirstOrDefault(static one => !one.IsHeard) is { } one ? $"{one.Name} is not heard of" : null;
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

    /// <summary>Lets seconds pass, and looks meanwhile.</summary>
    private async Task<BlinkLook> SecondsAsync(CancellationToken cancel)
    {
        var look = new BlinkLook();
        // Who was stopped, for a control, has to speak first.
        await Task.Delay(s_first, cancel);
        for (long since = Stopwatch.GetTimestamp(), last = since; Stopwatch.GetElapsedTime(since) < s_calm; last = Stopwatch.GetTimestamp())
        {
            await Task.Delay(s_poll, cancel);
            if (Stopwatch.GetElapsedTime(last) is var passed && passed > s_poll + s_heldUp) look.Hinder(string.Create(CultureInfo.InvariantCulture, $"the driver was held up for {passed.TotalMilliseconds:F0} ms"));
            foreach (var one in roster.Running) look.Note(one.Name, one.IsHeard, one.Status);
        }
        return look;
    }

    /// <summary>The same of so many that were judged, and so many that could not be.</summary>
    public static bool AreNothing(int judged, int unjudged, bool asked) => judged <= unjudged && (asked || unjudged >= Enough);

    /// <summary>Whether another may change it that those asked for show nothing.</summary>
    public static bool IsMoreWanted(int judged, int unjudged, bool asked, int more) => asked && more < MostMore && AreNothing(judged, unjudged, asked);

    private TimeSpan Length() => TimeSpan.FromMilliseconds(random.Next(1, options.BlinkMs));

    private IEnumerable<(string Name, MemberStatus Status)> Said() => roster.Running.Select(static one => (one.Name, one.Status));
}
