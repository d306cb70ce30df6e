using Ida.Testing.Checking;

namespace Ida.Testing.Workload;

/// <summary>Records what the replicas hold at the end of a checked run.</summary>
public static class FinalStateReader
{
    /// <summary>Adds the state of one member to the history; false when it is not an initialised replica.</summary>
    public static Task<bool> RecordAsync(string member, Dht dht, HistoryRecorder recorder) => RecordAsync(member, dht, recorder, static snapshot => snapshot());

    /// <summary>With <paramref name="keep"/>, which makes the call that asks for the state.</summary>
    internal static async Task<bool> RecordAsync(string member, Dht dht, HistoryRecorder recorder, Func<Func<Task<LocalSlice>>, Task<LocalSlice>> keep)
    {
        ArgumentNullException.ThrowIfNull(dht);
        ArgumentNullException.ThrowIfNull(recorder);
        LocalSlice slice;
        try
        {
            slice = await keep(() => dht.SnapshotAsync());
        }
        catch (DhtException)
        {
            // It is over here.
            return false;
        }
        if (!slice.IsInitialised) return false;
        var state = new Dictionary<string, HistoryValue>();
        var versions = new Dictionary<string, long>();
        foreach (var (key, found) in slice.Of(dht.Map<string, List<string>>(HistoryWorkload.Lists)))
            (state[key], versions[key]) = (HistoryValue.List([.. found.Value.Select(HistoryValue.FromString)]), (long)found.Version);
        foreach (var (key, found) in slice.Of(dht.Map<string, string>(HistoryWorkload.Values)))
            (state[key], versions[key]) = (HistoryValue.FromString(FilledValue.Shown(found.Value)), (long)found.Version);
        recorder.Final(member, state, versions, slice.Shard);
        return true;
    }
}
