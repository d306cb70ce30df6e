using GroupCore.Membership;
using GroupCore.Runtime;
using Ida.Testing;
using Oracle;
using Oracle.Frames;

namespace Ida.Scenarios;

/// <summary>
/// Judges how soon the others are rid of a process that is stopped (SIGSTOP: it falls silent, its host and its connections stay), and that no process is
/// excluded that was only held up, for less than half a second at a time. There are 2 to 9 processes on a calm network, beside busy ones, or on a machine that
/// stands still at times. In two of three seeds a process is stopped, for 3 s or for ever; the others may all have been held up just before. Of two processes the
/// only voter is not stopped: without it the system is over.
/// </summary>
internal sealed class PauseSchedule : IDisposable
{
    public const string Calm = "calm machine", BusyNode = "busy processes", BusyMachine = "busy machine", Stop = "stop for ever", ShortStop = "stop of 3 s", OfLeader = "stop of the leader", OfTwo = "stop of one of two", AfterStall = "stop after the others were held up", View = "view after a stop", AllServe = "all serve after a stop", Answered = "a stranger answers for one that is stopped";
    private static readonly GroupOptions Options = new();
    private static readonly TimeSpan Slice = TimeSpan.FromMilliseconds(5);
    private readonly ScenarioRun _run;
    private readonly Prng _random;
    private readonly string _load;
    private readonly OracleCluster _cluster;
    private readonly Stalls _stalls;

    // Observers that were held up have rounds of up to five times the length, before they say what they saw.
    private readonly TimeSpan _soon;
    private OracleCluster.Process? _stopped;
    private string? _violation;
    private long _looked, _without;
    private bool _atRest;

    public PauseSchedule(ScenarioRun run, OracleOptions membership)
    {
        _run = run;
        _random = new(run.Case.Seed);
        _load = _random.Next(3) switch { 0 => Calm, 1 => BusyNode, _ => BusyMachine };
        run.Ingredients.Draw(_load);
        // Calm means a data centre; otherwise the wait for a processor adds to the latency of the network.
        var link = _load == Calm
            ? new LinkModel()
            : new LinkModel { MaxLatency = TimeSpan.FromMilliseconds(_random.Next(1, 20)), TailChance = 0.05 * _random.NextDouble(), TailLatency = TimeSpan.FromMilliseconds(_random.Next(5, 80)) };
        var simulation = run.Case.Start(new() { Link = link });
        _soon = (5 * membership.ProbeInterval * (membership.ProbeRounds + 1)) + membership.LeaseDuration + TimeSpan.FromSeconds(2);
        _cluster = new(simulation, _random.Chance(0.2) ? 2 : 3 + _random.Next(7), seeds: 1, run.Without, membership);
        _stalls = new(simulation, _random.Fork());
    }

    public static IReadOnlyList<string> Names { get; } = [Calm, BusyNode, BusyMachine, Stop, ShortStop, OfLeader, OfTwo, AfterStall, Answered];

    public static string NameOf(string what, string load) => $"{what}, {load}";

    private TimeSpan Now => _cluster.Simulation.Now;

    /// <summary>Runs it; null when all is well, else what was violated.</summary>
    public string? Run()
    {
        _cluster.OnActive = process => process.Node.Post(() => process.Oracle.Join("g", Options, ""));
        _cluster.StartAll(TimeSpan.FromMilliseconds(300));
        if (!_cluster.RunUntil(() => _cluster.Settled("g"), 30)) return $"start: {_cluster.Describe()}";
        _cluster.Run(1);
        Load();
        bool stops = _random.Chance(2.0 / 3);
        Until(() => false, TimeSpan.FromSeconds(stops ? 2 + _random.NextDouble() : 10));
        if (_looked > 0) _run.Measures.Note(NameOf("without a lease, of each s of each that lives", _load), TimeSpan.FromSeconds(1) * ((double)_without / _looked));
        if (stops && _violation is null) StopOne();
        return _violation ?? (_cluster.Checker.Violations.Count > 0 ? string.Join("; ", _cluster.Checker.Violations.Take(3)) : null);
    }

    public void Dispose() => _cluster.Dispose();

    private void StopOne()
    {
        var members = _cluster.Lives.Where(life => _cluster.Lives.Count > 2 || life.Oracle.Replica is not { Log.IsVoter: true }).ToList();
        var stopped = members[_random.Next(members.Count)];
        bool forEver = _random.Chance(0.7), leads = _cluster.Leader == stopped;
        var (length, after) = (TimeSpan.FromMilliseconds(_random.Next(300, 500)), TimeSpan.FromMilliseconds(_random.Next(3_000)));
        bool stall = _random.Chance(0.3) && _run.Case.Happens($"the others held up at {Now}");
        if (stall)
        {
            _run.Ingredients.Draw(AfterStall);
            foreach (var other in _cluster.Lives)
                if (other != stopped) Hold(other, length);
            Until(() => false, length + after);
            leads = _cluster.Leader == stopped;
            if (_violation is not null) return;
        }
        if (!_run.Case.Happens($"stop {stopped.Node.Name} at {Now}")) return;
        _run.Ingredients.Draw(forEver ? Stop : ShortStop);
        if (_cluster.Lives.Count == 2) _run.Ingredients.Draw(OfTwo);
        if (leads) _run.Ingredients.Draw(OfLeader);
        _stopped = stopped;
        var begun = Now;
        // From its own random numbers, so that the rest of the schedule is as without it.
        if (forEver && new Prng(_run.Case.Seed ^ 0xA45E).Chance(0.3)) AnswerFor(stopped);
        stopped.Node.Pause(forEver ? TimeSpan.FromHours(1) : TimeSpan.FromSeconds(3));
        string whom = leads ? "the leader" : "another";
        bool view = Until(() => Others().Any(IsRid), !forEver ? TimeSpan.FromSeconds(3) : _load == Calm ? _soon : TimeSpan.FromSeconds(30));
        if (!view && !forEver) return;
        if (!view && _load == Calm) _violation ??= $"no view without {stopped.Node.Name} {_soon} after it stopped: {_cluster.Describe()}";
        if (_violation is not null) return;
        if (!view)
        {
            // Observers that hardly run themselves trust nothing that they see. That must end with the load.
            _atRest = true;
            if (!Until(() => Others().Any(IsRid), TimeSpan.FromSeconds(30)))
            {
                _violation ??= $"liveness: nobody has a view without {stopped.Node.Name}: {_cluster.Describe()}";
                return;
            }
        }
        Note(stall ? $"{View}, the others held up before" : View, begun, whom);
        if (!Until(() => Others().Any(Serves), TimeSpan.FromSeconds(30))) _violation ??= $"liveness: nobody serves without {stopped.Node.Name}: {_cluster.Describe()}";
        Note("one serves after a stop", begun, whom);
        // Processes held up just then do not count.
        if (Until(() => Others().Where(other => _stalls.IsFree(other.Node)).All(Serves), TimeSpan.FromSeconds(40)) && !stall) Note(AllServe, begun, whom);
        Until(() => false, TimeSpan.FromSeconds(2));
    }

    /// <summary>A stranger, which is no process of the system, tells all that it reaches the stopped process.</summary>
    private void AnswerFor(OracleCluster.Process stopped)
    {
        if (!_run.Case.Happens($"a stranger answers for {stopped.Node.Name} from {Now}")) return;
        _run.Ingredients.Draw(Answered);
        var stranger = _cluster.Simulation.AddNode("stranger");
        Tell();

        void Tell()
        {
            foreach (var other in Others()) OracleSurface.Say(stranger, other, new IndirectProbeFrame(true, stopped.Node.Id), other.Oracle.System);
            _cluster.Simulation.After(TimeSpan.FromMilliseconds(20), Tell);
        }
    }

    private void Note(string what, TimeSpan begun, string whom)
    {
        if (_violation is not null) return;
        _run.Measures.Note(NameOf(what, _load), Now - begun);
        if (what == View) _run.Measures.Note(NameOf($"{what}, {whom} stopped", _load), Now - begun);
    }

    private IEnumerable<OracleCluster.Process> Others() => _cluster.Lives.Where(life => life != _stopped);

    private bool IsRid(OracleCluster.Process process) => process.Groups.ViewOf("g") is { } view && view.RankOf(_stopped!.Oracle.Self) < 0;

    private bool Serves(OracleCluster.Process process) => IsRid(process) && !process.Groups.IsWedged && HoldsLease(process);

    private static bool HoldsLease(OracleCluster.Process process) => process.Oracle.State == MembershipState.Active && process.Oracle.LeaseUntil > process.Node.Node.Now;

    /// <summary>Runs until the condition holds, and looks at all processes meanwhile.</summary>
    private bool Until(Func<bool> condition, TimeSpan limit)
    {
        for (var end = Now + limit; Now < end && _violation is null && _cluster.Checker.Violations.Count == 0;)
        {
            if (condition()) return true;
            _cluster.Simulation.Run(Slice);
            Look();
        }
        return false;
    }

    private void Look()
    {
        var leader = _cluster.Leader?.Oracle.Replica;
        foreach (var process in Others())
        {
            if (process.Oracle.State == MembershipState.Excluded || leader?.State.IsAlive(process.Oracle.Self) == false)
            {
                _violation = $"{process.Node.Name} was excluded at {Now} though it was held up for less than {Stalls.Longest.TotalMilliseconds} ms at a time";
                return;
            }
            if (_stopped is not null || !_stalls.IsFree(process.Node)) continue;
            _looked++;
            if (!HoldsLease(process)) _without++;
        }
    }

    private void Load()
    {
        if (_load == Calm) return;
        // Some are busy: held up several times a second, mostly briefly.
        foreach (var process in _cluster.Lives)
        {
            process.Node.SlowFactor = _random.Next(1, 200);
            if (_random.Chance(_load == BusyNode ? 0.5 : 0.3)) Repeat(50 + _random.Next(650), () => Hold(process, Length()));
        }
        if (_load == BusyMachine) Repeat(300 + _random.Next(2_700), HoldAll);
    }

    private void HoldAll()
    {
        var time = Length();
        // They do not come back at the same moment.
        foreach (var process in _cluster.Lives) Hold(process, time + TimeSpan.FromMilliseconds(_random.Next(20)));
    }

    private void Hold(OracleCluster.Process process, TimeSpan time)
    {
        if (process != _stopped && !_atRest) _stalls.Stall(process.Node, time);
    }

    private TimeSpan Length() => _random.Next(4) switch
    {
        0 => TimeSpan.FromMilliseconds(_random.Next(300, 500)),
        1 => TimeSpan.FromMilliseconds(_random.Next(50, 300)),
        _ => TimeSpan.FromMilliseconds(_random.Next(1, 50)),
    };

    /// <summary>Does a thing again and again, on average that often.</summary>
    private void Repeat(int everyMilliseconds, Action action) => _cluster.Simulation.After(TimeSpan.FromMilliseconds(1 + _random.Next(2 * everyMilliseconds)), () =>
    {
        action();
        Repeat(everyMilliseconds, action);
    });
}
