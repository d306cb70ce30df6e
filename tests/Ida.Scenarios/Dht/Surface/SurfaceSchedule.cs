using GroupCore.Runtime;
using Ida.Testing;
using Ida.Testing.Calls;
using Ida.Testing.Checking;

namespace Ida.Scenarios;

/// <summary>
/// One random schedule of a careless program: every public call with every option, misuse, cancellation and expiry at every step, slow user
/// code, small bounds and large values, while members crash, are excluded, join, leave and close. Every call must end in time, with a result
/// or an error that is documented, and the history of what was called and answered is judged.
/// </summary>
internal sealed partial class SurfaceSchedule
{
    private const int MostAttempts = 6;
    private readonly SimulationCase _run;
    private readonly DhtWorld _world;
    private readonly Prng _random, _stalls, _levels, _followers, _conditions, _defaults, _updates, _ids;

    // Set if few bytes may be in flight; null for the default.
    private readonly Prng? _heavy;
    private readonly DhtFaults _faults;
    private readonly Ingredients _drawn;
    private readonly SurfaceDriver _driver;
    private readonly SurfaceLedger _ledger;
    private readonly SurfaceMisuse _misuse;
    private readonly SurfaceQuestions _questions;
    private readonly SurfaceMaps _maps;
    private readonly SurfaceLiar? _liar;
    private readonly LostSights _sights = new(Versions);
    private readonly List<SurfaceOperation> _open = [];
    private readonly Dictionary<OperationId, SurfaceOperation> _winner = [];
    private readonly SurfaceKnowledge _known;
    private readonly SurfaceExclusions _exclusions = new();
    private readonly SurfaceSlices _slices = new();
    private readonly string[] _keys;
    private readonly OperationId _session;
    private int _left, _misuses, _closes, _name;
    private bool _isOver;
    private long _element;
    private ulong _sequence = DhtWorld.Named;

    public SurfaceSchedule(SimulationCase run, Ingredients ingredients, CallTable calls, string? without = null)
    {
        (_run, _random, _stalls, _levels, _followers, _drawn) = (run, new(run.Seed), new(run.Seed ^ 0x57A11), new(run.Seed ^ 0x1E7E1), new(run.Seed ^ 0xF0110), ingredients);
        (_conditions, _defaults, _updates, _ids) = (new(run.Seed ^ 0xC0DD), new(run.Seed ^ 0xDEFA), new(run.Seed ^ 0x0DA7E), new(run.Seed ^ 0x1D));
        _known = new(_conditions);
        _world = new(run.Seed ^ 0x5EED, without);
        Recorder = new(clock: () => _world.Now);
        var bytes = new Prng(run.Seed ^ 0xB17E5);
        if (bytes.Next(4) == 0) _heavy = bytes;
        _world.Options = DrawLevel(DrawBytes(DrawSecond(DrawOptions(), new(run.Seed ^ 0x2ED))));
        DrawLinks(new(run.Seed ^ 0x117C5));
        DrawLost(new(run.Seed ^ 0x605E));
        DrawLate(new(run.Seed ^ 0x1A7E));
        _ledger = new(_world, ingredients, calls);
        _world.Declare = new SurfaceResolvers(_world, new(run.Seed ^ 0xE87A), ingredients, CallBack).Declare;
        _driver = new(_random, _conditions, ingredients, _ledger);
        _misuse = new(_world, _random, ingredients, _ledger);
        _questions = new(_world, new(run.Seed ^ 0xA5C), ingredients, _ledger, _slices, Recorder.Now);
        _maps = new(_world, new(run.Seed ^ 0x3A95), ingredients, _ledger);
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
            ShardSize = 2, TargetSize = 4, Hash = hash < 2 ? new CarelessHash(hash == 1) : hash < 4 ? StableHash.XxHash64 : new LastByteHash(),
            Member = new()
            {
                Timeout = TimeSpan.FromHours(10), TakeoverAfter = TimeSpan.FromMilliseconds(20), HandoverTimeout = TimeSpan.FromSeconds(2),
                MaxInFlight = bounds == 0 ? 1 + _random.Next(2) : 1024,
                MaxOperations = bounds == 1 ? 2 + _random.Next(6) : 16_384,
                MaxOutcomeBytes = bounds == 3 ? 4096 : 64 << 20,
                MaxQueuePerKey = bounds == 2 ? 1 + _random.Next(3) : 4096,
            },
        };
    }

    // Two small bounds at once: puts wait for their place while outcomes have to go.
    private DhtOptions DrawSecond(DhtOptions options, Prng random)
    {
        if (random.Next(8) != 0) return options;
        _drawn.Draw(SurfaceNames.FewOfBoth);
        return options with { Member = options.Member with { MaxInFlight = 1 + random.Next(2), MaxOutcomeBytes = 4096 } };
    }

    // Room for a few large values.
    private DhtOptions DrawBytes(DhtOptions options)
    {
        if (_heavy is null) return options;
        _drawn.Draw(SurfaceNames.FewBytes);
        return options with { Member = options.Member with { MaxInFlightBytes = (1 << 20) + _heavy.Next(1 << 20) } };
    }

    // The level of all calls that name none.
    private DhtOptions DrawLevel(DhtOptions options)
    {
        if (_defaults.Next(4) != 0) return options;
        _drawn.Draw(SurfaceNames.TableOrdered);
        return options with { Member = options.Member with { Level = ConsistencyLevel.Ordered } };
    }

    // Room for less than one large value, so that nearly everything waits, or for a few.
    private void DrawLinks(Prng random)
    {
        if (random.Next(6) != 0) return;
        _drawn.Draw(SurfaceNames.SmallLinks);
        _world.BulkBytes = random.Next(2) == 0 ? 200 + random.Next(4_000) : 100_000 + random.Next(900_000);
    }

    // The outcomes of one member that is gone are remembered, but not all of those of several.
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

    // Full queues beside puts that others take over, since the frames that would end these take long.
    private int DrawSlow(Prng random)
    {
        if (_world.Options.Member is { MaxOperations: > 100, MaxQueuePerKey: > 100 } || random.Next(2) != 0) return 0;
        _drawn.Draw(SurfaceNames.SlowBounds);
        return 2 + random.Next(3);
    }

    private void Step()
    {
        if (_liar?.Lie() is { } lie) _drawn.Draw(lie);
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
        _maps.Step();
        _ledger.Look();
        LookAtPlaces();
    }

    // No member may have more operations in flight than its options allow, nor more bytes, unless one operation alone has them. Parked operations have given their place back,
    // and take one again when what they wait for comes.
    private void LookAtPlaces()
    {
        int most = _world.Options.Member.MaxInFlight;
        if (most > 100 && _heavy is null) return;
        foreach (var member in _world.Members)
        {
            if (!member.InView || member.Host.Current is not { IsOver: false } layer) continue;
            var taken = layer.Coordinator.Standing().Where(static one => one.Op is { IsInFlight: true, IsParked: false }).ToList();
            if (taken.Count > most) throw new ScenarioFailedException($"{taken.Count} operations of m{member.Index} are on the way at once, and {most} may be.");
            long bytes = taken.Sum(static one => (long)one.Op.AskedBytes);
            if (taken.Count > 1 && bytes > _world.Options.Member.MaxInFlightBytes)
                throw new ScenarioFailedException($"{taken.Count} operations of m{member.Index} with {bytes} bytes are on the way at once, and {_world.Options.Member.MaxInFlightBytes} may be.");
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
        var level = _random.Next(8) == 0 || (_world.Options.Member.Level == ConsistencyLevel.Ordered && _defaults.Next(3) == 0) ? ConsistencyLevel.Ordered : ConsistencyLevel.Strict;
        if (level == ConsistencyLevel.Ordered) _drawn.Draw(SurfaceNames.Ordered);
        if (_conditions.Next(12) == 0)
        {
            Update(member, level);
            return;
        }
        // One call at a time for each name, which says more about their order.
        var operation = Draw(new($"c{++_name}", level));
        if (operation.IsPut && _conditions.Next(3) == 0) ExpectSome(operation, member.Dht);
        if (operation.Parts.Exists(static part => part.Kind == PartKind.Fail)) MarkDead(operation, member.Dht);
        operation.IsAlone = level == ConsistencyLevel.Ordered && operation.Parts is [{ Kind: PartKind.Append or PartKind.Remove, Expected: null }] && _conditions.Next(2) == 0;
        if (level == ConsistencyLevel.Ordered && operation.TellsAlways) _drawn.Draw(SurfaceNames.StrictAnyway);
        if (operation.IsPut && _random.Next(2) == 0) operation.Id = IdFor(member);
        operation.Invoke(Recorder, member.Index);
        _open.Add(operation);
        Call(operation, member, first: true);
    }

    /// <summary>An id that this member or another gives; or a made-up one, which stands for an id that the member of a session has given, whatever becomes of that member.</summary>
    private OperationId IdFor(HarnessMember member)
    {
        if (_ids.Next(3) != 0) return new(_session.Session, ++_sequence);
        _drawn.Draw(SurfaceNames.TakenId);
        return (_ids.Next(3) == 0 ? Pick() ?? member : member).Dht.NewOperation();
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

    // Only a single shard can tell whether expectations hold, so the parts of other shards go.
    private void ExpectSome(SurfaceOperation operation, Dht dht)
    {
        var parts = operation.Parts;
        int shard = SurfaceDriver.ShardOf(dht, parts[0]);
        parts.RemoveAll(part => SurfaceDriver.ShardOf(dht, part) != shard);
        bool only = _conditions.Next(6) == 0;
        if (only && parts.Exists(static part => part.IsChange)) parts.RemoveAll(static part => !part.IsChange);
        for (int i = 0; i < parts.Count; i++)
        {
            // A part that fails has a key of which nothing is known.
            if (!parts[i].IsChange || (i > 0 && !only && _conditions.Next(3) == 0)) continue;
            var (version, value) = _known.Guess(parts[i].Name);
            parts[i] = parts[i] with { Expected = version, ExpectedValue = value, Kind = only || (i > 0 && _conditions.Next(3) == 0) ? PartKind.Check : parts[i].Kind };
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

    // A resolver that calls the library. It does not wait, and its calls must end as any others do.
    private void CallBack(HarnessMember member)
    {
        if (member.Dht is null) return;
        _drawn.Draw(SurfaceNames.ResolverCalls);
        _ledger.Begin(CallKind.Put, "of a resolver", member, member.Dht.Map<string, string>("x").PutAsync("r0", "r").AsTask());
        _ledger.Begin(CallKind.Status, "of a resolver", member, member.Dht.StatusAsync());
    }

    private void Finish()
    {
        (_left, _isOver) = (0, true);
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
        // Puts without a caller must end, too: one that stays open would finally make its member refuse others.
        _world.RunUntil(() =>
        {
            _world.WaitForUserCode(static _ => true);
            return _world.Members.TrueForAll(static m => !m.InView || m.Host.Current is null or { IsOver: true } || !m.Host.Current.Coordinator.Standing().Any());
        }, "The end of puts without a caller");
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

    /// <summary>Answers given before a shard was lost are judged, too; there are no replicas to compare then.</summary>
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
        wrong ??= _exclusions.Wrong(Recorder.ToHistory());
        if (!Depopulated) wrong ??= _slices.Wrong(Recorder.ToHistory(), who => _world.Members.Exists(member => $"m{member.Index}" == who && member is { InView: true, Host.Current: { IsOver: false } }));
        if (wrong is not null) return wrong;
        var report = StrictSerializabilityChecker.Check(_sights.Without(Recorder.ToHistory()));
        return report.Passed ? null : report.ToString();
    }
}
