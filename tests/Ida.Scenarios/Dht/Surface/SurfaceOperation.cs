using Ida.Testing.Checking;

namespace Ida.Scenarios;

/// <summary>One logical put or read of a client: what it asks for, the calls that were made for it, and what is known of its outcome.</summary>
internal sealed class SurfaceOperation(string client, ConsistencyLevel asked)
{
    private string? _before, _found, _given;

    public string Client => client;

    /// <summary>The level that its calls ask for.</summary>
    public ConsistencyLevel Asked => asked;

    /// <summary>The level by which it is judged: <see cref="ConsistencyLevel.Strict"/>, whatever is asked for, if its calls tell what only the execution shows.</summary>
    public ConsistencyLevel Level => TellsAlways ? ConsistencyLevel.Strict : asked;

    /// <summary>It has one key, and each of its calls tells what became of that: whether it was there, or what it holds.</summary>
    public bool IsAlone { get; set; }

    /// <summary>Whether each of its calls tells what only the execution shows.</summary>
    public bool TellsAlways => Expects || IsAlone;

    /// <summary>The pairs of a put; empty for a read.</summary>
    public List<SurfacePart> Parts { get; } = [];

    /// <summary>The keys of a read.</summary>
    public List<(string Map, string Key)> Keys { get; } = [];

    public bool IsPut => Parts.Count > 0;

    /// <summary>Its id, if the caller gave one or was told one.</summary>
    public OperationId? Id { get; set; }

    /// <summary>Its id is one that its member gave, and told when the outcome was not known.</summary>
    public bool WasNamed { get; set; }

    /// <summary>A retry was told that nobody knows any more what became of it.</summary>
    public bool Forgotten { get; set; }

    /// <summary>Its records in the history, with the indices of the pairs that each covers.</summary>
    public List<(string Op, int[] Pairs)> Records { get; } = [];

    /// <summary>Calls that have not ended.</summary>
    public int Open { get; set; }

    /// <summary>Calls so far.</summary>
    public int Calls { get; set; }

    /// <summary>The member of the last call.</summary>
    public int Through { get; set; } = -1;

    /// <summary>It may have taken effect, since a call failed in such a way or was lost with its member.</summary>
    public bool Unknown { get; set; }

    /// <summary>A call was told that it was not executed and will not be.</summary>
    public bool IsNever { get; set; }

    /// <summary>A call at a lower level than its own was told that it is done.</summary>
    public bool WasAccepted { get; set; }

    /// <summary>The call of a read.</summary>
    public Task<List<(long[]? Elements, ulong Version)>>? Read { get; set; }

    /// <summary>What it was told, once it is answered.</summary>
    public SurfaceTold? Result { get; set; }

    /// <summary>Indices of the pairs in shards where a resolver throws: these are never applied, whatever becomes of the others.</summary>
    public HashSet<int> Dead { get; } = [];

    public bool Expects => Parts.Exists(static part => part.Expected is not null);

    /// <summary>It is recorded, whatever became of it.</summary>
    public bool Done { get; set; }

    /// <summary>Another operation uses its id, and differs only in what it does to a key or expects of it.</summary>
    public bool HasDouble { get; set; }

    /// <summary>It uses the id of another operation with other pairs, and is not to be retried.</summary>
    public bool IsImpostor { get; init; }

    /// <summary>Writes the invocation. Merges and puts of one call are two records of one operation.</summary>
    public void Invoke(HistoryRecorder recorder, int member)
    {
        if (!IsPut)
        {
            Records.Add((Look(recorder, member, client, [.. Keys.Select(k => $"{k.Map}:{k.Key}")], null), []));
            return;
        }
        // Pairs that are never applied are not recorded, so that it is an anomaly if one shows.
        Record(HistoryFunctions.Append, [.. Parts.Index().Where(p => p.Item.Kind == PartKind.Append && !Dead.Contains(p.Index)).Select(p => p.Index)]);
        Record(HistoryFunctions.Put, [.. Parts.Index().Where(p => p.Item.Kind is PartKind.Put or PartKind.Remove && !Dead.Contains(p.Index)).Select(p => p.Index)]);
        string? whole = Records.Count > 0 ? Records[0].Op : null;
        // An applied put was told what its keys held before: that and the put happen at one place of the order.
        if (Expects || Parts is [{ Kind: PartKind.Append or PartKind.Remove }]) _before = Look(recorder, member, client, NamesLookedAt(), whole);
        // A put that is not applied was told what it found instead.
        if (Expects) _found = Look(recorder, member, client + "f", NamesLookedAt(), null);

        void Record(string function, int[] pairs)
        {
            if (pairs.Length == 0) return;
            Records.Add((recorder.Invoke(client, $"m{member}", function, [.. pairs.Select(i => Parts[i].Name)],
                [.. pairs.Select(i => Parts[i].Kind == PartKind.Remove ? HistoryValue.Absent : Parts[i].Element)], RecordedLevel, Records.Count > 0 ? Records[0].Op : null), pairs));
        }
    }

    /// <summary>Writes the invocation of an update, which reads its key and puts there what follows from that.</summary>
    public void InvokeUpdate(HistoryRecorder recorder, int member)
    {
        Invoke(recorder, member);
        _before ??= Look(recorder, member, client, NamesLookedAt(), Records[0].Op);
        // For its last put, which may have its turn at any time of the update.
        _found = Look(recorder, member, client + "f", NamesLookedAt(), null);
        BeginToRead(recorder, member);
    }

    /// <summary>Writes what the function of an update was given: a strict read, whatever becomes of the update. The function may be called again.</summary>
    public void Given(HistoryRecorder recorder, int member, ulong version, HistoryValue value)
    {
        if (_given is not { } given) return;
        recorder.Ok(given, [value], [version > 0 ? (long?)version : null]);
        BeginToRead(recorder, member);
    }

    private void BeginToRead(HistoryRecorder recorder, int member) => _given = Look(recorder, member, client + "g", NamesLookedAt(), null);

    private void EndReading(HistoryRecorder recorder)
    {
        if (_given is { } given) recorder.Fail(given);
        _given = null;
    }

    /// <summary>The outcome of an update's last put is not known: from now on the operation is that put, which expects what the function was given.</summary>
    public void BecomeLastPut(ulong version, HistoryValue value) => Parts[0] = Parts[0] with { Expected = version, ExpectedValue = value };

    /// <summary>Writes that an update succeeded: what its function was given, and that what it made is stored.</summary>
    public void OkUpdate(HistoryRecorder recorder, ulong version, HistoryValue value)
    {
        recorder.Ok(Records[0].Op);
        recorder.Ok(_before!, [value], [version > 0 ? (long?)version : null]);
        recorder.Fail(_found!);
        EndReading(recorder);
    }

    /// <summary>Writes what became of an answered put. Values that it was told keys did not hold go to <paramref name="exclusions"/>.</summary>
    public void Ok(HistoryRecorder recorder, SurfaceTold told, SurfaceKnowledge known, SurfaceExclusions exclusions)
    {
        EndReading(recorder);
        if (!told.IsApplied)
        {
            foreach (var (op, _) in Records) recorder.Fail(op);
            if (_before is { } unmet) recorder.Fail(unmet);
            Found(recorder, told, known, exclusions);
            return;
        }
        // A removed key that had no value has no version.
        foreach (var (op, pairs) in Records) recorder.Ok(op, null, told.Versions.Count == 0 ? null : [.. pairs.Select(i => told.Versions[i] is > 0 and var version ? (long?)version : null)]);
        if (_found is { } other) recorder.Fail(other);
        foreach (var (i, part) in Parts.Index())
            if (part is { Kind: PartKind.Remove, Expected: null } && (told.WasThere == true || (told.Versions.Count > 0 && told.Versions[i] > 0))) exclusions.Add(Records[0].Op, part.Name, HistoryValue.Absent);
        if (_before is not { } before) return;
        // A resolver is asked only where all expectations are met.
        if (Expects)
        {
            foreach (var part in LookedAt())
                if (part.ExpectedValue is null) throw new ScenarioFailedException($"{client} was applied, though {part.Name} never had version {part.Expected}.");
            recorder.Ok(before, [.. LookedAt().Select(static part => part.ExpectedValue!.Value)], [.. LookedAt().Select(static part => part.Expected is > 0 and var version ? (long?)version : null)]);
        }
        else if (told.Before is { } list) recorder.Ok(before, [list.Length == 0 ? HistoryValue.Absent : HistoryValue.List([.. list])]);
        else if (told.WasThere == false || (told.Versions.Count > 0 && told.Versions[0] == 0)) recorder.Ok(before, [HistoryValue.Absent]);
        else recorder.Info(before);
    }

    /// <summary>Writes that nothing more is known of a put: it may have been applied, or was not.</summary>
    public void End(HistoryRecorder recorder, bool mayBeApplied)
    {
        foreach (var (op, _) in Records) Write(op);
        if (_before is { } before) Write(before);
        if (_found is { } found) recorder.Fail(found);
        EndReading(recorder);

        void Write(string op)
        {
            if (mayBeApplied) recorder.Info(op);
            else recorder.Fail(op);
        }
    }

    // A put that is not told what its keys hold has still learnt what its one key does not hold.
    private void Found(HistoryRecorder recorder, SurfaceTold told, SurfaceKnowledge known, SurfaceExclusions exclusions)
    {
        var parts = Parts.Index().Where(static p => p.Item.Expected is not null).ToList();
        if (told.Versions.Count > 0 && parts.TrueForAll(p => told.Versions[p.Index] == p.Item.Expected))
            throw new ScenarioFailedException($"{client} was not applied, though its keys have the versions {string.Join(", ", told.Versions)} that it expects.");
        var found = told.Versions.Count == 0 ? [] : parts.ConvertAll(p => (Version: told.Versions[p.Index], Value: known.ValueOf(p.Item.Name, told.Versions[p.Index])));
        if (found.Count > 0 && found.TrueForAll(static one => one.Value is not null))
        {
            recorder.Ok(_found!, [.. found.Select(static one => one.Value!.Value)], [.. found.Select(static one => one.Version > 0 ? (long?)one.Version : null)]);
            return;
        }
        recorder.Fail(_found!);
        foreach (var (i, part) in parts)
            if (part.ExpectedValue is { } value && (told.Versions.Count == 0 ? parts.Count == 1 : told.Versions[i] != part.Expected)) exclusions.Add(_found!, part.Name, value);
    }

    private HistoryLevel RecordedLevel => Level == ConsistencyLevel.Strict ? HistoryLevel.Strict : HistoryLevel.Ordered;

    private string Look(HistoryRecorder recorder, int member, string who, string[] keys, string? partOf) =>
        recorder.Invoke(who, $"m{member}", HistoryFunctions.Get, keys, null, RecordedLevel, partOf);

    private string[] NamesLookedAt() => [.. LookedAt().Select(static part => part.Name)];

    // The parts for whose keys a put is told what they held.
    private IEnumerable<SurfacePart> LookedAt() => Expects ? Parts.Where(static part => part.Expected is not null) : Parts;
}
