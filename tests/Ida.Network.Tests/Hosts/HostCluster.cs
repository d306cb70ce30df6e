using System.Diagnostics;
using System.Globalization;
using System.Net;
using FiveMachines.Machines;
using Ida.Chaos.Driving;
using Ida.Chaos.Members;
using Ida.NetworkMember;

namespace Ida.Network.Tests.Hosts;

/// <summary>A cluster of real processes, one on each machine.</summary>
internal sealed class HostCluster : IAsyncDisposable
{
    private const int Clients = 2;
    private static readonly TimeSpan s_end = TimeSpan.FromSeconds(10), s_poll = TimeSpan.FromMilliseconds(20), s_longestFault = TimeSpan.FromSeconds(30);
    private readonly ClusterPlan _plan;
    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("ida-network-");
    private readonly SortedDictionary<int, MemberProcess> _running = [];
    private readonly List<NetworkPlace> _places = [];
    private int _started;

    /// <summary>No process is started yet.</summary>
    public HostCluster(Namespaces machines, ClusterPlan plan) => (Machines, _plan) = (machines, plan);

    public Namespaces Machines { get; }

    public ClusterPlan Plan => _plan;

    /// <summary>The processes that run, by their machines.</summary>
    public IReadOnlyDictionary<int, MemberProcess> Running => _running;

    /// <summary>All processes that ran, in the order of their starts.</summary>
    public IReadOnlyList<NetworkPlace> Places => _places;

    public string AddressOf(int machine) => new IPEndPoint(_plan.V6 ? Namespaces.AddressV6(machine) : Namespaces.Address(machine), _plan.Port).ToString();

    public int MachineAt(string address) => Enumerable.Range(1, Machines.Count).Single(machine => AddressOf(machine) == address);

    /// <summary>Starts the processes of these machines; null: of all.</summary>
    public void Start(IEnumerable<int>? machines = null)
    {
        foreach (int machine in machines ?? _plan.Machines) Start(machine);
    }

    public MemberProcess Start(int machine)
    {
        string name = string.Create(CultureInfo.InvariantCulture, $"h{machine}.{++_started}");
        string address = AddressOf(machine);
        var place = new NetworkPlace(
            new(name, _plan.Name, address, address, _plan.SeedText is { } text ? [text] : [.. _plan.Seeds.Select(AddressOf)], _plan.ShardSize, _plan.TargetSize, Clients, (ulong)_started, Path.Combine(_folder.FullName, name), s_longestFault),
            _plan.Policy, _plan.OracleSize, _plan.StartTimeout);
        _places.Add(place);
        // The member's program lies beside the tests. What the namespace adds before it is gone once the program runs: the process is the member's own.
        string[] words = [.. Machines.At(machine), Path.Combine(AppContext.BaseDirectory, "Ida.NetworkMember"), .. place.Words];
        var start = new ProcessStartInfo(words[0]);
        foreach (string word in words.Skip(1)) start.ArgumentList.Add(word);
        start.Environment[NetworkPlace.KeyVariable] = _plan.Key;
        // Five processes that all begin at once on a small machine: what they would gain later by profiles they lose here.
        start.Environment["DOTNET_TieredPGO"] = "0";
        return _running[machine] = MemberProcess.Start(place.Place, start);
    }

    /// <summary>SIGKILL.</summary>
    public async Task KillAsync(int machine)
    {
        _running.Remove(machine, out var process);
        process!.Kill();
        await process.WaitForExitAsync(s_end, "killed");
        process.Dispose();
    }

    /// <summary>Waits for the end of a process that ends of itself; its exit code.</summary>
    public async Task<int> ExitAsync(int machine, TimeSpan limit)
    {
        _running.Remove(machine, out var process);
        using var ended = process!;
        await ended.WaitForExitAsync(limit, "expected to end");
        return ended.ExitCode!.Value;
    }

    /// <summary>Two processes, the first of them the leader of the membership service, without which each shard has a member and the voters a majority.</summary>
    public int[] PairThatMayBeLost()
    {
        int leader = Leader;
        return [leader, _running.Keys.First(machine => machine != leader && (Status(machine).Shard < 0 || Status(machine).Shard != Status(leader).Shard) && Status(leader).Voters.Count(voter => voter != AddressOf(leader) && voter != AddressOf(machine)) > Status(leader).Voters.Count / 2)];
    }

    /// <summary>The machine whose process leads the membership service: by the logs, the last that was elected.</summary>
    public int Leader => MachineAt(_places.Where(place => _running.Values.Any(one => one.Place == place.Place) && File.Exists(place.Log))
        .SelectMany(static place => File.ReadLines(place.Log).Where(static line => line.Contains(" LeaderElected: ", StringComparison.Ordinal)).Select(line => (line, place.Place.Listen)))
        .OrderBy(static one => one.line, StringComparer.Ordinal).Last().Listen);

    /// <summary>Waits until all processes are registered in one system, and know as many voters as there are to be.</summary>
    public Task<TimeSpan> RegisteredAsync(TimeSpan limit) => UntilAsync("all are registered, and the voters complete", limit, () => Statuses(_running.Keys).All(one => one.Active && one.System == Statuses(_running.Keys)[0].System && one.Voters.Count == Voters));

    /// <summary>Waits until all processes are active in one view of all of them, and each slot is taken by an initialised member.</summary>
    public Task WholeAsync(TimeSpan limit) => UntilAsync("all are together in one view", limit, () => AreTogether(_running.Keys, initialised: true) && Statuses(_running.Keys).All(one => one.Voters.Count == Voters));

    /// <summary>As many as a cluster of this size has in the end.</summary>
    private int Voters => _running.Count switch { < 3 => 1, < 5 => 3, _ => _plan.OracleSize };

    /// <summary>Whether these processes are in one view, of nobody else.</summary>
    public bool AreTogether(IEnumerable<int> machines, bool initialised = false)
    {
        var all = Statuses(machines);
        return _running.Values.All(static one => !one.HasExited) && all.All(one => one.Active && one.IsAnswered && one.View == all[0].View && one.View > 0 && one.System == all[0].System && one.Members == all.Count)
            && (!initialised || (all.All(static one => one.Slot < 0 || one.Initialised) && all.Count(static one => one.Initialised) >= Math.Min(_plan.TargetSize, all.Count)));
    }

    public MemberStatus Status(int machine) => _running[machine].Status;

    /// <summary>What these processes said last; of one that says nothing, that it is not there.</summary>
    public IReadOnlyList<MemberStatus> Statuses(IEnumerable<int> machines) => [.. machines.Select(machine => _running[machine]).Select(static one => one.IsHeard ? one.Status : new())];

    /// <summary>How long each process was held up so far, by its own word: because the machine had no time for it.</summary>
    public IReadOnlyDictionary<string, long> HeldUpMs => _running.Values.ToDictionary(static one => one.Name, static one => one.Status.HeldUpMs, StringComparer.Ordinal);

    /// <summary>Gives all processes a command and waits for their answers.</summary>
    public Task<MemberStatus[]> AskAllAsync(string command, TimeSpan limit) => Task.WhenAll(_running.Values.Select(one => one.AskAsync(command, limit)));

    /// <summary>Waits until something holds of what the processes say. How long that took.</summary>
    public async Task<TimeSpan> UntilAsync(string what, TimeSpan limit, Func<bool> holds)
    {
        long began = Stopwatch.GetTimestamp();
        while (!holds())
        {
            // The members report their state by lines, and no event covers all of them together.
            if (Stopwatch.GetElapsedTime(began) > limit) Assert.Fail($"Not so after {limit.TotalSeconds:F0} s: {what}.\n{Describe()}");
            await Task.Delay(s_poll);
        }
        return Stopwatch.GetElapsedTime(began);
    }

    /// <summary>What all processes said last, and the ends of their logs.</summary>
    public string Describe() => string.Join('\n', _running.Select(one => $"machine {one.Key}: {(one.Value.IsHeard ? "" : "silent ")}{one.Value.Status.ToLine()} {one.Value.LastWords}\n{LogOf(one.Key, 25)}"));

    /// <summary>The last lines of the log of the process that runs on a machine, or ran there last.</summary>
    public string LogOf(int machine, int lines = int.MaxValue)
    {
        string file = _places.Last(one => one.Place.Listen == AddressOf(machine)).Log;
        return File.Exists(file) ? string.Join('\n', File.ReadLines(file).TakeLast(lines)) : "";
    }

    /// <summary>Each of a set of processes has done nothing wrong so far.</summary>
    public void CheckWrong()
    {
        foreach (var (machine, one) in _running)
        {
            Assert.True(one.Status.Wrong is null, $"machine {machine}: {one.Status.Wrong}");
            Assert.False(one.HasExited, $"machine {machine}: {one.LastWords}");
        }
    }

    /// <summary>Each step is done even if one before has failed: the next test has the same machines.</summary>
    public async ValueTask DisposeAsync()
    {
        var errors = new List<Exception>();
        foreach (var one in _running.Values) await TryAsync(() => Task.Run(one.Kill));
        foreach (var one in _running.Values)
        {
            await TryAsync(() => one.WaitForExitAsync(s_end, "killed"));
            await TryAsync(() => Task.Run(one.Dispose));
        }
        await TryAsync(Machines.HealAsync);
        // For a person who looks for a cause.
        if (Environment.GetEnvironmentVariable("IDA_NETWORK_KEEP") != "1") await TryAsync(() => Task.Run(() => _folder.Delete(recursive: true)));
        if (errors.Count > 0) throw new AggregateException(errors);

        async Task TryAsync(Func<Task> step)
        {
            try
            {
                await step();
            }
            catch (Exception error)
            {
                errors.Add(error);
            }
        }
    }
}
