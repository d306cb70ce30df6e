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
    public PutResult? Result { get; set; }

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
        Record(HistoryFunctions.Append, [.. Parts.Index().Where(p => p.Item.Kind == PartKind.Append).Select(p => p.Index)]);
        Record(HistoryFunctions.Put, [.. Parts.Index().Where(p => p.Item.Kind is PartKind.Put or PartKind.Remove).Select(p => p.Index)]);

        void Record(string function, int[] pairs)
        {
            if (pairs.Length == 0) return;
            Records.Add((recorder.Invoke(client, $"m{member}", function, [.. pairs.Select(i => Parts[i].Name)],
                [.. pairs.Select(i => Parts[i].Kind == PartKind.Remove ? HistoryValue.Absent : Parts[i].Element)], of, Records.Count > 0 ? Records[0].Op : null), pairs));
        }
    }

    /// <summary>Writes what became of a put that is answered.</summary>
    public void Ok(HistoryRecorder recorder, PutResult result)
    {
        foreach (var (op, pairs) in Records)
            recorder.Ok(op, null, result.Versions.Count == 0 ? null : [.. pairs.Select(i => (long?)result.Versions[i])]);
    }
}
