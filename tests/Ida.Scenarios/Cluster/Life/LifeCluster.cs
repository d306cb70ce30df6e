using System.Globalization;
using GroupCore.Membership;
using Ida.Testing;
using Ida.Testing.Calls;
using Ida.Testing.Checking;
using Ida.Testing.Workload;

namespace Ida.Scenarios;

/// <summary>
/// Whole nodes from their start on, under faults as long as in life, with programs that are restarted. Each DHT that ever existed is judged on its own, and at the end all
/// programs must serve again; what comes later is demanded of all but one or two that bad luck with sockets has ended. If one process alone had all the faults, and they began when all served, the first DHT must not be lost.
/// </summary>
internal sealed class LifeCluster
{
    private const int LastOperations = 5;
    private const double RestsLong = 0.25;
    private static readonly TimeSpan s_limit = TimeSpan.FromMinutes(60), s_look = TimeSpan.FromMilliseconds(500), s_convergence = TimeSpan.FromMinutes(5), s_lastTimeout = TimeSpan.FromSeconds(5);
    private readonly ScenarioRun _run;
    private readonly LifePlan _plan;
    private readonly List<LifeProgram> _programs = [];
    private readonly Dictionary<LifeKey, LifeHistory> _histories = [];
    private TimeSpan _began = TimeSpan.MaxValue;

    public LifeCluster(ScenarioRun run)
    {
        (_run, Nodes, _plan) = (run, new(ThreadNames.Start(run, SmallRoom.Draw(run))), new(run));
        Length = _plan.Faults.End + TimeSpan.FromSeconds(1);
        Calls = Simulation.KeepCalls(CallLedger.Longest);
        Simulation.AddInvariant("held shards", () => Without is null ? Held.Look() : null);
        Workload = new()
        {
            Calls = Calls,
            Timeout = TimeSpan.FromSeconds(20), Removes = 0.2, Conditions = 0.2, Batches = 0.15, Cancelled = 0.05, Hurried = 0.05, Retries = 4, LargestValue = 20_000,
            Pause = Length / 700, Time = Simulation.TimeProvider,
        };
    }

    public static DhtOptions Options { get; } = new() { ShardSize = 2, TargetSize = 4, Member = new() { EnableTimeout = TimeSpan.FromSeconds(30) } };

    public SimCluster Nodes { get; }

    public Simulation Simulation => Nodes.Simulation;

    public string? Without => _run.Without;

    /// <summary>Every call of the programs and their clients.</summary>
    public CallLedger Calls { get; }

    public HistoryWorkload Workload { get; }

    /// <summary>Judges reports that a shard is lost.</summary>
    public HeldShards Held { get; } = new();

    /// <summary>How long the faults take.</summary>
    public TimeSpan Length { get; }

    /// <summary>Faults happen now, and some programs leave.</summary>
    public bool IsTroubled { get; private set; }

    /// <summary>No program calls any more.</summary>
    public bool IsOver { get; private set; }

    public List<Task> Resolving { get; } = [];

    public void Draw(string name) => _run.Ingredients.Draw(name);

    public bool IsDown(int process) => process < LifePlan.Processes && Simulation.Now >= _began && _plan.IsDown(process, Simulation.Now - _began);

    /// <summary>Whether a program may leave. Where nothing may be lost, only the process that has the faults may.</summary>
    public bool MayLeave(int process) => _plan.Leaves && process < LifePlan.Processes && (!_plan.IsOfOne || process == _plan.Victim);

    /// <summary>
    /// Whether a program may give up calls. A process that gives up while the DHT is founded may be the only one of its shard, so where nothing may be lost it must not.
    /// </summary>
    public bool MayGiveUp(int process) => MayLeave(process) && (!_plan.IsOfOne || IsTroubled);

    /// <summary>The time until the next fault of a process, once there are faults; null when no more are to come.</summary>
    public TimeSpan? UntilFault(int process) => _plan.NextFault(process, Simulation.Now - _began) is { } next ? next - (Simulation.Now - _began) : null;

    public LifeHistory HistoryOf(LifeKey key)
    {
        if (_histories.TryGetValue(key, out var history)) return history;
        if (_histories.Count == 1) Draw(LifeNames.Rejoined);
        _histories.Add(key, history = new(Simulation));
        return history;
    }

    public void Run()
    {
        try
        {
            Simulation.RunAsync(RunAsync, s_limit);
        }
        finally
        {
            // What calls met in a failed run counts, too.
            Calls.AddTo(_run.Calls);
        }
        ScenarioFailedException.ThrowIf(Calls.Wrong);
        Judge();
    }

    private async Task RunAsync()
    {
        var running = new List<Task>();
        for (int i = 0; i < LifePlan.Processes; i++) running.Add(Begin(i));
        if (!_plan.IsEarly) await UntilAsync("All serve at first");
        (_began, IsTroubled) = (Simulation.Now, true);
        var stranger = _run.BeginStranger(() => _programs.Find(static one => one.IsServing)?.Group!.CurrentView);
        // Noted before the fault itself: a crash takes the open calls with it, and they must be seen to have met it.
        foreach (var fault in _plan.Faults.Faults)
        {
            foreach (int hit in fault.Node >= 0 ? [fault.Node] : fault.Side) Simulation.After(fault.At, () => Draw(LifeNames.Of(_programs[hit].Stage)));
            Simulation.After(fault.At, () => Calls.Meet(CallTable.Of(fault.Kind)));
        }
        _plan.Faults.Inject(Simulation, null, fault =>
        {
            Draw(LifeNames.Of(fault.Kind));
            Draw(LifeNames.Of(fault.For));
        });
        await Simulation.Delay(Length * Simulation.Random.NextDouble());
        running.Add(Begin(LifePlan.Processes));
        await Simulation.Delay(Length - (Simulation.Now - _began));
        IsTroubled = false;
        stranger?.Crash();
        await UntilAsync("The faults are long over, and all serve");
        IsOver = true;
        await Task.WhenAll(running);
        await Task.WhenAll(Resolving);
        await RestAsync();
        Calls.Finish();
    }

    private Task Begin(int number)
    {
        var program = new LifeProgram(this, number);
        _programs.Add(program);
        return Simulation.Spawn(program.RunAsync);
    }

    private async Task UntilAsync(string what)
    {
        for (var end = Simulation.Now + s_convergence; !await AllServeAsync(); await Simulation.Delay(s_look))
            if (Simulation.Now > end) throw new ScenarioFailedException($"{what}: not so after {s_convergence}.\n{Describe()}");
    }

    /// <summary>Whether two programs serve in the same DHT, as programs in one view must: what one has stored the other finds.</summary>
    public static bool AreOfOneDht(LifeHistory? one, LifeHistory? other) => one is not null && one == other;

    // A program that was excluded while it was held up still believes that it serves: in a view that no longer exists, or alone in a system that all others have left.
    private bool AllServe() => _programs.TrueForAll(one => one.IsServing && IsViewOfLiving(one) && _programs.TrueForAll(other => other.Member.Node?.System != one.Member.Node.System || (AreInOneView(one, other) && AreOfOneDht(one.History, other.History))));

    private bool IsViewOfLiving(LifeProgram one) => one.Group?.CurrentView is { } view && view.Members.All(member => _programs.Exists(other => other.Member.Node?.Id == member.Id));

    private static bool AreInOneView(LifeProgram one, LifeProgram other) =>
        one.Group?.CurrentView is { } view && other.Group?.CurrentView is { } another && (view.Group, view.Id) == (another.Group, another.Id);

    private async Task<bool> AllServeAsync()
    {
        if (!AllServe()) return false;
        foreach (var one in _programs)
        {
            try
            {
                var status = await one.StatusAsync();
                if (status.OwnSlot >= 0 && !status.IsInitialised) return false;
            }
            catch (DhtException)
            {
                return false;
            }
        }
        return AllServe();
    }

    /// <summary>All programs must serve; after that, all but those that <see cref="Living"/> excuses must go on to, and hold the same.</summary>
    private async Task RestAsync()
    {
        foreach (var one in _programs) await ServeAsync(one, "at rest");
        if (Simulation.Random.NextDouble() < RestsLong)
        {
            await Leftovers.RestLongAsync(Simulation, settled: true);
            await Leftovers.JudgeAsync(Living().Select(static one => one.Member), _run);
            // What nobody has used for minutes must still work.
            foreach (var one in Living()) await ServeAsync(one, "after a long rest");
        }
        await Simulation.Delay(TimeSpan.FromSeconds(2));
        var living = Living();
        if (living.Count < _programs.Count) Draw(LifeNames.EndedAtRest);
        foreach (var one in living) ScenarioFailedException.ThrowIf(Leftovers.Of(one.Member) ?? Leftovers.Of(one.Member, one.Dht!));
        foreach (var one in living)
            if (!await FinalStateReader.RecordAsync(one.Member.ToString(), one.Dht!, one.History!.Recorder, one.SnapshotAsync)) throw new ScenarioFailedException($"{one.Member} was initialised, and is not any more.\n{Describe()}");
    }

    // Those that have not ended at rest, where no program starts again.
    private List<LifeProgram> Living()
    {
        var living = _programs.FindAll(static one => one.Member.Host.Alive && one.Member.Node?.State != MembershipState.Excluded);
        int excluded = _programs.Count(static one => one.Member.Node?.State == MembershipState.Excluded);
        if (RestLosses.Wrong(_programs.Count - living.Count, excluded, Leftovers.MayLoseAny(Simulation)) is { } wrong) throw new ScenarioFailedException($"{wrong}\n{Describe()}");
        return living;
    }

    private async Task ServeAsync(LifeProgram one, string when)
    {
        int calls = 0;
        var client = new HistoryClient($"p{one.Number} {when}", one.Member.ToString(), one.Dht!, one.History!.Recorder, Simulation.Random.Fork(),
            Workload with { Timeout = s_lastTimeout, Pause = TimeSpan.FromMilliseconds(1), Cancelled = 0, Hurried = 0, Retries = 0, Versions = one.History.Versions }) { Caller = one.Member.Host };
        await client.RunAsync(() => calls++ >= LastOperations);
        if (client.Succeeded < LastOperations) throw new ScenarioFailedException($"{client.Succeeded} of {LastOperations} operations of {one.Member} succeeded {when}.\n{Describe()}");
        await OwnKeys.JudgeAsync(Calls, one.Member, one.Dht!);
    }

    private void Judge()
    {
        foreach (var history in _histories.Values)
        {
            _run.History = history.Recorder.ToHistory();
            StrictSerializabilityChecker.Check(_run.History).ThrowIfFailed();
        }
        (_run.Lost, _run.Work) = (_histories.Count > 1, _histories.Values.Sum(static history => history.Succeeded));
        if (_plan.IsOfOne && !_plan.IsEarly && _run.Lost && IsFirstLost()) throw new ScenarioFailedException($"The DHT was lost, though only one process had faults.\n{Describe()}");
    }

    // A program that starts while it is cut off may found a second system, and a second DHT there with others that come. That alone does not mean that the first DHT was lost.
    private bool IsFirstLost()
    {
        var (key, history) = _histories.First();
        return _histories.Keys.Count(one => one.System == key.System) > 1 || !_programs.Exists(one => one.Member.Host.Alive && one.History == history);
    }

    private string Describe() => string.Join('\n', _programs.Select(one => string.Create(CultureInfo.InvariantCulture,
        $"{one.Number} {one.Stage}: {one.Member} alive {one.Member.Host.Alive}, {one.Member.Node?.State} {one.Member.Node?.Completion.Exception?.InnerException?.Message}, system {one.Member.Node?.System}, group {one.Group?.CurrentView} {one.Group?.Completion.Status}, dht {one.Dht?.Layer.Incarnation} {one.Dht?.Completion.Status}")));
}
