using Ida.Coordination;
using Ida.Testing.Calls;
using Ida.Testing.Checking;

namespace Ida.Scenarios;

/// <summary>The calls of operations, how they end, and what is done then.</summary>
internal sealed partial class SurfaceSchedule
{
    private readonly Stack<HarnessMember> _outer = [];

    private void Call(SurfaceOperation operation, HarnessMember member, bool first, bool plain = false)
    {
        operation.Open++;
        operation.Calls++;
        operation.Through = member.Index;
        // At the end, retries that only have to find out an outcome are plain.
        plain |= _left <= 0 && !first;
        var timing = plain ? SurfaceTiming.Plain : SurfaceTiming.Draw(_random, _drawn, _world.Deliveries, retry: !first);
        if (!plain && Follows(operation, member) && _followers.Next(2) == 0)
        {
            _drawn.Draw(SurfaceNames.Follower);
            timing = timing with { Timeout = TimeSpan.FromMicroseconds(1 + _followers.Next(20_000)) };
        }
        var level = operation.IsPut && !plain && !operation.IsImpostor ? LevelOf(operation) : operation.Asked;
        ConsistencyLevel? named = level == _world.Options.Member.Level && _defaults.Next(2) == 0 ? null : level;
        if (named is null) _drawn.Draw(SurfaceNames.TableLevel);
        var put = operation.IsPut ? new PutOptions { Level = named, Timeout = timing.Timeout, Operation = operation.Id } : null;
        var get = operation.IsPut ? null : new GetOptions { Level = named, Timeout = timing.Timeout };
        // A call without any option passes no options at all.
        if (put == new PutOptions()) put = null;
        if (get == new GetOptions()) get = null;
        var token = timing.Source?.Token ?? default;
        if (!first && operation.WasNamed) StallOwner(operation.Id!.Value, member);
        (CallKind kind, Task task) = operation.IsPut ? _driver.Put(member.Dht, operation.Parts, put, operation.IsAlone, token) : (CallKind.Get, (Task)_driver.GetAsync(member.Dht, operation.Keys, get, token));
        operation.Read = task as Task<List<(long[]? Elements, ulong Version)>>;
        // Such a call must be refused at once, so there is no question whether its put was executed.
        if (token.IsCancellationRequested && !task.IsCanceled) throw new ScenarioFailedException($"A call of {operation.Client} whose token was cancelled before it was taken.");
        _ledger.Begin(new(kind, $"of {operation.Client}", member, task, _world.Now, timing.Timeout ?? TimeSpan.Zero)
        {
            Source = timing.Source, CancelAt = timing.CancelAt, CancelInView = timing.CancelInView, Options = [.. timing.Options, SurfaceTiming.OptionOf(named)],
            Ended = ended => Ended(operation, kind, ended, level), Lost = () => Lost(operation),
        });
        if (timing.CancelQueued) timing.Source!.Cancel();
        Turn(member);
    }

    /// <summary>Whether a call at this member will wait for an earlier call of the same put, whose caller gave up.</summary>
    private static bool Follows(SurfaceOperation operation, HarnessMember member) => operation is { IsPut: true, IsImpostor: false, Id: { } id }
        && member.Host.Current!.Coordinator.Standing().Any(one => one.Op.Id == id && one is { Place: OperationPhase.Detached, Op.Follower: null });

    // Some calls of a put are at another level than the put. One that may return before its execution does not end a put that is recorded as strict.
    private ConsistencyLevel LevelOf(SurfaceOperation operation)
    {
        if (_levels.Next(8) != 0) return operation.Asked;
        _drawn.Draw(SurfaceNames.OtherLevel);
        return operation.Asked == ConsistencyLevel.Strict ? ConsistencyLevel.Ordered : ConsistencyLevel.Strict;
    }

    // The member that gave the put its id is asked whether it did, and may be in a long turn.
    private void StallOwner(OperationId put, HarnessMember asks)
    {
        var owner = _world.Members.Find(m => m.InView && m != asks && m.Host.Current is { IsOver: false } layer && layer.State.Session == put.Session);
        if (owner is null) return;
        if (!_world.IsStalled(owner) && _stalls.Next(3) == 0) owner.Stall(TimeSpan.FromMilliseconds(100 + _stalls.Next(3_000)));
        if (_world.IsStalled(owner)) _drawn.Draw(SurfaceNames.AsksStalled);
    }

    // Not within a turn of the same member, as where a function of an update calls.
    private void Turn(HarnessMember member)
    {
        var outer = _world.Running;
        if (_world.IsStalled(member) || outer == member || _outer.Contains(member)) return;
        if (outer is not null) _outer.Push(outer);
        member.Turn(static () => { });
        if (outer is not null) _world.Running = _outer.Pop();
    }

    private void Ended(SurfaceOperation operation, CallKind kind, Task task, ConsistencyLevel level)
    {
        operation.Open--;
        if (Told(operation, task) is { } told)
        {
            // A call that tells what only the execution shows returns after the execution, at any level.
            bool early = level == ConsistencyLevel.Ordered && !operation.TellsAlways && told is { Id: not null, Failed: false };
            if (early && operation.Level == ConsistencyLevel.Strict) Accepted(operation, told);
            else PutEnded(operation, told);
        }
        else if (task is Task<List<(long[]? Elements, ulong Version)>> { IsCompletedSuccessfully: true } get) GetEnded(operation, get.Result);
        else operation.Unknown |= MayBeExecuted(kind, CallErrors.ErrorOf(task)!, operation);
        GoOn(operation);
    }

    /// <summary>What a put was told; null if it ended with another error. A resolver that threw is such an end, too.</summary>
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

    /// <summary>
    /// If no call of the operation is open: retries it if its id is known and its outcome is not, and otherwise records it. What became of a put must not be forgotten while the
    /// member that gave its id is there.
    /// </summary>
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
        if (_random.Next(4) == 0 && operation.Parts.Count < 60 && operation.Parts.Exists(static part => part.Kind != PartKind.Fail) && _drawn.Allows(SurfaceNames.OtherPairs))
        {
            _drawn.Draw(SurfaceNames.OtherPairs);
            var other = new SurfaceOperation($"c{++_name}", operation.Asked) { IsImpostor = true, Id = operation.Id };
            other.Parts.AddRange(OtherEffect(operation, member.Dht) ?? OtherPairs(operation));
            other.Invoke(Recorder, member.Index);
            _open.Add(other);
            Call(other, member, first: true);
            return;
        }
        if (operation.Open > 1) _drawn.Draw(SurfaceNames.RetryTwice);
        _drawn.Draw(member.Index == operation.Through ? SurfaceNames.RetrySame : SurfaceNames.RetryOther);
        Call(operation, member, first: false);
    }

    private IEnumerable<SurfacePart> OtherPairs(SurfaceOperation operation)
    {
        long element = ++_element;
        return operation.Parts.Where(static part => part.Kind != PartKind.Fail)
            .Select(part => new SurfacePart(SurfaceDriver.Lists.Contains(part.Map) ? PartKind.Append : PartKind.Put, part.Map, part.Key, element, 0));
    }

    /// <summary>
    /// The same keys, but one is removed instead of checked, or the other way round, or must have another version. Null if the put brings values, since each of these is put only
    /// once.
    /// </summary>
    private List<SurfacePart>? OtherEffect(SurfaceOperation operation, Dht dht)
    {
        // Two operations drawn in this way may be the same put.
        if (operation.HasDouble || !operation.Parts.TrueForAll(static part => part.Kind is PartKind.Remove or PartKind.Check) || operation.Parts.DistinctBy(part => SurfaceDriver.ShardOf(dht, part)).Count() > 1) return null;
        _drawn.Draw(SurfaceNames.OtherEffect);
        operation.HasDouble = true;
        var parts = operation.Parts.ToList();
        int at = _conditions.Next(parts.Count);
        bool swaps = _conditions.Next(2) == 0;
        parts[at] = parts[at] switch
        {
            { Kind: PartKind.Remove, Expected: not null } removed when swaps => removed with { Kind = PartKind.Check },
            { Kind: PartKind.Check } looked when swaps && SurfaceDriver.Values.Contains(looked.Map) => looked with { Kind = PartKind.Remove },
            { Kind: PartKind.Remove, Expected: not null } removed when _conditions.Next(2) == 0 => removed with { Expected = null, ExpectedValue = null },
            { Expected: { } version } other => other with { Expected = (version | SurfaceKnowledge.Never) + 1, ExpectedValue = null },
            var removed => removed with { Expected = 0, ExpectedValue = HistoryValue.Absent },
        };
        return parts;
    }

    /// <summary>An Ordered call of a put that is recorded as strict has returned. The outcome, which its caller was told, may be forgotten now; a strict call is to follow.</summary>
    private void Accepted(SurfaceOperation operation, SurfaceTold result)
    {
        operation.WasAccepted = true;
        CheckNever(operation, told: true);
        CheckResult(operation, result);
        operation.Id ??= result.Id;
        (operation.Unknown, operation.WasNamed) = (true, false);
    }

    // Judged in whichever order the calls are told.
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
        operation.Ok(Recorder, result, _known, _exclusions);
        _slices.Add(operation, result, operation is { Calls: 1, Level: ConsistencyLevel.Strict } ? _world.Members[operation.Through] : null);
        for (int i = 0; i < operation.Parts.Count && result is { IsApplied: true, Versions.Count: > 0 }; i++)
        {
            var part = operation.Parts[i];
            if (part.Kind is PartKind.Put or PartKind.Remove) _known.Learn(part.Name, part.Kind == PartKind.Put ? result.Versions[i] : 0, part.Kind == PartKind.Put ? part.Element : HistoryValue.Absent);
        }
    }

    private void CheckResult(SurfaceOperation operation, SurfaceTold result)
    {
        if (!result.IsApplied && !operation.Expects) throw new ScenarioFailedException($"{operation.Client} expects nothing, and was told that it is not applied.");
        if (result is { IsApplied: true, Versions.Count: > 0 } && operation.Parts.Exists(static part => part.Kind == PartKind.Fail))
            throw new ScenarioFailedException($"A pair of {operation.Client} fails, but no error was told.");
        if (operation.Id is { } id && !_winner.TryAdd(id, operation) && _winner[id] != operation)
            throw new ScenarioFailedException($"Operation {id} was answered for {_winner[id].Client} and, with other pairs, for {operation.Client}.");
    }

    private void GetEnded(SurfaceOperation operation, List<(long[]? Elements, ulong Version)> read)
    {
        Saw(operation, read);
        HistoryValue[] values = [.. read.Select((found, i) => found.Elements is null ? HistoryValue.Absent : SurfaceDriver.Lists.Contains(operation.Keys[i].Map) ? HistoryValue.List(found.Elements) : (HistoryValue)found.Elements[0])];
        for (int i = 0; i < values.Length; i++) _known.Learn($"{operation.Keys[i].Map}:{operation.Keys[i].Key}", read[i].Elements is null ? 0 : read[i].Version, values[i]);
        operation.Done = true;
        _open.Remove(operation);
        Recorder.Ok(operation.Records[0].Op, values, [.. read.Select(found => found.Elements is null ? (long?)null : (long)found.Version)]);
    }

    /// <summary>Whether a put that ended with this error may have taken effect. The ledger has judged whether the guide names the error for such a call.</summary>
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
                // It says, also to a retry, that the put was not executed and never will be.
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
}
