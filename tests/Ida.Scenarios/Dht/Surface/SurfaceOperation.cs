using Ida.Testing.Checking;

namespace Ida.Scenarios;

/// <summary>One logical put or read of a client: what it asks for, the calls that were made for it, and what is known of its outcome.</summary>
internal sealed class SurfaceOperation(string client, ConsistencyLevel level)
{
    public string Client => client;

    public ConsistencyLevel Level => level;

    /// <summary>The pairs of a put; empty for a read.</summary>
    public List<SurfacePart> Parts { get; } = [];

    /// <summary>The keys of a read.</summary>
    public List<(string Map, string Key)> Keys { get; } = [];

    public bool IsPut => Parts.Count > 0;

    /// <summary>Its name, when the caller gave one or was told one.</summary>
    public OperationId? Id { get; set; }

    /// <summary>The name is one that its member gave it, and told when the outcome was not known.</summary>
    public bool WasNamed { get; set; }

    /// <summary>A retry was told that nobody knows any more what became of it.</summary>
    public bool Forgotten { get; set; }

    /// <summary>Its records in the history, with the indices of the pairs that each covers.</summary>
    public List<(string Op, int[] Pairs)> Records { get; } = [];

    private string? _before, _found;

    /// <summary>Calls that have not ended.</summary>
    public int Open { get; set; }

    /// <summary>Calls so far.</summary>
    public int Calls { get; set; }

    /// <summary>The member of the last call.</summary>
    public int Through { get; set; } = -1;

    /// <summary>A call ended, or was lost with its member, so that it may have taken effect.</summary>
    public bool Unknown { get; set; }

    /// <summary>A call was told that it was not executed and will not be.</summary>
    public bool IsNever { get; set; }

    /// <summary>A call that asked for less than others was told that it is done.</summary>
    public bool WasAccepted { get; set; }

    /// <summary>The call of a read.</summary>
    public Task<List<(long[]? Elements, ulong Version)>>? Read { get; set; }

    /// <summary>It was answered.</summary>
    public SurfaceTold? Result { get; set; }

    /// <summary>Indices of the pairs in shards where a resolver throws: these are never applied, whatever becomes of the others.</summary>
    public HashSet<int> Dead { get; } = [];

    public bool Expects => Parts.Exists(static part => part.Expected is not null);

    /// <summary>It is recorded, whatever became of it.</summary>
    public bool Done { get; set; }

    /// <summary>It goes under the id of another, with other pairs: it is not to be repeated.</summary>
    public bool IsImpostor { get; init; }

    /// <summary>Writes the invocation. Merges and puts of one call are two records of one operation.</summary>
    public void Invoke(HistoryRecorder recorder, int member)
    {
        var of = level == ConsistencyLevel.Strict ? HistoryLevel.Strict : HistoryLevel.Ordered;
        if (!IsPut)
        {
            Records.Add((recorder.Invoke(client, $"m{member}", HistoryFunctions.Get, [.. Keys.Select(k => $"{k.Map}:{k.Key}")], null, of), []));
            return;
        }
        // What is never applied is not recorded: so it is an anomaly where it shows.
        Record(HistoryFunctions.Append, [.. Parts.Index().Where(p => p.Item.Kind == PartKind.Append && !Dead.Contains(p.Index)).Select(p => p.Index)]);
        Record(HistoryFunctions.Put, [.. Parts.Index().Where(p => p.Item.Kind is PartKind.Put or PartKind.Remove && !Dead.Contains(p.Index)).Select(p => p.Index)]);
        if (Records.Count == 0) return;
        // A put that is applied was told what its key held before: all of it happens at one place of the order.
        if (Expects || Parts is [{ Kind: PartKind.Append or PartKind.Remove }]) _before = recorder.Invoke(client, $"m{member}", HistoryFunctions.Get, [.. Looked().Select(static part => part.Name)], null, of, Records[0].Op);
        // One that is not applied was told what it found instead.
        if (Expects) _found = recorder.Invoke($"{client}f", $"m{member}", HistoryFunctions.Get, [.. Looked().Select(static part => part.Name)], null, of);

        void Record(string function, int[] pairs)
        {
            if (pairs.Length == 0) return;
            Records.Add((recorder.Invoke(client, $"m{member}", function, [.. pairs.Select(i => Parts[i].Name)],
                [.. pairs.Select(i => Parts[i].Kind == PartKind.Remove ? HistoryValue.Absent : Parts[i].Element)], of, Records.Count > 0 ? Records[0].Op : null), pairs));
        }
    }

    /// <summary>Writes what became of a put that is answered. <paramref name="elementOf"/> tells what a key held with a version, as far as anybody was told.</summary>
    public void Ok(HistoryRecorder recorder, SurfaceTold told, Func<string, ulong, long?> elementOf)
    {
        if (!told.IsApplied)
        {
            foreach (var (op, _) in Records) recorder.Fail(op);
            if (_before is { } unmet) recorder.Fail(unmet);
            Found(recorder, told, elementOf);
            return;
        }
        // A removed key that had no value has no version.
        foreach (var (op, pairs) in Records) recorder.Ok(op, null, told.Versions.Count == 0 ? null : [.. pairs.Select(i => told.Versions[i] is > 0 and var version ? (long?)version : null)]);
        if (_found is { } other) recorder.Fail(other);
        if (_before is not { } before) return;
        if (Expects)
        {
            foreach (var part in Looked())
                if (part is { Expected: > 0, ExpectedElement: null }) throw new ScenarioFailedException($"{client} was applied, though {part.Name} never had version {part.Expected}.");
            recorder.Ok(before, [.. Looked().Select(static part => part.ExpectedElement is { } element ? (HistoryValue)element : HistoryValue.Absent)], [.. Looked().Select(static part => part.Expected is > 0 and var version ? (long?)version : null)]);
        }
        else if (told.Before is { } list) recorder.Ok(before, [list.Length == 0 ? HistoryValue.Absent : HistoryValue.List([.. list])]);
        else if (told.WasAbsent || (told.Versions.Count > 0 && told.Versions[0] == 0)) recorder.Ok(before, [HistoryValue.Absent]);
        else recorder.Info(before);
    }

    /// <summary>Writes that nothing more is known of a put: it may have been applied, or was not.</summary>
    public void End(HistoryRecorder recorder, bool mayBeApplied)
    {
        foreach (var (op, _) in Records) Write(op);
        if (_before is { } before) Write(before);
        if (_found is { } found) recorder.Fail(found);

        void Write(string op)
        {
            if (mayBeApplied) recorder.Info(op);
            else recorder.Fail(op);
        }
    }

    private void Found(HistoryRecorder recorder, SurfaceTold told, Func<string, ulong, long?> elementOf)
    {
        if (told.Versions.Count > 0 && !Parts.Index().Any(p => p.Item.Expected is { } expected && told.Versions[p.Index] != expected))
            throw new ScenarioFailedException($"{client} was not applied, though its keys have the versions {string.Join(", ", told.Versions)} that it expects.");
        var found = told.Versions.Count == 0 ? [] : Parts.Index().Where(static p => p.Item.Expected is not null).Select(p => (Version: told.Versions[p.Index], Element: elementOf(p.Item.Name, told.Versions[p.Index]))).ToList();
        if (found.Count == 0 || found.Exists(static one => one is { Version: > 0, Element: null })) recorder.Fail(_found!);
        else recorder.Ok(_found!, [.. found.Select(static one => one.Element is { } element ? (HistoryValue)element : HistoryValue.Absent)], [.. found.Select(static one => one.Version > 0 ? (long?)one.Version : null)]);
    }

    // The keys of which a put is told what they held.
    private IEnumerable<SurfacePart> Looked() => Expects ? Parts.Where(static part => part.Expected is not null) : Parts;
}
