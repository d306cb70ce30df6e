using GroupCore.Runtime;
using Ida.Testing;
using Ida.Testing.Calls;
using Ida.Testing.Workload;

namespace Ida.Scenarios;

/// <summary>Schedules of whole nodes: Oracle, groups and DHT together.</summary>
internal static class ClusterScenarios
{
    private static readonly TimeSpan s_lease = new Oracle.OracleOptions().LeaseDuration;

    // A node held up for less than this is not suspected (failure-detection.md#rounds-of-probes). The schedule of pauses uses half a second, too.
    private static readonly TimeSpan s_harmless = TimeSpan.FromMilliseconds(500);
    private static readonly FaultPlan s_plan = new() { Nodes = 6, MaxFaults = 5, MaxDown = 1, Within = TimeSpan.FromSeconds(4), MaxDuration = TimeSpan.FromSeconds(2) };

    /// <summary>Groups under the real Oracle, judged by the checkers of G1-G9 and G12-G14 (B1).</summary>
    public static Scenario Groups { get; } = new("cluster-groups", run => new WatchedGroup(run).Run(s_plan with { Within = TimeSpan.FromSeconds(3) })) { Ingredients = [Leftovers.Judged, .. ThreadNames.Declared] };

    /// <summary>
    /// The same with faults as long as in life, so that a member that is cut off gives itself up. Members call all the while: the same checkers judge what such a member sends,
    /// and what its handlers are called for.
    /// </summary>
    public static Scenario GroupsLasting { get; } = new("cluster-groups-lasting", static run => new WatchedGroup(run).Run(
        s_plan with { MaxFaults = 4, Within = TimeSpan.FromSeconds(10), MinDuration = TimeSpan.FromMilliseconds(100), MaxDuration = TimeSpan.FromSeconds(90), Around = LifePlan.Around, Swarms = true }, TimeSpan.FromSeconds(5)))
    {
        Ingredients = [Leftovers.Judged, .. LifeNames.Lengths, .. ThreadNames.Declared],
    };

    /// <summary>
    /// Clients of a DHT under random faults and a join, judged by the strict-serializability checker (dht-order.md#strict-and-ordered): with removes, batches over
    /// maps, cancellations, timeouts that expire, and retries by id at the same and at another member. In a quarter of the seeds faults last
    /// longer than suspicion, lease and isolation, so that living members are excluded.
    /// </summary>
    /// <remarks>In another quarter a turn of one member throws. In one seed of ten the members rest for minutes at the end.</remarks>
    public static Scenario History { get; } = new("cluster-history", run =>
    {
        var simulation = ThreadNames.Start(run, SmallRoom.Draw(run));
        // Not the remainder of the seed itself: in a campaign of several scenarios, all seeds of one scenario have the same remainder.
        ulong kind = (run.Case.Seed * 0x9E37_79B9_7F4A_7C15) >> 62;
        bool lasting = kind == 3, throws = kind == 1, rests = new Prng(run.Case.Seed * 0xC2B2_AE3D_27D4_EB4F).Chance(0.1);
        var faults = run.Case.Faults(throws ? s_plan with { MaxFaults = 2 } : lasting ? s_plan with { MaxFaults = 3, MinDuration = TimeSpan.FromSeconds(2), MaxDuration = TimeSpan.FromSeconds(12) } : s_plan);
        var workload = new HistoryWorkload
        {
            Timeout = TimeSpan.FromSeconds(20), Removes = 0.2, Conditions = 0.2, Batches = 0.15, Cancelled = 0.05, Hurried = 0.05, Retries = 4, LargestValue = 100_000, LargestWrite = 200_000,
            Pause = TimeSpan.FromMilliseconds(lasting ? 20 : 5), Time = simulation.TimeProvider, Drew = run.Ingredients.Draw,
        };
        var dht = new DhtCluster(simulation, workload) { Without = run.Without, MayExclude = faults.Faults.Any(MayExclude), RestsIn = rests ? run : null, NodeOptions = Unruly.Log(new(), run.Case.Seed, run.Ingredients) };
        var report = dht.Run(6, async () =>
        {
            var stranger = run.BeginStranger(dht.View);
            // Noted before the fault itself: a crash takes the open calls with it, and they must be seen to have met it.
            foreach (var fault in faults.Faults) simulation.After(fault.At, () => dht.Calls.Meet(CallTable.Of(fault.Kind)));
            faults.Inject(simulation, null, fault =>
            {
                run.Ingredients.Draw(FaultName(fault.Kind));
                if (MayExclude(fault) && fault.For > s_lease) run.Ingredients.Draw(Lasting);
            });
            var asking = dht.AskAsync(run.Ingredients.Draw);
            var describing = dht.DescribeSomeAsync(run.Ingredients.Draw);
            var throwing = throws ? ThrowAsync(run, dht) : Task.CompletedTask;
            await simulation.Delay(TimeSpan.FromSeconds(2));
            dht.Join();
            await simulation.Delay(TimeSpan.FromSeconds(lasting ? 15 : 5));
            if (asking.IsFaulted) await asking;
            if (describing.IsFaulted) await describing;
            await throwing;
            stranger?.Crash();
        });
        run.History = dht.Recorder.ToHistory();
        (run.Lost, run.Work) = (dht.Lost, dht.Clients.Sum(client => client.Succeeded));
        report.ThrowIfFailed();
        run.Note(dht.Calls);
    })
    {
        MostLost = 0.05,
        Ingredients =
        [
            "remove", "put on a condition", "condition that is met", "condition that is not met", "batch over both maps", "cancelled before the call", "cancelled during the call", "timeout of some milliseconds", "value with a filling", "value near the limit",
            "retry by id at the same member", "retry by id at another member", Snapshot, Status, Described, Unruly.Loggers, SmallRoom.Name, Lasting, Leftovers.Judged, .. Enum.GetValues<TurnPlace>().Select(FaultName), .. Enum.GetValues<FaultKind>().Select(FaultName), .. ThreadNames.Declared,
        ],
    };

    /// <summary>Whole lives: faults from the start, as long as they are in life, and programs that are restarted.</summary>
    public static Scenario Lives { get; } = new("cluster-lives", static run => new LifeCluster(run).Run()) { Ingredients = LifeNames.Declared, MostLost = 0.3 };

    /// <summary>The same over the mesh, where bad luck with dials may exclude a program at rest: in one seed of a hundred at most.</summary>
    public static Scenario LivesOverMesh { get; } = Lives.OverMesh() with { Seldom = new Dictionary<string, double> { [LifeNames.EndedAtRest] = 0.01 } };

    /// <summary>Groups, and then the history, over the TCP mesh.</summary>
    public static Scenario GroupsOverMesh { get; } = Groups.OverMesh() with { LeastBuffer = 1 << 10 };

    public static Scenario HistoryOverMesh { get; } = History.OverMesh();

    /// <summary>Groups, and then the history, with a listener to the activities of their calls that throws.</summary>
    public static Scenario GroupsListened { get; } = Groups.Listened();

    public static Scenario HistoryListened { get; } = History.Listened();

    /// <summary>Whether a fault may get a living node excluded. A clock that is a percent fast or slow does not, and a crashed node is dead.</summary>
    public static bool MayExclude(Fault fault) => fault.Kind is FaultKind.Pause or FaultKind.Cut or FaultKind.Drop or FaultKind.Partition or FaultKind.Slow or FaultKind.Busy && fault.For > s_harmless;

    private static async Task ThrowAsync(ScenarioRun run, DhtCluster dht)
    {
        var random = dht.Simulation.Random.Fork();
        await dht.Simulation.Delay(TimeSpan.FromMilliseconds(random.Next(4_000)));
        var place = (TurnPlace)random.Next(Enum.GetValues<TurnPlace>().Length);
        var member = dht.Members[random.Next(dht.Members.Count)];
        if (!run.Case.Happens($"{FaultName(place)} at {member}")) return;
        run.Ingredients.Draw(FaultName(place));
        await dht.FaultAsync(member, place, new InvalidDataException("on purpose"));
    }

    internal const string Snapshot = "snapshot under faults", Status = "status under faults", Described = "node described under faults";

    private const string Lasting = "fault longer than lease and suspicion";

    private static string FaultName(FaultKind kind) => $"fault: {kind}";

    private static string FaultName(TurnPlace place) => $"turn throws: {place}";
}
