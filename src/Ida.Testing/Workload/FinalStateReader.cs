using Ida.Testing.Checking;

namespace Ida.Testing.Workload;

/// <summary>Records what the replicas hold at the end of a checked run.</summary>
public static class FinalStateReader
{
    /// <summary>Adds the state of one member to the history; false when it is not an initialised replica.</summary>
    public static Task<bool> RecordAsync(string member, Dht dht, HistoryRecorder recorder) => RecordAsync(member, dht, recorder, static snapshot => snapshot());

    /// <summary>The same; <paramref name="keep"/> makes the call that asks for the state.</summary>
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
            // The DHT is over at this member.
            return false;
        }
        if (!slice.IsInitialised) return false;
        var (lists, values) = Read(dht, slice);
        var state = new Dictionary<string, HistoryValue>();
        var versions = new Dictionary<string, long>();
        foreach (var (key, (elements, version)) in lists) (state[key], versions[key]) = (HistoryValue.List([.. elements.Select(HistoryValue.FromString)]), version);
        foreach (var (key, (mark, version)) in values) (state[key], versions[key]) = (HistoryValue.FromString(mark), version);
        recorder.Final(member, state, versions, slice.Shard);
        return true;
    }

    /// <summary>The lists and the marks of the values that a slice has, by their keys.</summary>
    internal static (SortedDictionary<string, (List<string> Elements, long Version)> Lists, SortedDictionary<string, (string Mark, long Version)> Values) Read(Dht dht, LocalSlice slice)
    {
        var lists = new SortedDictionary<string, (List<string> Elements, long Version)>(StringComparer.Ordinal);
        foreach (var (key, found) in slice.Of(dht.Map<string, List<string>>(HistoryWorkload.Lists))) lists[key] = (found.Value, (long)found.Version);
        var values = new SortedDictionary<string, (string Mark, long Version)>(StringComparer.Ordinal);
        foreach (var (key, found) in slice.Of(dht.Map<string, string>(HistoryWorkload.Values))) values[key] = (FilledValue.Shown(found.Value), (long)found.Version);
        return (lists, values);
    }
}
