using GroupCore.Runtime;
using Ida.Testing;
using Ida.Testing.Calls;
using Ida.Testing.Checking;

namespace Ida.Scenarios;

/// <summary>
/// One random schedule: clients append to few keys and read them, while members crash, are excluded, join, and views change.
/// Deliveries are chosen one by one; some channels are slow. At the end everything is delivered and the history judged.
/// </summary>
internal sealed class DhtSchedule
{
    private static readonly string[] Keys = ["a0", "b0", "a1", "b1"];
    private readonly SimulationCase _run;
    private readonly DhtWorld _world;
    private readonly Prng _random;
    private readonly HistoryRecorder _recorder;
    private readonly List<Client> _clients = [];
    private readonly DhtFaults _faults;
    private readonly OperationId _sessionBase;
    private readonly HistoryLevel _level;
    private readonly LostSights _sights = new(static (member, slice) => slice.Of(member.Dht.Map<string, List<long>>("lists")).Select(static e => (e.Key, e.Value.Version)));
    private readonly int _retries;
    private long _element;
    private ulong _sequence = DhtWorld.Named;

    public DhtSchedule(SimulationCase run, string? without = null, bool calm = false, ConsistencyLevel level = ConsistencyLevel.Strict, bool leaves = false)
    {
        ulong seed = run.Seed;
        (_run, _random, MayNotLose) = (run, new(seed), calm);
        int members = (leaves ? 3 : 4) + _random.Next(3);
        _world = DhtWorld.Founded(members, seed ^ 0x5EED, without, new()
        {
            ShardSize = 2, TargetSize = 4, Hash = new LastByteHash(),
            Member = new()
            {
                Timeout = TimeSpan.FromHours(10), TakeoverAfter = TimeSpan.FromMilliseconds(20),
                Level = level,
            },
        });
        _level = level == ConsistencyLevel.Ordered ? HistoryLevel.Ordered : HistoryLevel.Strict;
        _recorder = new(clock: () => _world.Now);
        Calls = new(() => TimeSpan.FromTicks(_world.Now / 100));
        foreach (var member in _world.Members) member.Skew = _random.Next(3) == 0 ? _random.Next(50_000_000) : 0;
        _faults = new(run, _world, _random) { Blocks = leaves ? new(seed ^ 0xB10C) : null };
        if (!calm) (_faults.Crashes, _faults.Exclusions, _faults.Joins, _faults.Views) = (_random.Next(3), _random.Next(2), _random.Next(2), _random.Next(3));
        if (leaves) (_faults.Leaves, _faults.Joins) = (Math.Min(1 + _random.Next(2), members - 2), _random.Next(2));
        if (!calm) _faults.LostLinks = new Prng(seed ^ 0x71CC).Next(6) == 0 ? 1 : 0;
        _faults.Slowness = _random.Next(4);
        _retries = calm ? 0 : _random.Next(3);
        for (int i = 0; i < 3 + _random.Next(3); i++) _clients.Add(new($"c{i}", 3 + _random.Next(5)));
        _sessionBase = new(_world.Members[_random.Next(members)].Host.Current!.State.Session, 0);
        if (level == ConsistencyLevel.Ordered) (_world.AtSend, _world.AtViewChange) = (_sights.Sent, EndView);
        if (without == nameof(DhtRules.WedgeFreezes)) _world.DuringFlush = () => _faults.DeliverSome(_random.Next(40));
    }

    /// <summary>A shard lost its last initialised member: what comes after that is not judged.</summary>
    public bool Depopulated => _faults.Depopulated;

    /// <summary>Every call of the clients, also those that no longer matter since another call was answered.</summary>
    public CallLedger Calls { get; }

    /// <summary>Nothing may be lost: members go only by leaving, and others can always take over.</summary>
    private bool MayNotLose { get; }

    /// <summary>What was called and answered, as far as it is judged; with final states when the run ended in quiescence.</summary>
    public History History => _sights.Without(_recorder.ToHistory());

    /// <summary>Reads that are not judged, since what they saw was lost with the member that showed it.</summary>
    public int SightsLost => _sights.Count;

    public int Operations { get; private set; }

    public int ViewChanges => _faults.ViewChanges;

    /// <summary>Members that left and had handed over.</summary>
    public int Left => _world.Members.Count(m => m.Left);

    /// <summary>Bytes of state that went to newcomers.</summary>
    public long StateBytes => _world.Members.Sum(m => m.Dht?.Counters.StateBytesSent ?? 0);

    public long Takeovers => _world.Members.Sum(m => m.Dht?.Counters.Takeovers ?? 0);

    public long Fast => _world.Members.Sum(m => m.Dht?.Counters.FastPaths ?? 0);

    public long Slow => _world.Members.Sum(m => m.Dht?.Counters.SlowPaths ?? 0);

    /// <summary>Runs it; null when all is well, else what is wrong.</summary>
    public string? Run()
    {
        try
        {
            for (int step = 0; step < 20_000 && !Depopulated && !_clients.TrueForAll(c => c.Left == 0 && !c.Busy); step++) Step();
            if (!Depopulated) Finish();
            _faults.NoticeDepopulation();
            return Depopulated && MayNotLose ? "The data of a shard were lost, though no member went without handing over." : Judge();
        }
        catch (Exception error) when (error is not OutOfMemoryException)
        {
            return error.ToString();
        }
        finally
        {
            _run.Trace(_world.Deliveries, _world.Trace);
        }
    }

    private void Step()
    {
        int choice = _random.Next(1000);
        if (choice < 720) _faults.DeliverSome(1);
        else if (choice < 860) StartSomething();
        else if (choice < 960) _world.Advance(TimeSpan.FromMicroseconds(_random.Next(_random.Next(20) == 0 ? 60_000 : 1000)));
        else if (choice < 972) _faults.Disturb();
        else if (choice < 980 && _retries > 0) RetryElsewhere();
        else if (choice < 990 && _faults.ViewIsDue) _faults.Change();
        else if (choice < 992) _faults.ChooseSlow();
        else _faults.ExcludeOne();
        Collect();
    }

    private void StartSomething()
    {
        var idle = _clients.FindAll(c => !c.Busy && c.Left > 0);
        if (idle.Count == 0) return;
        var client = idle[_random.Next(idle.Count)];
        client.Left--;
        Operations++;
        client.Keys = [.. Keys.OrderBy(_ => _random.NextUInt64()).Take(1 + _random.Next(3))];
        client.Append = _random.Next(2) == 0;
        client.Element = ++_element;
        client.Id = client.Append && _random.Next(2) == 0 ? new OperationId(_sessionBase.Session, ++_sequence) : null;
        if (Pick(client) is not { } member)
        {
            client.Left++;
            return;
        }
        client.Op = _recorder.Invoke(client.Name, $"m{member.Index}", client.Append ? HistoryFunctions.Append : HistoryFunctions.Get, client.Keys,
            client.Append ? [.. client.Keys.Select(_ => (HistoryValue)client.Element)] : null, _level);
        Call(client, member);
    }

    private HarnessMember? Pick(Client client)
    {
        var able = _world.Members.FindAll(m => m.Alive && m.Dht is not null && m.Host.Current is { IsOver: false, State.Map: not null } && !client.Through.Contains(m.Index));
        return able.Count == 0 ? null : able[_random.Next(able.Count)];
    }

    private void Call(Client client, HarnessMember member)
    {
        client.Through.Add(member.Index);
        var map = member.Dht.Map<string, List<long>>("lists");
        if (client.Append)
            client.Puts.Add((member, Begin(client.PutKind, client, member, () => map.MergeAsync(client.Keys.Select(k => KeyValuePair.Create(k, client.Element)), client.Id is { } id ? new() { Operation = id } : null).AsTask())));
        else client.Gets.Add((member, Begin(CallKind.Get, client, member, () => Get(map, client.Keys))));
        member.Turn(static () => { });
    }

    private T Begin<T>(CallKind kind, Client client, HarnessMember member, Func<T> call) where T : Task => Calls.Begin(kind, $"{client.Name} at m{member.Index}", call, member, _world.Options.Member.Timeout, () => member.IsPartOver, timeout: _world.Options.Member.Timeout);

    private static async Task<List<Entry<List<long>>>> Get(DhtMap<string, List<long>> map, string[] keys)
    {
        if (keys.Length == 1) return [await map.GetAsync(keys[0])];
        var found = await map.GetAsync(keys);
        return [.. keys.Select(found.Find)];
    }

    /// <summary>A client that waits asks another member too, under the same id.</summary>
    private void RetryElsewhere()
    {
        var waiting = _clients.FindAll(c => c.Busy && c.Id is not null && c.Through.Count < 4);
        if (waiting.Count == 0) return;
        var client = waiting[_random.Next(waiting.Count)];
        if (Pick(client) is { } member && _run.Happens($"{client.Name} tries m{member.Index} too after {_world.Deliveries} deliveries")) Call(client, member);
    }

    private void Collect()
    {
        Calls.Look();
        foreach (var client in _clients)
        {
            if (!client.Busy) continue;
            client.MayBeExecuted |= client.Puts.RemoveAll(p => !p.Member.Alive && !p.Task.IsCompleted) > 0;
            client.Gets.RemoveAll(p => !p.Member.Alive && !p.Task.IsCompleted);
            if (client.Puts.Find(p => p.Task.IsCompletedSuccessfully) is { Task: not null } put)
            {
                // Only a put that returns before its execution (ordered, or with a rule left out), or that asks how an earlier call ended, may tell no versions.
                if (put.Task.Result.Versions.Count == 0 && _level == HistoryLevel.Strict && client.Through.Count == 1 && _world.Without is null) throw new ScenarioFailedException($"{client.Name} was told no versions of its put.");
                _recorder.Ok(client.Op!, null, put.Task.Result.Versions.Count == 0 ? null : [.. put.Task.Result.Versions.Select(v => (long?)v)]);
                client.Reset();
                continue;
            }
            if (client.Gets.Find(p => p.Task.IsCompletedSuccessfully) is { Task: not null } get)
            {
                Saw(client);
                var read = get.Task.Result;
                _recorder.Ok(client.Op!, [.. read.Select(static entry => entry.Found ? HistoryValue.List(entry.Value) : HistoryValue.Absent)]);
                client.Reset();
                continue;
            }
            Fail(client, client.PutKind, client.Puts);
            Fail(client, CallKind.Get, client.Gets);
            if (client.Puts.Count + client.Gets.Count > 0) continue;
            if (client.Id is not null && client.Through.Count < 5 && Pick(client) is { } member)
            {
                Call(client, member);
                continue;
            }
            if (client.MayBeExecuted) _recorder.Info(client.Op!);
            else _recorder.Fail(client.Op!);
            client.Reset();
        }
    }

    private void EndView(List<HarnessMember> survivors, List<HarnessMember> lost)
    {
        foreach (var client in _clients) Saw(client);
        _sights.ViewChange(survivors, lost);
    }

    private void Saw(Client client)
    {
        if (client.Op is { } op && client.Gets.Find(p => p.Task.IsCompletedSuccessfully) is { Task: { } read, Member: { } reader })
            _sights.Returned(op, reader, client.Keys.Zip(read.Result, static (key, entry) => (key, entry.Version)));
    }

    /// <summary>
    /// Removes the calls that ended with an error. Bounds are wide here, timeouts long, and no turn throws, so of the errors that the guide names for such a call only three may
    /// come.
    /// </summary>
    private static void Fail<T>(Client client, CallKind kind, List<(HarnessMember Member, Task<T> Task)> calls) => calls.RemoveAll(p =>
    {
        if (!p.Task.IsFaulted) return false;
        var error = p.Task.Exception!.InnerException!;
        if (CallErrors.MeaningOf(kind, error) is null || error is not (OutcomeUnknownException or NotDhtMemberException or ShardDepopulatedException)) throw p.Task.Exception;
        if (error is OutcomeUnknownException unknown && unknown.Operation != (client.Id ?? unknown.Operation)) throw p.Task.Exception;
        client.MayBeExecuted |= CallErrors.MayHaveExecuted(error);
        return true;
    });

    private void Finish()
    {
        _faults.End();
        if (Depopulated) return;
        _world.RunUntil(() =>
        {
            Collect();
            return _clients.TrueForAll(c => !c.Busy) && Calls.Open == 0;
        }, "The end of all operations");
        _world.Settle();
    }

    /// <summary>Answers given before a shard was lost are judged, too; there are no replicas to compare then.</summary>
    private string? Judge()
    {
        Calls.Finish(onlyOver: Depopulated);
        string? wrong = Calls.Wrong ?? _world.EndedForNothing();
        if (wrong is null && !Depopulated) wrong = _world.CompareReplicas((shard, member, slice) =>
        {
            var entries = slice.Of(member.Dht.Map<string, List<long>>("lists")).ToList();
            _recorder.Final($"m{member.Index}", entries.ToDictionary(e => e.Key, e => HistoryValue.List(e.Value.Value)), entries.ToDictionary(e => e.Key, e => (long)e.Value.Version), shard);
        });
        if (wrong is not null) return wrong;
        var report = StrictSerializabilityChecker.Check(History, new() { RealTime = _level == HistoryLevel.Strict });
        return report.Passed ? null : report.ToString();
    }

    private sealed class Client(string name, int left)
    {
        public string Name { get; } = name;
        public int Left = left;
        public bool Append;
        public string[] Keys = [];
        public long Element;
        public OperationId? Id;
        public string? Op;
        public bool MayBeExecuted;
        public readonly List<int> Through = [];
        public readonly List<(HarnessMember Member, Task<PutResult> Task)> Puts = [];
        public readonly List<(HarnessMember Member, Task<List<Entry<List<long>>>> Task)> Gets = [];

        public bool Busy => Op is not null;

        public CallKind PutKind => Id is null ? CallKind.Merge : CallKind.Retry;

        public void Reset()
        {
            (Op, MayBeExecuted) = (null, false);
            Through.Clear();
            Puts.Clear();
            Gets.Clear();
        }
    }
}
