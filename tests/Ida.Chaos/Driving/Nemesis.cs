using System.Diagnostics;
using GroupCore.Runtime;
using Ida.Chaos.Members;
using Ida.Testing.Checking;

namespace Ida.Chaos.Driving;

/// <summary>
/// Makes faults at random moments, but no more at a time than the guarantees allow. Each shard keeps an initialised member that no fault
/// touches. At most one process is killed, stopped or cut off, and the next one only when all members know the same voters of the Oracle
/// and each of these lives. Joins and leaves come in between at any time.
/// </summary>
internal sealed class Nemesis(ChaosOptions options, Roster roster, HistoryRecorder recorder, Prng random, Action<string> say)
{
    private const int ShortMs = 50, UsualMs = 8_000;

    /// <summary>
    /// The longest time between the warning to the members and the fault: a member that is killed has to note first which of its calls are open.
    /// The time is drawn, so that the fault may meet the member at anything.
    /// </summary>
    private const int LongestWordMs = 50;
    private const int LeastVoters = 3;
    private static readonly TimeSpan s_whole = TimeSpan.FromSeconds(90), s_killed = TimeSpan.FromSeconds(10);
    private static readonly TimeSpan s_poll = TimeSpan.FromMilliseconds(50);
    private readonly SortedSet<string> _made = new(StringComparer.Ordinal);
    private Blinks? _blinks;

    /// <summary>Faults made so far.</summary>
    public int Count { get; private set; }

    /// <summary>The kinds of faults made so far.</summary>
    public IReadOnlyCollection<string> Made => _made;

    /// <summary>The faults that nobody may notice.</summary>
    public Blinks Blinks => _blinks ??= new(options, roster, this, random);

    /// <summary>Makes one fault after the other until the time is over, and a few more blinks if those asked for show nothing yet. Then waits until the cluster is whole.</summary>
    public async Task RunAsync(TimeSpan time, CancellationToken cancel)
    {
        long end = Environment.TickCount64 + (long)time.TotalMilliseconds;
        while (Environment.TickCount64 < end)
        {
            await Task.Delay((int)random.Next(200, 3_000), cancel);
            var kind = options.Faults[random.Next(options.Faults.Count)];
            CheckEnds();
            switch (kind)
            {
                case FaultKind.Join when roster.HasRoom:
                    await BeginAsync(kind, roster.Start(), cancel);
                    break;
                case FaultKind.Leave when roster.Running.Count > options.Members:
                    await LeaveAsync(await VictimAsync(cancel), cancel);
                    break;
                case FaultKind.Kill:
                    await KillAsync(await VictimAsync(cancel), cancel);
                    break;
                case FaultKind.Stop:
                    await StopAsync(await VictimAsync(cancel), await Blinks.DrawAsync(cancel), cancel);
                    break;
                case FaultKind.Cut:
                    await CutAsync(await VictimAsync(cancel), await Blinks.DrawAsync(cancel), cancel);
                    break;
                case FaultKind.Blink:
                    await BlinkAsync(cancel);
                    break;
            }
        }
        for (int more = 0; Blinks.WantMore(more); more++)
        {
            await Task.Delay((int)random.Next(200, 3_000), cancel);
            CheckEnds();
            await BlinkAsync(cancel);
        }
        await WholeAsync(cancel);
    }

    private async Task BlinkAsync(CancellationToken cancel)
    {
        bool stops = random.Next(2) == 0;
        var victim = await VictimAsync(cancel);
        var blink = await Blinks.CalmAsync(cancel);
        await (stops ? StopAsync(victim, blink, cancel) : CutAsync(victim, blink, cancel));
    }

    /// <summary>Waits until every process is active in one view of all of them, and every slot is taken by an initialised member.</summary>
    public Task WholeAsync(CancellationToken cancel) => UntilAsync(IsWhole, "the cluster does not become whole", cancel);

    private bool IsWhole()
    {
        var all = roster.Running;
        return all.All(one => one.IsFresh && one.Status.Active && one.Status.View == all.First().Status.View && one.Status.Members == all.Count && (one.Status.Slot < 0 || one.Status.Initialised))
            && all.Count(one => one.Status.Initialised) >= options.TargetSize;
    }

    /// <summary>A process that may be lost: all are up, the voters live, and each shard has another initialised member.</summary>
    private async Task<MemberProcess> VictimAsync(CancellationToken cancel)
    {
        MemberProcess? victim = null;
        await UntilAsync(() =>
        {
            var all = roster.Running.ToList();
            if (all.Count < options.Members || all.Exists(one => one is { IsFresh: false } or { Status: { Active: false } or { View: 0 } })) return false;
            if (!VotersLive(all)) return false;
            var may = all.FindAll(one => Enumerable.Range(0, options.Shards).All(shard => all.Exists(other => other != one && other.Status.Initialised && other.Status.Shard == shard)));
            victim = may.Count > 0 ? may[random.Next(may.Count)] : null;
            return victim is not null;
        }, "no member may be lost", cancel);
        return victim!;
    }

    /// <summary>Whether all members know the same voters, as many as survive the loss of one, and each of them lives.</summary>
    private static bool VotersLive(List<MemberProcess> all)
    {
        var voters = all[0].Status.Voters;
        return voters.Count >= LeastVoters && all.TrueForAll(one => one.Status.Voters.SequenceEqual(voters)) && voters.All(voter => all.Exists(one => one.Place.Advertise == voter));
    }

    private async Task KillAsync(MemberProcess victim, CancellationToken cancel)
    {
        await BeginAsync(FaultKind.Kill, victim, cancel);
        victim.Kill();
        await victim.WaitForExitAsync(s_killed, "killed");
        CheckEnds();
        roster.Remove(victim);
        victim.Dispose();
        await Task.Delay((int)random.Next(100, 3_000), cancel);
        if (roster.Running.Count < options.Members) await BeginAsync(FaultKind.Join, roster.Start(), cancel, counts: false);
    }

    private async Task StopAsync(MemberProcess victim, Blink? blink, CancellationToken cancel)
    {
        await BeginAsync(FaultKind.Stop, victim, cancel, isBlink: blink is not null);
        long since = Stopwatch.GetTimestamp();
        victim.Suspend();
        await Task.Delay(blink?.Length ?? Length(), cancel);
        victim.Resume();
        var took = Stopwatch.GetElapsedTime(since);
        recorder.Nemesis("cont", victim.Name);
        if (blink is not null) await Blinks.JudgeAsync(blink, took, victim, $"{victim.Name} was stopped", cancel);
    }

    private async Task CutAsync(MemberProcess victim, Blink? blink, CancellationToken cancel)
    {
        var others = roster.Running.Where(one => one != victim).ToList();
        var other = random.Chance(0.4) ? others[random.Next(others.Count)] : null;
        // A cut between two members may exclude either of them, so the two must not hold the same shard.
        if (other is not null && victim.Status.Initialised && other.Status.Initialised && victim.Status.Shard == other.Status.Shard) other = null;
        await BeginAsync(FaultKind.Cut, victim, cancel, target: $"{victim.Name} {other?.Name ?? "all"}", isBlink: blink is not null);
        long since = Stopwatch.GetTimestamp();
        roster.Cuts.Cut(roster.Pairs(victim, other));
        await Task.Delay(blink?.Length ?? Length(), cancel);
        roster.Cuts.HealAll();
        var took = Stopwatch.GetElapsedTime(since);
        recorder.Nemesis("heal", victim.Name);
        if (blink is not null) await Blinks.JudgeAsync(blink, took, stopped: null, $"{victim.Name} was cut off from {other?.Name ?? "all"}", cancel);
    }

    /// <summary>
    /// How long a stop or cut lasts that is no blink. Mostly it is up to 8 s, which leaves the outcome open. If longer ones are asked for, one in four lasts 8 s
    /// or more, and most of these not much more.
    /// </summary>
    private TimeSpan Length()
    {
        double longest = options.Longest.TotalMilliseconds;
        if (longest > UsualMs && random.Chance(0.25)) return TimeSpan.FromMilliseconds(UsualMs * Math.Pow(longest / UsualMs, random.NextDouble()));
        return TimeSpan.FromMilliseconds(random.Next(ShortMs, (long)Math.Min(longest, UsualMs)));
    }

    private async Task LeaveAsync(MemberProcess victim, CancellationToken cancel)
    {
        await BeginAsync(FaultKind.Leave, victim, cancel);
        victim.MayEnd = true;
        victim.Tell(MemberCommands.Leave);
        // The victim counts as a member until it has ended, so no other fault meets it.
        await victim.WaitForExitAsync(s_whole, "told to leave");
        if (victim.ExitCode != 0) throw new ChaosFailedException($"{victim.Name} was told to leave, and failed. Its last words: {victim.LastWords}");
        roster.Remove(victim);
        victim.Dispose();
    }

    /// <summary>Reports what happens, in one line.</summary>
    public void Say(string what) => say($"      {what}");

    private async Task BeginAsync(FaultKind kind, MemberProcess victim, CancellationToken cancel, string? target = null, bool counts = true, bool isBlink = false)
    {
        if (counts) Count++;
        string name = NameOf(kind), met = isBlink ? NameOf(FaultKind.Blink) : name;
        _made.Add(met);
        foreach (var one in roster.Running) one.Tell(MemberCommands.Fault + met);
        await Task.Delay((int)random.Next(LongestWordMs), cancel);
        recorder.Nemesis(name, target ?? victim.Name);
        say($"{(counts ? Count : ""),4}  {name} {target ?? victim.Name}");
    }

    private static string NameOf(FaultKind kind) => kind.ToString().ToLowerInvariant();

    /// <summary>Fails the run if a process has ended without being told to.</summary>
    public void CheckEnds()
    {
        foreach (var one in roster.Running)
            if (one.EndedOnItsOwn) throw new ChaosFailedException($"{one.Name} ended on its own. Its last words: {one.LastWords}");
    }

    private async Task UntilAsync(Func<bool> condition, string otherwise, CancellationToken cancel)
    {
        long end = Environment.TickCount64 + (long)s_whole.TotalMilliseconds;
        while (!condition())
        {
            CheckEnds();
            if (Environment.TickCount64 > end)
                throw new ChaosFailedException($"After {s_whole.TotalSeconds:F0} s {otherwise}: {string.Join("; ", roster.Running.Select(one => $"{one.Name} {(one.IsFresh ? "" : "silent ")}{one.Status.ToLine()} {one.LastWords}"))}");
            // The members report their state by lines, and no event covers all of them together.
            await Task.Delay(s_poll, cancel);
        }
    }
}
