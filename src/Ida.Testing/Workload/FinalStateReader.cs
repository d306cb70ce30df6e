using Ida.Testing.Checking;

namespace Ida.Testing.Workload;

/// <summary>Records what the replicas hold at the end of a checked run.</summary>
public static class FinalStateReader
{
    /// <summary>Adds the state of one member to the history; false when it is no full replica.</summary>
    public static async Task<bool> RecordAsync(string member, Dht dht, HistoryRecorder recorder)
    {
        ArgumentNullException.ThrowIfNull(dht);
        ArgumentNullException.ThrowIfNull(recorder);
        var slice = await dht.SnapshotAsync();
        if (!slice.IsFull) return false;
        var state = new Dictionary<string, HistoryValue>();
        foreach (var (key, found) in slice.Of(dht.Map<string, List<string>>(HistoryWorkload.Lists)))
            state[key] = HistoryValue.List([.. found.Value.Select(HistoryValue.FromString)]);
        foreach (var (key, found) in slice.Of(dht.Map<string, string>(HistoryWorkload.Values))) state[key] = HistoryValue.FromString(found.Value);
        recorder.Final(member, state);
        return true;
    }
}
