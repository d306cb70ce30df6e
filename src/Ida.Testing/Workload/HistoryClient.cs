using System.Globalization;
using GroupCore.Runtime;
using Ida.Testing.Checking;

namespace Ida.Testing.Workload;

/// <summary>One client of a checked run: does one operation after the other through one member and records each.</summary>
public sealed class HistoryClient
{
    private readonly string _name;
    private readonly string _member;
    private readonly HistoryRecorder _recorder;
    private readonly Prng _random;
    private readonly HistoryWorkload _workload;
    private readonly ConsistencyLevel _level;
    private readonly IDhtMap<string, List<string>> _lists;
    private readonly IDhtMap<string, string> _values;
    private long _number;

    /// <summary>A client. Names must be unique in the history; the generator is the client's own.</summary>
    public HistoryClient(string name, string member, Dht dht, HistoryRecorder recorder, Prng random, HistoryWorkload workload)
    {
        ArgumentNullException.ThrowIfNull(dht);
        ArgumentNullException.ThrowIfNull(workload);
        (_name, _member, _recorder, _random, _workload, _level) = (name, member, recorder, random, workload, workload.Level);
        _lists = dht.Map<string, List<string>>(HistoryWorkload.Lists);
        _values = dht.Map<string, string>(HistoryWorkload.Values);
    }

    /// <summary>Operations that succeeded.</summary>
    public long Succeeded { get; private set; }

    /// <summary>Operations whose outcome the client does not know.</summary>
    public long Unknown { get; private set; }

    private HistoryLevel Level => _level == ConsistencyLevel.Strict ? HistoryLevel.Strict : HistoryLevel.Ordered;

    /// <summary>Goes on until <paramref name="done"/> says so, or the member is out for good.</summary>
    public async Task RunAsync(Func<bool> done)
    {
        ArgumentNullException.ThrowIfNull(done);
        while (!done())
        {
            bool reads = _random.Chance(_workload.Reads), lists = _random.Chance(0.6);
            var keys = lists ? ListKeys() : Draw("v", _workload.ValueKeys);
            bool goesOn = reads ? await ReadAsync(lists, keys) : await WriteAsync(lists, keys);
            if (!goesOn) return;
            if (_workload.Pause > TimeSpan.Zero) await Task.Delay(_workload.Pause, _workload.Time);
        }
    }

    private async Task<bool> WriteAsync(bool lists, List<string> keys)
    {
        string element = string.Create(CultureInfo.InvariantCulture, $"{_name}.{++_number}");
        var written = keys.ConvertAll(key => lists ? element : $"{element}.{key}");
        string op = _recorder.Invoke(_name, _member, lists ? HistoryFunctions.Append : HistoryFunctions.Put, keys, written.ConvertAll(HistoryValue.FromString), Level);
        var options = new PutOptions { Level = _level, Timeout = _workload.Timeout };
        try
        {
            var result = lists
                ? await _lists.OrderedMergeAsync(keys.ConvertAll(key => new KeyValuePair<string, string>(key, element)), options)
                : await _values.OrderedPutAsync(keys.Zip(written, static (key, value) => new KeyValuePair<string, string?>(key, value)), options);
            // A put at level Ordered may return before its versions are known.
            _recorder.Ok(op, versions: result.Versions.Count == 0 ? null : [.. result.Versions.Select(static version => (long?)version)]);
            Succeeded++;
            return true;
        }
        catch (Exception error) when (error is OperationNotExecutedException or OverloadedException)
        {
            _recorder.Fail(op);
            return true;
        }
        catch (Exception error) when (IsExpected(error))
        {
            _recorder.Info(op);
            Unknown++;
            return error is OutcomeUnknownException or ViewUnavailableException;
        }
    }

    private async Task<bool> ReadAsync(bool lists, List<string> keys)
    {
        string op = _recorder.Invoke(_name, _member, HistoryFunctions.Get, keys, level: Level);
        var options = new GetOptions { Level = _level, Timeout = _workload.Timeout };
        try
        {
            if (lists) Record(op, keys, await GetAsync(_lists, keys, options), static list => HistoryValue.List([.. list.Select(HistoryValue.FromString)]));
            else Record(op, keys, await GetAsync(_values, keys, options), HistoryValue.FromString);
            Succeeded++;
            return true;
        }
        catch (Exception error) when (IsExpected(error))
        {
            _recorder.Fail(op);
            return error is OutcomeUnknownException or ViewUnavailableException or OperationNotExecutedException or OverloadedException;
        }
    }

    // One key takes the short way of its own.
    private static async ValueTask<IReadOnlyDictionary<string, Versioned<T>>> GetAsync<T>(IDhtMap<string, T> map, List<string> keys, GetOptions options)
    {
        if (keys.Count > 1) return await map.OrderedGetAsync(keys, options);
        var found = await map.OrderedGetAsync(keys[0], options);
        var one = new Dictionary<string, Versioned<T>>();
        if (found is { } value) one[keys[0]] = value;
        return one;
    }

    private void Record<T>(string op, List<string> keys, IReadOnlyDictionary<string, Versioned<T>> read, Func<T, HistoryValue> show)
    {
        var values = keys.ConvertAll(key => read.TryGetValue(key, out var found) ? show(found.Value) : HistoryValue.Absent);
        var versions = keys.ConvertAll(key => read.TryGetValue(key, out var found) ? (long?)found.Version : null);
        _recorder.Ok(op, values, versions);
    }

    private static bool IsExpected(Exception error) => error is DhtException or GroupCore.Groups.NotMemberException or GroupCore.Groups.PoisonedException or NodeStoppedException;

    private List<string> ListKeys()
    {
        // A client moves on to fresh lists by its own count, so that all do at about the same pace.
        long generation = _number / _workload.ElementsPerList;
        return Draw(string.Create(CultureInfo.InvariantCulture, $"a{generation}-"), _workload.ListKeys);
    }

    private List<string> Draw(string prefix, int from)
    {
        int count = 1 + _random.Next(Math.Min(_workload.MaxKeys, from));
        var keys = new List<string>(count);
        while (keys.Count < count)
        {
            string key = string.Create(CultureInfo.InvariantCulture, $"{prefix}{_random.Next(from)}");
            if (!keys.Contains(key)) keys.Add(key);
        }
        return keys;
    }
}
