namespace Ida.Testing.Checking;

/// <summary>One key as an operation read or wrote it, with the version number where it is known.</summary>
public readonly record struct OperationAccess(string Key, HistoryValue Value, long? Version)
{
    /// <summary>Key, value and version.</summary>
    public override string ToString() => Version is { } version ? $"{Key}={Value}@{version}" : $"{Key}={Value}";

    /// <summary>What an operation read and wrote, from its invocation and, when it completed, its completion.</summary>
    internal static (OperationAccess[] Reads, OperationAccess[] Writes) Of(HistoryEvent invoke, HistoryEvent? ok)
    {
        switch (invoke.F)
        {
            case HistoryFunctions.Append or HistoryFunctions.Put: return ([], PairsOf(invoke, invoke.Values, ok));
            case HistoryFunctions.Delete: return ([], PairsOf(invoke, new HistoryValue[invoke.Keys?.Count ?? 0], ok));
            case HistoryFunctions.Get: return (ok is null ? [] : PairsOf(invoke, ok.Values, ok), []);
            case HistoryFunctions.Transaction: return (PairsOf(ok?.Reads), PairsOf(ok?.Writes ?? invoke.Writes));
            default: return ([], []);
        }
    }

    private static OperationAccess[] PairsOf(HistoryEvent source, IReadOnlyList<HistoryValue>? values, HistoryEvent? ok)
    {
        var keys = source.Keys;
        var versions = ok?.Versions;
        if (keys is null || values is null || keys.Count != values.Count)
            throw new HistoryFormatException($"Operation {source.Op}: 'keys' and 'values' must be there and equally long.");
        if (versions is not null && versions.Count != keys.Count)
            throw new HistoryFormatException($"Operation {source.Op}: 'versions' must be as long as 'keys' ({keys.Count}), but has {versions.Count}.");
        if (ok?.Keys is { } again && !again.SequenceEqual(keys, StringComparer.Ordinal))
            throw new HistoryFormatException($"Operation {source.Op}: the 'keys' of its completion differ from those of its invocation.");
        if (keys.Distinct(StringComparer.Ordinal).Count() != keys.Count)
            throw new HistoryFormatException($"Operation {source.Op}: a key occurs twice.");
        var joined = new OperationAccess[keys.Count];
        for (int i = 0; i < joined.Length; i++) joined[i] = new(keys[i], values[i], versions?[i]);
        return joined;
    }

    private static OperationAccess[] PairsOf(IReadOnlyDictionary<string, HistoryValue>? map) =>
        map is null ? [] : [.. map.Select(pair => new OperationAccess(pair.Key, pair.Value, null))];
}
