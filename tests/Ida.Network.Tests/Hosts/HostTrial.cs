using System.Diagnostics;
using System.Globalization;
using System.Text.Json;
using Ida.Chaos.Members;
using Ida.Network.Tests.Checking;
using Ida.NetworkMember;
using Ida.Testing.Checking;

namespace Ida.Network.Tests.Hosts;

/// <summary>
/// One trial of a cluster, in a group of its own: while clients work at each process, the test does something to the network. At the end all clients rest, and everything that they and the processes recorded
/// is judged: strict serializability with the final states of all replicas, and the times at which the processes acted.
/// </summary>
internal sealed class HostTrial
{
    private const double Millisecond = 1e6;
    private static readonly TimeSpan s_begin = TimeSpan.FromSeconds(40), s_rest = TimeSpan.FromSeconds(60), s_back = TimeSpan.FromSeconds(60), s_advance = TimeSpan.FromSeconds(60);
    private readonly HostCluster _cluster;
    private readonly string _name;
    private readonly IReadOnlyDictionary<string, long> _heldUp;

    private HostTrial(HostCluster cluster, string name) => (_cluster, _name, _heldUp) = (cluster, name, cluster.HeldUpMs);

    /// <summary>Now, on the clock of all records.</summary>
    public static long Now => Stopwatch.GetTimestamp();

    /// <summary>How long one process was held up since the trial began, the one for which that is longest: a bound of this trial is as much longer.</summary>
    public TimeSpan HeldUp => TimeSpan.FromMilliseconds(_cluster.HeldUpMs.Max(one => one.Value - _heldUp.GetValueOrDefault(one.Key)));

    /// <summary>Begins: all processes are together in the group of the trial, and each client has had answers.</summary>
    public static async Task<HostTrial> BeginAsync(HostCluster cluster, string name)
    {
        var trial = new HostTrial(cluster, name);
        await cluster.AskAllAsync(NetworkCommands.Serve + name, s_begin);
        await cluster.WholeAsync(s_begin);
        await trial.AdvanceAsync(cluster.Running.Keys);
        return trial;
    }

    /// <summary>Lets a process that was started during the trial take part in it.</summary>
    public Task ServeAsync(int machine) => _cluster.Running[machine].AskAsync(NetworkCommands.Serve + _name, s_begin);

    /// <summary>Waits until the clients of each of these processes have had some more answers.</summary>
    public async Task AdvanceAsync(IEnumerable<int> machines, int answers = 20)
    {
        var wanted = machines.ToDictionary(static machine => machine, machine => _cluster.Status(machine).Succeeded + answers);
        await _cluster.UntilAsync($"the clients at {string.Join(", ", wanted.Keys)} have answers", s_advance, () => wanted.All(one => _cluster.Status(one.Key).Succeeded >= one.Value));
    }

    /// <summary>Heals the network, waits until all are together again, and judges.</summary>
    /// <param name="told">What was measured, for the report.</param>
    public async Task<HostRecords> EndAsync(params IEnumerable<string> told)
    {
        await _cluster.Machines.HealAsync();
        var back = await _cluster.UntilAsync("all are together again", s_back, () => _cluster.AreTogether(_cluster.Running.Keys, initialised: true));
        await AdvanceAsync(_cluster.Running.Keys);
        await _cluster.AskAllAsync(MemberCommands.Rest, s_rest);
        await _cluster.WholeAsync(s_back);
        var finals = await _cluster.AskAllAsync(MemberCommands.Final, s_rest);
        await _cluster.AskAllAsync(NetworkCommands.End, s_rest);
        _cluster.CheckWrong();
        Assert.True(finals.Count(static one => one.Initialised) >= Math.Min(_cluster.Plan.TargetSize, _cluster.Running.Count), "replicas are missing at the end");
        var records = Records();
        var report = StrictSerializabilityChecker.Check(records.History);
        var intervals = new PrimaryIntervals(records.Acts);
        string margin = intervals.Margin is { } time ? string.Create(CultureInfo.InvariantCulture, $"; {time.TotalMilliseconds:F0} ms from the last act of an excluded process to the first without it") : "";
        foreach (string line in (string[])[.. told, $"back {back.TotalSeconds:F1} s after the heal", report.ToString(), $"{records.Acts.Count} acts{margin}", $"held up at most {HeldUp.TotalMilliseconds:F0} ms"])
            TestContext.Current.TestOutputHelper?.WriteLine($"{_name}: {line}");
        report.ThrowIfFailed();
        Assert.True(report.Judged > 50, $"too little was done: {report}");
        Assert.True(intervals.Violations.Count == 0, string.Join('\n', intervals.Violations));
        return records with { Margin = intervals.Margin };
    }

    /// <summary>What was recorded so far.</summary>
    public HostRecords Records() => new(
        History.ReadFiles(_cluster.Places.Select(place => place.HistoryOf(_name)).Where(File.Exists)),
        [.. _cluster.Places.Select(place => place.ActsOf(_name)).Where(File.Exists).SelectMany(ReadActs)],
        _cluster.Places.ToDictionary(static place => place.Place.Name, place => _cluster.MachineAt(place.Place.Listen), StringComparer.Ordinal),
        _cluster.MachineAt);

    public static TimeSpan Between(long from, long to) => TimeSpan.FromMilliseconds((to - from) / Millisecond);

    // The last line of a process that was killed may be torn.
    private static IEnumerable<Act> ReadActs(string file)
    {
        using var reader = new StreamReader(new FileStream(file, FileMode.Open, FileAccess.Read, FileShare.ReadWrite));
        string text = reader.ReadToEnd();
        foreach (string line in text[..(text.LastIndexOf('\n') + 1)].Split('\n', StringSplitOptions.RemoveEmptyEntries)) yield return JsonSerializer.Deserialize(line, ActJson.Default.Act)!;
    }
}
