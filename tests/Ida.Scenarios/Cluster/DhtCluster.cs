using System.Globalization;
using GroupCore.Groups;
using GroupCore.Membership;
using GroupCore.Runtime;
using Ida.Testing;
using Ida.Testing.Calls;
using Ida.Testing.Checking;
using Ida.Testing.Workload;

namespace Ida.Scenarios;

/// <summary>A cluster whose members all hold a part of one DHT and run a recording client each.</summary>
internal sealed class DhtCluster
{
    // How many operations each member does at the end, and how long each of these may take.
    private const int LastOperations = 10;
    private static readonly TimeSpan Limit = TimeSpan.FromMinutes(30), LastTimeout = TimeSpan.FromSeconds(5);

    // A member's description of itself waits for one of its turns, and each turn of a slow member takes long.
    private static readonly TimeSpan s_described = TimeSpan.FromSeconds(30);
    private readonly SimCluster _cluster;
    private readonly HistoryWorkload _workload;
    private readonly Dictionary<SimMember, Dht> _dhts = [];
    private readonly Dictionary<SimMember, Group> _groups = [];
    private readonly DhtOptions _options;
    private readonly List<(SimMember Member, HistoryClient Client)> _clients = [];
    private readonly List<Task> _resolving = [], _joining = [];
    private readonly HashSet<SimMember> _faulted = [], _leaving = [];
    private readonly HeldShards _held = new();
    private readonly SeenSlices _seen = new();
    private bool _stop;

    public DhtCluster(Simulation simulation, HistoryWorkload? workload = null, int shardSize = 2, int targetSize = 4)
    {
        _cluster = new(simulation);
        Calls = simulation.KeepCalls(CallLedger.Longest);
        simulation.AddInvariant("held shards", () => Without is null ? _held.Look() : null);
        _workload = (workload ?? new()) with { Calls = Calls, Versions = new() };
        _options = new() { ShardSize = shardSize, TargetSize = targetSize };
        Recorder = new(clock: () => simulation.Now.Ticks * 100);
    }

    /// <summary>Every call of the members and their clients.</summary>
    public CallLedger Calls { get; }

    public HistoryRecorder Recorder { get; }

    public Simulation Simulation => _cluster.Simulation;

    public IReadOnlyList<SimMember> Members => _cluster.Members;

    public List<HistoryClient> Clients { get; } = [];

    /// <summary>Joins that ended with a typed error.</summary>
    public int Refused { get; private set; }

    /// <summary>Whether a shard or the primary partition was lost to the faults: then there is no final state to compare.</summary>
    public bool Lost { get; private set; }

    private bool IsDepopulated => _dhts.Values.Any(static dht => CauseOf(dht.Completion) is ShardDepopulatedException);

    /// <summary>Whether the faults may have living members excluded.</summary>
    public bool MayExclude { get; init; }

    /// <summary>The run, if its members rest for minutes at the end; null for a short rest.</summary>
    public ScenarioRun? RestsIn { get; init; }

    /// <summary>The options that each node is started with.</summary>
    public IdaNodeOptions NodeOptions { get; init; } = new();

    /// <summary>A rule that all nodes do without.</summary>
    public string? Without { get; init; }

    /// <summary>Called with each node as soon as it is registered.</summary>
    public Action<SimMember>? Started { get; init; }

    public Dht this[int member] => _dhts[Members[member]];

    /// <summary>The view of some living member; null when there is none.</summary>
    public View? View() => _groups.FirstOrDefault(static pair => pair.Key.Host.Alive && !pair.Value.Completion.IsCompleted).Value?.CurrentView;

    public Group GroupOf(int member) => _groups[Members[member]];

    /// <summary>Starts members, enables the DHT at all of them, runs <paramref name="body"/> beside one client each, then judges.
    /// With <paramref name="voters"/>, that many nodes are started first, for the Oracle only.</summary>
    public CheckReport Run(int members, Func<Task> body, int voters = 0)
    {
        Simulation.RunAsync(async () =>
        {
            for (int i = 0; i < voters; i++) await StartAsync();
            var enabling = new List<Task>();
            for (int i = 0; i < members; i++) enabling.Add(await AddAsync());
            await Task.WhenAll(enabling);
            var running = StartClients();
            await body();
            _stop = true;
            Simulation.Network.Heal();
            await Task.WhenAll(running);
            // A write that was handed over once is not handed over again, so this list is complete.
            await Task.WhenAll(_resolving);
            await SettleAsync();
            // Where everything is lost nobody founds the DHT anew, and members that join wait.
            Calls.Finish(onlyOver: Lost);
        }, Limit);
        ScenarioFailedException.ThrowIf(Calls.Wrong);
        var history = Recorder.ToHistory();
        var report = StrictSerializabilityChecker.Check(history);
        if (report.Passed) ScenarioFailedException.ThrowIf(_seen.Wrong(history, who => Serving().Any(pair => pair.Key.ToString() == who)));
        return report;
    }

    /// <summary>Starts one more member; the inner task ends when the member has its part of the DHT.</summary>
    public async Task<Task> AddAsync()
    {
        var member = await StartAsync();
        var group = await Begin(CallKind.Join, member, () => member.Node.JoinAsync("shop").AsTask());
        _groups[member] = group;
        return EnableAsync(member, group);
    }

    private async Task<SimMember> StartAsync()
    {
        var member = await _cluster.StartAsync(Calls, NodeOptions, Without);
        Started?.Invoke(member);
        return member;
    }

    /// <summary>Notes that a member gives up its part in the DHT, or more than that, of its own will.</summary>
    public void NoteLeaving(int member) => _leaving.Add(Members[member]);

    /// <summary>Adds one more member as soon as the faults let it in; none if the primary partition has gone.</summary>
    public void Join() => _joining.Add(Simulation.Spawn(async () =>
    {
        try
        {
            await await AddAsync();
        }
        catch (Exception error) when (error is ClusterUnreachableException or ExcludedException or NotMemberException or DhtException or JoinRefusedException)
        {
            Refused++;
        }
        catch (JoinTimeoutException) when (_cluster.Members.All(member => !member.Host.Alive || member.Node.State != MembershipState.Active))
        {
            Refused++;
        }
    }));

    private async Task EnableAsync(SimMember member, Group group)
    {
        var dht = _dhts[member] = await Begin(CallKind.Enable, member, () => group.EnableDhtAsync(_options, OwnKeys.Declare).AsTask(), _options.Member.EnableTimeout);
        _held.Watch(member.ToString(), () => HeldShard.Of(dht.Layer));
    }

    private T Begin<T>(CallKind kind, SimMember member, Func<T> call, TimeSpan? bound = null) where T : Task =>
        Calls.Begin(kind, member.ToString(), call, member.Host, bound, mayBeOver: () => IsOver(member));

    /// <summary>Whether some part of the member is over or being given up, as far as its program can see.</summary>
    private bool IsOver(SimMember member) => _leaving.Contains(member) || member.Node is { Completion.IsCompleted: true }
        || (_groups.TryGetValue(member, out var group) && group.Completion.IsCompleted) || (_dhts.TryGetValue(member, out var dht) && dht.Completion.IsCompleted);

    private List<Task> StartClients()
    {
        var running = new List<Task>();
        foreach (var (member, dht) in _dhts)
        {
            var client = new HistoryClient($"c{Clients.Count}", member.ToString(), dht, Recorder, Simulation.Random.Fork(), _workload) { HandOver = write => HandOver(member, write), Caller = member.Host, IsLeaving = () => IsOver(member) };
            Clients.Add(client);
            _clients.Add((member, client));
            running.Add(Simulation.Spawn(() => Lives(member, client.RunAsync(() => _stop))));
        }
        return running;
    }

    /// <summary>Asks for a put of unknown outcome at another living member; false if there is none.</summary>
    private bool HandOver(SimMember from, HistoryWrite write)
    {
        var others = _clients.FindAll(one => one.Member != from && one.Member.Host.Alive && !_dhts[one.Member].Completion.IsCompleted);
        if (others.Count == 0) return false;
        var (member, client) = others[Simulation.Random.Next(others.Count)];
        _resolving.Add(Simulation.Spawn(() => Lives(member, client.ResolveAsync(write))));
        return true;
    }

    /// <summary>
    /// Asks random members what they hold and what they know, until the run ends. A member that lives on must answer within a minute, if only with an error.
    /// </summary>
    public Task AskAsync(Action<string> asked) => Simulation.Spawn(async () =>
    {
        while (!_stop)
        {
            await Simulation.Delay(TimeSpan.FromMilliseconds(50 + Simulation.Random.Next(500)));
            var (member, dht) = _dhts.ElementAt(Simulation.Random.Next(_dhts.Count));
            if (!member.Host.Alive) continue;
            bool snapshot = Simulation.Random.Next(2) == 0;
            asked(snapshot ? ClusterScenarios.Snapshot : ClusterScenarios.Status);
            long at = Recorder.Now();
            Task answer = snapshot ? Begin(CallKind.Snapshot, member, () => dht.SnapshotAsync()) : Begin(CallKind.Status, member, () => dht.StatusAsync());
            for (int waited = 0; !answer.IsCompleted && member.Host.Alive; waited++)
            {
                if (waited > 600) throw new ScenarioFailedException($"{member} has not answered for a minute what it {(snapshot ? "holds" : "knows")}.");
                await Simulation.Delay(TimeSpan.FromMilliseconds(100));
            }
            if (answer.Exception?.InnerException is { } error and not (DhtException or NodeStoppedException)) throw error;
            if (answer is Task<LocalSlice> { IsCompletedSuccessfully: true } held) _seen.Add(member.ToString(), at, dht, held.Result);
            if (answer is Task<DhtStatus> { IsCompletedSuccessfully: true } known) ScenarioFailedException.ThrowIf(_seen.Differs(member.ToString(), _groups[member].CurrentView.Group, known.Result));
        }
    });

    /// <summary>
    /// Asks random members for a description of their node, until the run ends; some calls are cancelled. A member must answer while it lives, and also after it has ended in
    /// order; after a crash no answer is demanded.
    /// </summary>
    public Task DescribeSomeAsync(Action<string> asked) => Simulation.Spawn(async () =>
    {
        // Its own random numbers, so that what others draw does not depend on these calls.
        var random = new Prng(Simulation.Options.Seed ^ 0xDE5C);
        while (!_stop)
        {
            await Simulation.Delay(TimeSpan.FromMilliseconds(50 + random.Next(500)));
            var member = _dhts.Keys.ElementAt(random.Next(_dhts.Count));
            if (member.Host.Life == CallerLife.Lost) continue;
            asked(ClusterScenarios.Described);
            bool wasOver = member.Node.Completion.IsCompleted;
            using var source = new CancellationTokenSource(random.Next(4) == 0 ? TimeSpan.FromMicroseconds(random.Next(1, 2_000)) : s_described, Simulation.TimeProvider);
            var answer = Calls.Begin(CallKind.Describe, member.ToString(), () => member.Node.DescribeAsync(source.Token).AsTask(), member.Host, s_described, token: source.Token);
            while (!answer.IsCompleted && member.Host.Life != CallerLife.Lost) await Simulation.Delay(TimeSpan.FromMilliseconds(1));
            if (answer.IsCompletedSuccessfully) ScenarioFailedException.ThrowIf(NodeText.Wrong(member.Node, wasOver, answer.Result));
        }
    });

    /// <summary>
    /// Makes a turn of a member throw. The node and its parts must end with the cause, every open call must end, and later calls must be refused. Nothing is demanded if the
    /// member ends in another way first.
    /// </summary>
    public Task FaultAsync(SimMember member, TurnPlace place, Exception fault) => Simulation.Spawn(async () =>
    {
        if (!member.Host.Alive || !_dhts.TryGetValue(member, out var dht)) return;
        var group = _groups[member];
        _faulted.Add(member);
        Task[] waiting = [Begin(CallKind.Status, member, () => dht.StatusAsync()), Begin(CallKind.Snapshot, member, () => dht.SnapshotAsync()), Begin(CallKind.Flush, member, () => group.FlushAsync().AsTask()), Begin(CallKind.Describe, member, () => member.Node.DescribeAsync().AsTask())];
        member.Host.FaultInTurn(place, fault);
        while (member.Host.Alive) await Simulation.Delay(TimeSpan.FromMilliseconds(1));
        if (member.Node.State != MembershipState.Faulted) return;
        // Callers hear of an end through a completion that another completion posts.
        await Simulation.Delay(TimeSpan.FromMilliseconds(1) + (2 * Simulation.Options.MaxCompletionDelay));
        foreach (var ended in (ReadOnlySpan<Task>)[member.Node.Completion, group.Completion, dht.Completion])
            if (CauseOf(ended) is not NodeFaultedException { InnerException: { } cause } || cause != fault) throw new ScenarioFailedException($"{member} faulted, and a part of it ended with {CauseOf(ended)}.");
        foreach (var call in waiting)
        {
            if (!call.IsCompleted) throw new ScenarioFailedException($"{member} faulted, and a call at it has not ended.");
            if (CauseOf(call) is { } error and not (DhtException or NodeFaultedException or NotMemberException)) throw error;
        }
        foreach (var (kind, resent) in new (CallKind, Func<Task>)[] { (CallKind.Flush, () => group.FlushAsync().AsTask()), (CallKind.Snapshot, () => dht.SnapshotAsync()) })
        {
            try
            {
                await Begin(kind, member, resent);
                throw new ScenarioFailedException($"{member} faulted, and takes calls.");
            }
            catch (Exception error) when (error is NodeStoppedException or DhtException)
            {
                // As it should.
            }
        }
    });

    private static Exception? CauseOf(Task task) => task.Exception?.InnerException;

    // Calls at a crashed node are never answered; a node that a fault ended answers all of them.
    private async Task Lives(SimMember member, Task client)
    {
        while (!client.IsCompleted && member.Host.Alive) await Simulation.Delay(TimeSpan.FromMilliseconds(10));
        for (int waited = 0; !client.IsCompleted && _faulted.Contains(member) && member.Node.State == MembershipState.Faulted; waited++)
        {
            if (waited > 100) throw new ScenarioFailedException($"{member} faulted, and a call of its client has not ended.");
            await Simulation.Delay(TimeSpan.FromMilliseconds(10));
        }
        if (client.IsCompleted) await client;
    }

    /// <summary>
    /// The faults are over: all members that are left must come to rest, serve, and hold the same. If none is left (<see cref="Lost"/>), only the ends of the members' parts are
    /// judged.
    /// </summary>
    private async Task SettleAsync()
    {
        // A member that lost contact is back, or has given up its membership, within the exclusion time-out.
        bool settled = false;
        for (int round = 0; round < 1_000 && !settled; round++)
        {
            await Simulation.Delay(TimeSpan.FromMilliseconds(100));
            // A member that enables a DHT which others were told is lost waits for more members to found a new one.
            settled = (IsDepopulated || _joining.TrueForAll(static joining => joining.IsCompleted)) && Serving().All(pair => pair.Key.Node.State == MembershipState.Active) && await AllInitialisedAsync();
        }
        await JudgeEndsAsync();
        if (!settled) throw new ScenarioFailedException($"The faults are long over, and not all are active and initialised, or have joined.\n{await DescribeAsync()}");
        Lost = !Serving().Any();
        if (Lost) return;
        foreach (var (member, dht) in Serving().ToList()) await ServeAsync(member, dht, "at rest");
        if (RestsIn is { } run)
        {
            await Leftovers.RestLongAsync(Simulation, settled: true);
            await Leftovers.JudgeAsync(Serving().Select(static pair => pair.Key), run);
            // What nobody has used for minutes must still work.
            foreach (var (member, dht) in Serving().ToList()) await ServeAsync(member, dht, "after a long rest");
        }
        await Simulation.Delay(TimeSpan.FromSeconds(2));
        foreach (var (member, dht) in Serving()) ScenarioFailedException.ThrowIf(Leftovers.Of(member) ?? Leftovers.Of(member, dht));
        foreach (var (member, dht) in Serving())
            if (!await FinalStateReader.RecordAsync(member.ToString(), dht, Recorder, snapshot => Begin(CallKind.Snapshot, member, snapshot))) throw new ScenarioFailedException($"{member} was initialised, and is not any more.\n{await DescribeAsync()}");
    }

    /// <summary>
    /// No member's part may be over without a reason; members that left or are not active are exempt. The whole may be lost only if enough processes died or left; this is not judged
    /// where living members may have been excluded (<see cref="MayExclude"/>).
    /// </summary>
    private async Task JudgeEndsAsync()
    {
        foreach (var (member, dht) in _dhts)
        {
            if (!member.Host.Alive || member.Node.State != MembershipState.Active || _leaving.Contains(member)) continue;
            if (dht.Completion.IsCompleted && CauseOf(dht.Completion) is not ShardDepopulatedException)
                throw new ScenarioFailedException($"{member} is in the cluster, and its part in the DHT is over: {CauseOf(dht.Completion)}, its group: {CauseOf(_groups[member].Completion)}");
            if (IsDepopulated && !dht.Completion.IsCompleted) throw new ScenarioFailedException($"{member} serves in a DHT of which others were told that it lost a shard.");
        }
        if (Serving().Any() || MayExclude) return;
        // A member that was about to start has no node yet.
        int died = Members.Count(static member => !member.Host.Alive && member.Node?.State is not (MembershipState.Excluded or MembershipState.Stopped));
        // Of three voters, two must die to cost the majority. A shard may have had a single initialised member, while the others did not have its state yet.
        if (died + _leaving.Count < (IsDepopulated ? 1 : 2)) throw new ScenarioFailedException($"All is lost, though no more than {died} processes died.\n{await DescribeAsync()}");
    }

    /// <summary>A member at rest must execute all operations that it is asked for.</summary>
    private async Task ServeAsync(SimMember member, Dht dht, string when)
    {
        int calls = 0;
        var client = new HistoryClient($"{member} {when}", member.ToString(), dht, Recorder, Simulation.Random.Fork(), new() { Calls = Calls, Versions = _workload.Versions, Level = _workload.Level, Timeout = LastTimeout, Pause = TimeSpan.FromMilliseconds(1), Time = Simulation.TimeProvider }) { Caller = member.Host };
        await client.RunAsync(() => calls++ >= LastOperations);
        if (client.Succeeded < LastOperations) throw new ScenarioFailedException($"{client.Succeeded} of {LastOperations} operations of {member} succeeded {when}.\n{await DescribeAsync()}");
        await OwnKeys.JudgeAsync(Calls, member, dht);
    }

    private async Task<string> DescribeAsync()
    {
        var text = new System.Text.StringBuilder();
        foreach (var member in Members)
        {
            text.Append(CultureInfo.InvariantCulture, $"{member}: alive {member.Host.Alive}, {member.Node?.State} {(member.Node is { } node ? CauseOf(node.Completion)?.Message : "")}");
            if (_groups.TryGetValue(member, out var group)) text.Append(CultureInfo.InvariantCulture, $", group {group.Completion.Status} {group.Protocol}");
            if (_dhts.TryGetValue(member, out var dht)) text.Append(CultureInfo.InvariantCulture, $", dht {dht.Completion.Status} {CauseOf(dht.Completion)?.Message}");
            if (dht is not null && Serving().Any(pair => pair.Key == member))
            {
                var status = await StatusAsync(member, dht);
                text.Append(CultureInfo.InvariantCulture, $", view {status.View} slot {status.OwnSlot} initialised {status.IsInitialised}");
            }
            text.AppendLine();
        }
        return text.ToString();
    }

    private Task<DhtStatus> StatusAsync(SimMember member, Dht dht) => Begin(CallKind.Status, member, () => dht.StatusAsync());

    private IEnumerable<KeyValuePair<SimMember, Dht>> Serving() =>
        _dhts.Where(pair => pair.Key.Host.Alive && !pair.Value.Completion.IsCompleted && !pair.Key.Node.Completion.IsCompleted);

    private async Task<bool> AllInitialisedAsync()
    {
        foreach (var (member, dht) in Serving())
        {
            try
            {
                var status = await StatusAsync(member, dht);
                if (status.OwnSlot >= 0 && !status.IsInitialised) return false;
            }
            catch (DhtException)
            {
                // Its part has ended since the list was made.
            }
        }
        return true;
    }
}
