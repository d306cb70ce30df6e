using GroupCore.Runtime;
using Ida.Coordination;
using Ida.Testing;
using Ida.Testing.Calls;
using Ida.Testing.Checking;

namespace Ida.Scenarios;

/// <summary>
/// One random schedule of a careless program: every public call with every option, misuse, cancellation and expiry at every step, slow user
/// code, small bounds and large values, while members crash, are excluded, join, leave and close. Every call must end in time, with a result
/// or an error that is documented, and the history of what was called and answered is judged.
/// </summary>
internal sealed class SurfaceSchedule
{
    private const int MostAttempts = 6;
    private readonly SimulationCase _run;
    private readonly DhtWorld _world;
    private readonly Prng _random, _stalls, _levels, _followers, _conditions;

    // Where few bytes may be in flight; null where as many as by default.
    private readonly Prng? _heavy;
    private readonly DhtFaults _faults;
    private readonly Ingredients _drawn;
    private readonly SurfaceDriver _driver;
    private readonly SurfaceLedger _ledger;
    private readonly SurfaceMisuse _misuse;
    private readonly SurfaceQuestions _questions;
    private readonly SurfaceLiar? _liar;
    private readonly LostSights _sights = new(Versions);
    private readonly List<SurfaceOperation> _open = [];
    private readonly Dictionary<OperationId, SurfaceOperation> _winner = [];
    private readonly SurfaceKnowledge _known;
    private readonly string[] _keys;
    private readonly OperationId _session;
    private int _left, _misuses, _closes, _name;
    private long _element;
    private ulong _sequence = DhtWorld.Named;

    public SurfaceSchedule(SimulationCase run, Ingredients ingredients, CallTable calls, Rule without = Rule.None)
    {
        (_run, _random, _stalls, _levels, _followers, _drawn) = (run, new(run.Seed), new(run.Seed ^ 0x57A11), new(run.Seed ^ 0x1E7E1), new(run.Seed ^ 0xF0110), ingredients);
        _conditions = new(run.Seed ^ 0xC0DD);
        _known = new(_conditions);
        _world = new(run.Seed ^ 0x5EED, without);
        Recorder = new(clock: () => _world.Now);
        var bytes = new Prng(run.Seed ^ 0xB17E5);
        if (bytes.Next(4) == 0) _heavy = bytes;
        _world.Options = DrawBytes(DrawOptions());
        DrawLinks(new(run.Seed ^ 0x117C5));
        DrawLost(new(run.Seed ^ 0x605E));
        DrawLate(new(run.Seed ^ 0x1A7E));
        _ledger = new(_world, ingredients, calls);
        _world.Register = new SurfaceResolvers(_world, CallBack).Register;
        _driver = new(_random, ingredients);
        _misuse = new(_world, _random, ingredients, _ledger);
        _questions = new(_world, new(run.Seed ^ 0xA5C), ingredients, _ledger);
        int members = 4 + _random.Next(3);
        _world.Found(members);
        int slow = DrawSlow(new(run.Seed ^ 0x5107));
        var lies = new Prng(run.Seed ^ 0x11A2);
        if (lies.Next(5) == 0) _liar = new(_world, lies);
        _faults = new(run, _world, _random)
        {
            Happened = Happened, Crashes = _random.Next(2), Exclusions = _random.Next(2), Joins = _random.Next(2), Views = _random.Next(3),
            Leaves = _random.Next(4) == 0 ? 1 : 0, Slowness = Math.Max(slow, _random.Next(4)),
            Lapses = new Prng(run.Seed ^ 0x1EA5E).Next(4),
            Throws = new Prng(run.Seed ^ 0x7420).Next(3) == 0 ? 1 : 0, LostLinks = new Prng(run.Seed ^ 0x71CC).Next(6) == 0 ? 1 : 0,
            Blocks = new(run.Seed ^ 0xB10C),
        };
        _closes = _random.Next(6) == 0 ? 1 : 0;
        _misuses = 1 + _random.Next(4);
        _left = 15 + _random.Next(20);
        _keys = [.. Enumerable.Range(0, 2 + _random.Next(3)).SelectMany(static i => new[] { $"{(char)('a' + i)}0", $"{(char)('a' + i)}1" })];
        _session = new(_world.Members[_random.Next(members)].Host.Current!.State.Session, 0);
        _world.DuringFlush = DuringFlush;
        (_world.AtSend, _world.AtViewChange) = (_sights.Sent, EndView);
        foreach (var member in _world.Members) member.Skew = _random.Next(3) == 0 ? _random.Next(50_000_000) : 0;
    }

    public bool Depopulated => _faults.Depopulated;

    public HistoryRecorder Recorder { get; }

    public int Operations { get; private set; }

    public int ViewChanges => _faults.ViewChanges;

    /// <summary>Runs it; null when all is well, else what is wrong.</summary>
    public string? Run()
    {
        try
        {
            for (int step = 0; step < 20_000 && !Depopulated && (_left > 0 || _open.Count > 0); step++) Step();
            if (!Depopulated) Finish();
            _faults.NoticeDepopulation();
            _ledger.Look();
            return _world.Overfilled ?? Judge();
        }
        catch (Exception error) when (error is not OutOfMemoryException)
        {
            return error is ScenarioFailedException ? error.Message : error.ToString();
        }
        finally
        {
            _run.Trace(_world.Deliveries, _world.Trace);
        }
    }

    private DhtOptions DrawOptions()
    {
        int hash = _random.Next(8), bounds = _random.Next(6);
        if (hash < 2) _drawn.Draw(hash == 0 ? SurfaceNames.LowBits : SurfaceNames.Constant);
        if (bounds < 4) _drawn.Draw(bounds == 0 ? SurfaceNames.FewInFlight : bounds == 1 ? SurfaceNames.FewOperations : bounds == 2 ? SurfaceNames.ShortQueues : SurfaceNames.FewOutcomes);
        return new()
        {
            ShardSize = 2, TargetSize = 4, Timeout = TimeSpan.FromHours(10), TakeoverAfter = TimeSpan.FromMilliseconds(20), HandoverTimeout = TimeSpan.FromSeconds(2),
            Hash = hash < 2 ? new CarelessHash(hash == 1) : hash < 4 ? StableHash.XxHash64 : new LastByteHash(),
            MaxInFlight = bounds == 0 ? 1 + _random.Next(2) : 1024,
            MaxOperations = bounds == 1 ? 2 + _random.Next(6) : 16_384,
            MaxOutcomeBytes = bounds == 3 ? 4096 : 64 << 20,
            MaxQueuePerKey = bounds == 2 ? 1 + _random.Next(3) : 4096,
        };
    }

    // A few large values.
    private DhtOptions DrawBytes(DhtOptions options)
    {
        if (_heavy is null) return options;
        _drawn.Draw(SurfaceNames.FewBytes);
        return options with { MaxInFlightBytes = (1 << 20) + _heavy.Next(1 << 20) };
    }

    // Less than one large value, so that nearly everything waits for room, or some of them.
    private void DrawLinks(Prng random)
    {
        if (random.Next(6) != 0) return;
        _drawn.Draw(SurfaceNames.SmallLinks);
        _world.BulkBytes = random.Next(2) == 0 ? 200 + random.Next(4_000) : 100_000 + random.Next(900_000);
    }

    // Of several members that are gone not all is remembered, of one it is.
    private void DrawLost(Prng random)
    {
        if (random.Next(4) != 0) return;
        _drawn.Draw(SurfaceNames.FewOfLost);
        _world.MostLostBytes = random.Next(2) == 0 ? 1 : 100 + random.Next(1_000);
    }

    private void DrawLate(Prng random)
    {
        if (random.Next(4) != 0) return;
        _drawn.Draw(SurfaceNames.LateViews);
        _world.LateViews = true;
    }

    // Queues that are full beside puts that others take over, since what would end them is on its way for long.
    private int DrawSlow(Prng random)
    {
        if (_world.Options is { MaxOperations: > 100, MaxQueuePerKey: > 100 } || random.Next(2) != 0) return 0;
        _drawn.Draw(SurfaceNames.SlowBounds);
        return 2 + random.Next(3);
    }

    private void Step()
    {
        if (_liar?.Lie() == true) _drawn.Draw(SurfaceNames.Liar);
        int choice = _random.Next(1000);
        if (choice < 750) _faults.DeliverSome(1);
        else if (choice < 850) StartSomething();
        else if (choice < 940) _world.Advance(TimeSpan.FromMicroseconds(_random.Next(_random.Next(20) == 0 ? 60_000 : 1000)));
        else if (choice < 955) _faults.Disturb();
        else if (choice < 975) RetryBeside();
        else if (choice < 985 && _faults.ViewIsDue) _faults.Change();
        else if (choice < 988) _faults.ChooseSlow();
        else if (choice < 991) _faults.ExcludeOne();
        else Careless();
        _questions.Step();
        _ledger.Look();
        LookAtPlaces();
    }

    // Those that gave their place back have none; when what they wait for comes they take one again.
    private void LookAtPlaces()
    {
        int most = _world.Options.MaxInFlight;
        if (most > 100 && _heavy is null) return;
        foreach (var member in _world.Members)
        {
            if (!member.InView || member.Host.Current is not { IsOver: false } layer) continue;
            var taken = layer.Coordinator.Standing().Where(static one => one.Op is { IsInFlight: true, IsParked: false }).ToList();
            if (taken.Count > most) throw new ScenarioFailedException($"{taken.Count} operations of m{member.Index} are on the way at once, and {most} may be.");
            long bytes = taken.Sum(static one => (long)one.Op.AskedBytes);
            if (taken.Count > 1 && bytes > _world.Options.MaxInFlightBytes)
                throw new ScenarioFailedException($"{taken.Count} operations of m{member.Index} with {bytes} bytes are on the way at once, and {_world.Options.MaxInFlightBytes} may be.");
        }
    }

    private void Happened(string fault)
    {
        _drawn.Draw(fault);
        _ledger.Meet($"fault: {fault}");
    }

    // Calls begin, are cancelled and run out of time while nobody may act.
    private void DuringFlush()
    {
        _ledger.Meet(CallTable.InView);
        _ledger.CancelInView();
        if (_random.Next(3) == 0) StartSomething();
        if (_random.Next(4) == 0) _world.Advance(TimeSpan.FromMilliseconds(_random.Next(200)));
        if (_ledger.HasExpiringAtWedged) _drawn.Draw(SurfaceNames.ExpireInView);
    }

    private void Careless()
    {
        if (Pick() is not { } member) return;
        if (_closes > 0 && _random.Next(8) == 0 && _run.Happens($"close m{member.Index} after {_world.Deliveries} deliveries"))
        {
            _closes--;
            _faults.BlockSome(member);
            _questions.Close(member);
            Turn(member);
        }
        if (_misuses <= 0) return;
        _misuses--;
        _misuse.Do(member);
        Turn(member);
    }

    private void StartSomething()
    {
        if (_left <= 0 || Pick() is not { } member) return;
        _left--;
        Operations++;
        var level = _random.Next(8) == 0 ? ConsistencyLevel.Ordered : ConsistencyLevel.Strict;
        if (level == ConsistencyLevel.Ordered) _drawn.Draw(SurfaceNames.Ordered);
        if (_conditions.Next(12) == 0)
        {
            Update(member);
            return;
        }
        // One call at a time for each name, which says more about their order.
        var operation = Draw(new($"c{++_name}", level));
        if (operation.Parts.Exists(static part => part.Kind == PartKind.Fail)) MarkDead(operation, member.Dht);
        else if (operation.Parts.TrueForAll(static part => part.Kind is PartKind.Put or PartKind.Remove) && operation.IsPut && _conditions.Next(3) == 0) ExpectSome(operation, member.Dht);
        if (operation.IsPut && _random.Next(2) == 0) operation.Id = new OperationId(_session.Session, ++_sequence);
        operation.Invoke(Recorder, member.Index);
        _open.Add(operation);
        Call(operation, member, first: true);
    }

    private SurfaceOperation Draw(SurfaceOperation operation)
    {
        bool many = _random.Next(60) == 0;
        if (many) _drawn.Draw(SurfaceNames.ManyKeys);
        int count = many ? 65 + _random.Next(192) : 1 + _random.Next(3);
        var keys = many ? Enumerable.Range(0, count).Select(static i => $"k{i}.{i & 1}").ToList() : [.. _keys.OrderBy(_ => _random.NextUInt64()).Take(count)];
        if (_random.Next(2) == 0)
        {
            int from = _random.Next(4);
            foreach (string key in keys) operation.Keys.Add((from == 0 ? SurfaceDriver.Lists[0] : from == 1 ? SurfaceDriver.Values[0] : Map(_random.Next(2) == 0), key));
            return operation;
        }
        int kind = _random.Next(8);
        long element = ++_element;
        int pad = kind is 3 or 4 or 5 && !many ? DrawPad(keys) : 0;
        foreach (string key in keys)
        {
            operation.Parts.Add(kind switch
            {
                0 or 1 => new(PartKind.Append, SurfaceDriver.Lists[0], key, element, 0),
                2 => new(PartKind.Append, SurfaceDriver.Lists[_random.Next(2)], key, element, 0),
                3 or 4 => new(PartKind.Put, SurfaceDriver.Values[0], key, element, pad),
                5 => new(_random.Next(3) == 0 ? PartKind.Remove : PartKind.Put, SurfaceDriver.Values[_random.Next(2)], key, element, pad),
                6 => new(PartKind.Remove, SurfaceDriver.Values[0], key, element, 0),
                _ => _random.Next(2) == 0 ? new(PartKind.Append, SurfaceDriver.Lists[_random.Next(2)], key, element, 0)
                    : new(PartKind.Put, SurfaceDriver.Values[_random.Next(2)], key, element, 0),
            });
        }
        if (kind == 7 && _random.Next(2) == 0) operation.Parts.Insert(_random.Next(operation.Parts.Count + 1), new(PartKind.Fail, "x", $"t{_random.Next(2)}", 0, 0));
        return operation;
    }

    private static void MarkDead(SurfaceOperation operation, Dht dht)
    {
        var failing = operation.Parts.Where(static part => part.Kind == PartKind.Fail).Select(part => SurfaceDriver.ShardOf(dht, part)).ToHashSet();
        foreach (var (i, part) in operation.Parts.Index())
            if (failing.Contains(SurfaceDriver.ShardOf(dht, part))) operation.Dead.Add(i);
    }

    // Only one shard can tell whether what is expected of its keys holds.
    private void ExpectSome(SurfaceOperation operation, Dht dht)
    {
        var parts = operation.Parts;
        int shard = SurfaceDriver.ShardOf(dht, parts[0]);
        parts.RemoveAll(part => SurfaceDriver.ShardOf(dht, part) != shard);
        for (int i = 0; i < parts.Count; i++)
        {
            if (i > 0 && _conditions.Next(3) == 0) continue;
            var (version, element) = _known.Guess(parts[i].Name);
            parts[i] = parts[i] with { Expected = version, ExpectedElement = element, Kind = i > 0 && _conditions.Next(3) == 0 ? PartKind.Check : parts[i].Kind };
        }
    }

    private void Update(HarnessMember member)
    {
        _drawn.Draw(SurfaceNames.Update);
        var part = new SurfacePart(PartKind.Put, SurfaceDriver.Values[0], _keys[_conditions.Next(_keys.Length)], ++_element, 0);
        string client = $"c{++_name}", through = $"m{member.Index}", put = Recorder.Invoke(client, through, HistoryFunctions.Put, [part.Name], [part.Element]);
        string read = Recorder.Invoke(client, through, HistoryFunctions.Get, [part.Name], partOf: put);
        string? before = null;
        var source = _conditions.Next(4) == 0 ? new CancellationTokenSource() : null;
        var task = SurfaceDriver.Value(member.Dht, part.Map).UpdateAsync(part.Key, held => (before = held.ValueOr(null), part.Value).Value, null, source?.Token ?? default).AsTask();
        _ledger.Begin(new(CallKind.Put, $"update {client}", member, task, _world.Now, TimeSpan.Zero)
        {
            Source = source, CancelAt = source is null ? long.MaxValue : _world.Deliveries + 1 + _conditions.Next(30), Ended = Ended, Lost = () => End(Recorder.Info),
        });
        Turn(member);

        void Ended(Task ended)
        {
            if (ended.IsCompletedSuccessfully)
            {
                Recorder.Ok(put);
                Recorder.Ok(read, [before is null ? HistoryValue.Absent : SurfacePart.ElementOf(before)]);
            }
            else if (CallErrors.ErrorOf(ended) is { } error && CallErrors.MeaningOf(CallKind.Put, error) == ErrorMeaning.Misuse) throw new ScenarioFailedException($"Update {client} ended with {error}");
            else End(CallErrors.MayHaveExecuted(CallErrors.ErrorOf(ended)!) ? Recorder.Info : Recorder.Fail);
        }

        void End(Action<string> how)
        {
            how(put);
            how(read);
        }
    }

    private int DrawPad(List<string> keys)
    {
        int size = _random.Next(24);
        if (_heavy?.Next(2) == 0) size = _heavy.Next(3) + 1;
        if (size >= 4) return _random.Next(40);
        if (size < 2)
        {
            _drawn.Draw(SurfaceNames.Kilobytes);
            return 1_000 + _random.Next(63_000);
        }
        _drawn.Draw(keys.Count > 1 ? SurfaceNames.BytePressure : SurfaceNames.Limit);
        return 256 * 1024 - 32;
    }

    private string Map(bool list) => (list ? SurfaceDriver.Lists : SurfaceDriver.Values)[_random.Next(2)];

    private HarnessMember? Pick(int not = -1)
    {
        var able = _world.Members.FindAll(m => m.Alive && m.Index != not && m.Dht is not null && m.Host.Current is { IsOver: false, State.Map: not null } && !_world.IsStalled(m));
        return able.Count == 0 ? null : able[_random.Next(able.Count)];
    }

    private void Call(SurfaceOperation operation, HarnessMember member, bool first)
    {
        operation.Open++;
        operation.Calls++;
        operation.Through = member.Index;
        // What has to be found out in the end is asked plainly.
        bool plain = _left <= 0 && !first;
        var timing = plain ? SurfaceTiming.Plain : SurfaceTiming.Draw(_random, _drawn, _world.Deliveries, retry: !first);
        if (!plain && Follows(operation, member) && _followers.Next(2) == 0)
        {
            _drawn.Draw(SurfaceNames.Follower);
            timing = timing with { Timeout = TimeSpan.FromMicroseconds(1 + _followers.Next(20_000)) };
        }
        var level = operation.IsPut && !plain && !operation.IsImpostor ? LevelOf(operation) : operation.Level;
        var put = operation.IsPut ? new PutOptions { Level = level, Timeout = timing.Timeout, Operation = operation.Id } : null;
        var get = operation.IsPut ? null : new GetOptions { Level = operation.Level, Timeout = timing.Timeout };
        var token = timing.Source?.Token ?? default;
        if (!first && operation.WasNamed) StallOwner(operation.Id!.Value, member);
        Task task = operation.IsPut ? Started(() => _driver.Put(member.Dht, operation.Parts, put, token)) : Started(() => _driver.GetAsync(member.Dht, operation.Keys, get, token));
        operation.Read = task as Task<List<(long[]? Elements, ulong Version)>>;
        // Refused at once: whether the put was executed is no question.
        if (token.IsCancellationRequested && !task.IsCanceled) throw new ScenarioFailedException($"A call of {operation.Client} whose token was cancelled before it was taken.");
        var kind = !operation.IsPut ? CallKind.Get : operation.Id is null ? CallKind.Put : CallKind.Retry;
        _ledger.Begin(new(kind, $"of {operation.Client}", member, task, _world.Now, timing.Timeout ?? TimeSpan.Zero)
        {
            Source = timing.Source, CancelAt = timing.CancelAt, CancelInView = timing.CancelInView,
            Ended = ended => Ended(operation, kind, ended, level), Lost = () => Lost(operation),
        });
        if (timing.CancelQueued) timing.Source!.Cancel();
        Turn(member);
    }

    /// <summary>Whether a call waits for an earlier one of the same put, whose caller gave up, at the same member.</summary>
    private static bool Follows(SurfaceOperation operation, HarnessMember member) => operation is { IsPut: true, IsImpostor: false, Id: { } id }
        && member.Host.Current!.Coordinator.Standing().Any(one => one.Op.Id == id && one is { Place: OperationPhase.Detached, Op.Follower: null });

    // Calls of one put, not all at its level: what is recorded as strict is not ended by one that may return before its execution.
    private ConsistencyLevel LevelOf(SurfaceOperation operation)
    {
        if (_levels.Next(8) != 0) return operation.Level;
        _drawn.Draw(SurfaceNames.OtherLevel);
        return operation.Level == ConsistencyLevel.Strict ? ConsistencyLevel.Ordered : ConsistencyLevel.Strict;
    }

    // The member that named the put is asked whether it did, and is in a turn that lasts.
    private void StallOwner(OperationId put, HarnessMember asks)
    {
        var owner = _world.Members.Find(m => m.InView && m != asks && m.Host.Current is { IsOver: false } layer && layer.State.Session == put.Session);
        if (owner is null) return;
        if (!_world.IsStalled(owner) && _stalls.Next(3) == 0) owner.Stall(TimeSpan.FromMilliseconds(100 + _stalls.Next(3_000)));
        if (_world.IsStalled(owner)) _drawn.Draw(SurfaceNames.AsksStalled);
    }

    // A refusal may come as an exception of the call itself.
    private static Task Started(Func<Task> call)
    {
        try
        {
            return call();
        }
        catch (Exception error) when (error is not ScenarioFailedException)
        {
            return Task.FromException(error);
        }
    }

    private void Turn(HarnessMember member)
    {
        if (!_world.IsStalled(member)) member.Turn(static () => { });
    }

    private void Ended(SurfaceOperation operation, CallKind kind, Task task, ConsistencyLevel level)
    {
        operation.Open--;
        if (Told(operation, task) is { } told)
        {
            // What only the execution shows is told when it is executed, at any level.
            bool early = level == ConsistencyLevel.Ordered && !operation.Expects && told is { Id: not null, Failed: false };
            if (early && operation.Level == ConsistencyLevel.Strict) Accepted(operation, told);
            else PutEnded(operation, told);
        }
        else if (task is Task<List<(long[]? Elements, ulong Version)>> { IsCompletedSuccessfully: true } get) GetEnded(operation, get.Result);
        else operation.Unknown |= MayBeExecuted(kind, CallErrors.ErrorOf(task)!, operation);
        GoOn(operation);
    }

    /// <summary>What a put was told; null where it ended without. That its resolver threw is how it ends, too.</summary>
    private static SurfaceTold? Told(SurfaceOperation operation, Task task)
    {
        if (task is Task<SurfaceTold> { IsCompletedSuccessfully: true } put) return put.Result;
        if (CallErrors.ErrorOf(task) is not (ResolverException or PartlyAppliedException) and not null) return null;
        if (CallErrors.ErrorOf(task) is not { } error) return null;
        bool partly = operation.Dead.Count < operation.Parts.Count;
        if (operation.Dead.Count == 0 || partly != error is PartlyAppliedException) throw new ScenarioFailedException($"{operation.Client}, of whose {operation.Parts.Count} pairs {operation.Dead.Count} cannot be applied, ended with {error}");
        return new(true, null, default) { Failed = true };
    }

    private void Lost(SurfaceOperation operation)
    {
        operation.Open--;
        operation.Unknown = true;
        GoOn(operation);
    }

    /// <summary>Nothing of it is under way: asks again where the outcome is not known and its name is, else it is recorded.</summary>
    private void GoOn(SurfaceOperation operation)
    {
        if (operation.Done || operation.Open > 0) return;
        if (operation is { IsPut: true, Unknown: true, IsNever: false, IsImpostor: false, Id: not null } && operation.Calls < MostAttempts && Again(operation) is { } member)
        {
            Call(operation, member, first: false);
            return;
        }
        if (operation is { Forgotten: true, WasNamed: true } && _world.Members.Exists(m => m.InView && m.Host.Current is { IsOver: false } layer && layer.State.Session == operation.Id!.Value.Session))
            throw new ScenarioFailedException($"What became of {operation.Client}, put {operation.Id}, is forgotten, though the member that issued it is there.");
        operation.Done = true;
        _open.Remove(operation);
        operation.End(Recorder, mayBeApplied: operation is { Unknown: true, IsPut: true, IsNever: false });
    }

    private HarnessMember? Again(SurfaceOperation operation)
    {
        var same = _random.Next(2) == 0 ? _world.Members.Find(m => m.Index == operation.Through && m.Alive && m.Host.Current is { IsOver: false, State.Map: not null } && !_world.IsStalled(m)) : null;
        var member = same ?? Pick(operation.Through) ?? Pick();
        if (member is not null) _drawn.Draw(member.Index == operation.Through ? SurfaceNames.RetrySame : SurfaceNames.RetryOther);
        return member;
    }

    /// <summary>A client that waits asks again, under the same id: once more, or with other pairs.</summary>
    private void RetryBeside()
    {
        var waiting = _open.FindAll(o => o is { IsPut: true, Id: not null, Open: > 0, IsImpostor: false } && o.Calls < MostAttempts);
        if (waiting.Count == 0 || Pick() is not { } member) return;
        var operation = waiting[_random.Next(waiting.Count)];
        if (_random.Next(4) == 0 && operation.Parts.Count < 60 && _drawn.Allows(SurfaceNames.OtherPairs))
        {
            _drawn.Draw(SurfaceNames.OtherPairs);
            var other = new SurfaceOperation($"c{++_name}", operation.Level) { IsImpostor = true, Id = operation.Id };
            long element = ++_element;
            other.Parts.AddRange(operation.Parts.Where(part => part.Kind != PartKind.Fail).Select(part => part with { Element = element, Kind = part.Kind == PartKind.Append ? PartKind.Append : PartKind.Put, Pad = 0, Expected = null, ExpectedElement = null }));
            other.Invoke(Recorder, member.Index);
            _open.Add(other);
            Call(other, member, first: true);
            return;
        }
        if (operation.Open > 1) _drawn.Draw(SurfaceNames.RetryTwice);
        _drawn.Draw(member.Index == operation.Through ? SurfaceNames.RetrySame : SurfaceNames.RetryOther);
        Call(operation, member, first: false);
    }

    /// <summary>An Ordered call of a put that is recorded as strict returned. It was told how it ended, which may be forgotten now; a strict call is to follow.</summary>
    private void Accepted(SurfaceOperation operation, SurfaceTold result)
    {
        operation.WasAccepted = true;
        CheckNever(operation, told: true);
        CheckResult(operation, result);
        operation.Id ??= result.Id;
        (operation.Unknown, operation.WasNamed) = (true, false);
    }

    // In whichever order its calls are told.
    private static void CheckNever(SurfaceOperation operation, bool told)
    {
        if (operation.IsNever && told) throw new ScenarioFailedException($"One call of {operation.Client} was told that it is not executed and will not be, and another how it was.");
    }

    private void PutEnded(SurfaceOperation operation, SurfaceTold result)
    {
        CheckResult(operation, result);
        CheckNever(operation, told: true);
        if (operation.Done)
        {
            if (operation.Result is { } first && !first.Agrees(result))
                throw new ScenarioFailedException($"Two calls of {operation.Client} were told other ends of one put.");
            return;
        }
        (operation.Done, operation.Result) = (true, result);
        _open.Remove(operation);
        if (!result.IsApplied) _drawn.Draw(SurfaceNames.NotMet);
        operation.Ok(Recorder, result, _known.ElementOf);
        for (int i = 0; i < operation.Parts.Count && result is { IsApplied: true, Versions.Count: > 0 }; i++)
        {
            var part = operation.Parts[i];
            if (part.Kind is PartKind.Put or PartKind.Remove) _known.Learn(part.Name, part.Kind == PartKind.Put ? result.Versions[i] : 0, part.Kind == PartKind.Put ? part.Element : null);
        }
    }

    private void CheckResult(SurfaceOperation operation, SurfaceTold result)
    {
        if (!result.IsApplied && !operation.Expects) throw new ScenarioFailedException($"{operation.Client} expects nothing, and was told that it is not applied.");
        if (result.Versions.Count > 0 && operation.Parts.Exists(static part => part.Kind == PartKind.Fail))
            throw new ScenarioFailedException($"A pair of {operation.Client} fails, but no error was told.");
        if (operation.Id is { } id && !_winner.TryAdd(id, operation) && _winner[id] != operation)
            throw new ScenarioFailedException($"Operation {id} was answered for {_winner[id].Client} and, with other pairs, for {operation.Client}.");
    }

    private void GetEnded(SurfaceOperation operation, List<(long[]? Elements, ulong Version)> read)
    {
        Saw(operation, read);
        for (int i = 0; i < read.Count; i++)
            if (SurfaceDriver.Values.Contains(operation.Keys[i].Map)) _known.Learn($"{operation.Keys[i].Map}:{operation.Keys[i].Key}", read[i].Elements is null ? 0 : read[i].Version, read[i].Elements?[0]);
        operation.Done = true;
        _open.Remove(operation);
        Recorder.Ok(operation.Records[0].Op,
            [.. read.Select((found, i) => found.Elements is null ? HistoryValue.Absent : SurfaceDriver.Lists.Contains(operation.Keys[i].Map) ? HistoryValue.List(found.Elements) : (HistoryValue)found.Elements[0])],
            [.. read.Select(found => found.Elements is null ? (long?)null : (long)found.Version)]);
    }

    /// <summary>Whether a put that ended so may have taken effect. That the guide says it of such a call the ledger has judged.</summary>
    private bool MayBeExecuted(CallKind kind, Exception error, SurfaceOperation operation)
    {
        switch (error)
        {
            case OutcomeUnknownException unknown:
                if (operation.Id is null)
                {
                    _drawn.Draw(SurfaceNames.RetryUnknown);
                    (operation.Id, operation.WasNamed) = (unknown.Operation, true);
                }
                else if (operation.Id != unknown.Operation) throw new ScenarioFailedException($"{operation.Client} has id {operation.Id}, but was told {unknown.Operation}.");
                operation.Forgotten |= unknown is OutcomeForgottenException;
                break;
            case OverloadedException:
                _drawn.Draw(SurfaceNames.Refused);
                break;
            case OperationNotExecutedException:
                // Also of a retry it says that the put was not executed and never will be.
                operation.IsNever = true;
                CheckNever(operation, operation.Done || operation.WasAccepted);
                break;
        }
        if (CallErrors.MeaningOf(kind, error) == ErrorMeaning.Misuse && !IsMisused(error, operation)) throw new ScenarioFailedException($"{operation.Client} ended with {error}");
        return CallErrors.MayHaveExecuted(error);
    }

    private static bool IsMisused(Exception error, SurfaceOperation operation) => error switch
    {
        OperationIdReusedException => true,
        // The id is in use at this member.
        ArgumentException => operation.Calls > 1 || operation.IsImpostor,
        ValueTooLargeException => operation.Parts.Count != 1,
        _ => false,
    };

    // A resolver that calls the library: it must not wait, and what it began ends as any call does.
    private void CallBack(HarnessMember member)
    {
        if (member.Dht is null) return;
        _drawn.Draw(SurfaceNames.ResolverCalls);
        _ledger.Begin(CallKind.Put, "of a resolver", member, member.Dht.Map<string, string>("x").PutAsync("r0", "r").AsTask());
        _ledger.Begin(CallKind.Status, "of a resolver", member, member.Dht.StatusAsync());
    }

    private void Finish()
    {
        _left = 0;
        _world.WaitForUserCode(static _ => true);
        _faults.End();
        if (Depopulated) return;
        _ledger.CancelWaits();
        _world.RunUntil(() =>
        {
            _faults.NoticeDepopulation();
            _world.WaitForUserCode(static _ => true);
            _ledger.Look();
            return Depopulated || (_open.Count == 0 && _ledger.Open == 0);
        }, "The end of all calls", () => _ledger.Describe());
        if (Depopulated) return;
        _world.Settle();
        // Puts without a caller too: one that stays open would in the end refuse its member's others.
        _world.RunUntil(() => _world.Members.TrueForAll(static m => !m.InView || m.Host.Current is null or { IsOver: true } || !m.Host.Current.Coordinator.Standing().Any()), "The end of puts without a caller");
        _ledger.Look();
    }

    private void EndView(List<HarnessMember> survivors, List<HarnessMember> lost)
    {
        foreach (var operation in _open)
            if (operation.Read is { IsCompletedSuccessfully: true } read) Saw(operation, read.Result);
        _sights.ViewChange(survivors, lost);
    }

    private void Saw(SurfaceOperation operation, List<(long[]? Elements, ulong Version)> read)
    {
        if (operation.Level == ConsistencyLevel.Ordered)
            _sights.Returned(operation.Records[0].Op, _world.Members[operation.Through], read.Select((found, i) => ($"{operation.Keys[i].Map}:{operation.Keys[i].Key}", found.Elements is null ? 0 : found.Version)));
    }

    private static IEnumerable<(string Key, ulong Version)> Versions(HarnessMember member, LocalSlice slice)
    {
        foreach (string map in SurfaceDriver.Lists)
            foreach (var (key, found) in slice.Of(SurfaceDriver.List(member.Dht, map))) yield return ($"{map}:{key}", found.Version);
        foreach (string map in SurfaceDriver.Values)
            foreach (var (key, found) in slice.Of(SurfaceDriver.Value(member.Dht, map))) yield return ($"{map}:{key}", found.Version);
    }

    /// <summary>What was answered before a shard was lost is judged too; there are no replicas to compare then.</summary>
    private string? Judge()
    {
        string? wrong = _world.EndedForNothing();
        if (wrong is null && !Depopulated) wrong = _world.CompareReplicas(mayBeMalformed: _liar is not null, each: (shard, member, slice) =>
        {
            var state = new Dictionary<string, HistoryValue>();
            var versions = new Dictionary<string, long>();
            foreach (string map in SurfaceDriver.Lists)
                foreach (var (key, found) in slice.Of(SurfaceDriver.List(member.Dht, map))) (state[$"{map}:{key}"], versions[$"{map}:{key}"]) = (HistoryValue.List([.. found.Value]), (long)found.Version);
            foreach (string map in SurfaceDriver.Values)
                foreach (var (key, found) in slice.Of(SurfaceDriver.Value(member.Dht, map))) (state[$"{map}:{key}"], versions[$"{map}:{key}"]) = (SurfacePart.ElementOf(found.Value), (long)found.Version);
            Recorder.Final($"m{member.Index}", state, versions, shard);
        });
        if (wrong is not null) return wrong;
        var report = StrictSerializabilityChecker.Check(_sights.Without(Recorder.ToHistory()));
        return report.Passed ? null : report.ToString();
    }
}
