using System.Globalization;
using GroupCore.Runtime;
using Ida.Testing.Calls;
using Ida.Testing.Checking;

namespace Ida.Testing.Workload;

/// <summary>One client of a checked run: does one operation after another through one member, and records each.</summary>
public sealed class HistoryClient
{
    private readonly string _name;
    private readonly string _member;
    private readonly Dht _dht;
    private readonly HistoryRecorder _recorder;
    private readonly Prng _random;
    private readonly HistoryWorkload _workload;
    private readonly ConsistencyLevel _level;
    private readonly DhtMap<string, List<string>> _lists;
    private readonly DhtMap<string, string> _values;
    private readonly Dictionary<string, (ulong Version, string? Mark)> _seen = [];
    private long _number;

    /// <summary>A client. Names must be unique in the history; the generator is the client's own.</summary>
    public HistoryClient(string name, string member, Dht dht, HistoryRecorder recorder, Prng random, HistoryWorkload workload)
    {
        ArgumentNullException.ThrowIfNull(dht);
        ArgumentNullException.ThrowIfNull(workload);
        (_name, _member, _dht, _recorder, _random, _workload, _level) = (name, member, dht, recorder, random, workload, workload.Level);
        _lists = dht.Map<string, List<string>>(HistoryWorkload.Lists);
        _values = dht.Map<string, string>(HistoryWorkload.Values);
    }

    /// <summary>Operations that succeeded.</summary>
    public long Succeeded { get; private set; }

    /// <summary>Operations whose outcome the client does not know.</summary>
    public long Unknown { get; private set; }

    /// <summary>
    /// Takes a write of unknown outcome, to ask for it at another member with <see cref="ResolveAsync"/> there; true when it is taken, and
    /// will be recorded there. Null: this client asks itself.
    /// </summary>
    public Func<HistoryWrite, bool>? HandOver { get; init; }

    /// <summary>The life that calls; null: one that goes on as long as the run.</summary>
    internal ICaller? Caller { get; init; }

    /// <summary>Whether the member is giving up its part in the DHT, so that its calls may be told so before that part is over; null: it is not.</summary>
    internal Func<bool>? IsLeaving { get; init; }

    private HistoryLevel Level => _level == ConsistencyLevel.Strict ? HistoryLevel.Strict : HistoryLevel.Ordered;

    /// <summary>
    /// Goes on until <paramref name="done"/> says so, or the member is out for good. Throws the error of a call that no member has reason to give: in a checked run that is a
    /// defect.
    /// </summary>
    public async Task RunAsync(Func<bool> done)
    {
        ArgumentNullException.ThrowIfNull(done);
        while (!done())
        {
            bool reads = _random.Chance(_workload.Reads), lists = _random.Chance(0.6);
            var keys = lists ? ListKeys() : Draw("v", _workload.ValueKeys);
            bool goesOn = reads ? await ReadAsync(lists, keys) : await WriteAsync(Begin(lists, keys));
            if (!goesOn) return;
            if (_workload.Pause > TimeSpan.Zero) await Task.Delay(_workload.Pause, _workload.Time);
        }
    }

    /// <summary>Asks for the outcome of a write that another client, perhaps of another process, began, and records it.</summary>
    public async Task ResolveAsync(HistoryWrite write)
    {
        ArgumentNullException.ThrowIfNull(write);
        Drew("retry by id at another member");
        for (int i = 0; i < _workload.Retries; i++)
        {
            if ((await CallAsync(write, own: false, hurried: false)).Again is not { } again) return;
            write = again;
        }
        Record(write, _recorder.Info);
    }

    private HistoryWrite Begin(bool lists, List<string> keys)
    {
        string element = string.Create(CultureInfo.InvariantCulture, $"{_name}.{++_number}");
        var write = new HistoryWrite { Client = _name, Element = element, Level = _level };
        if (lists) write = write with { Appends = keys };
        else if (Chance(_workload.Conditions)) return BeginConditional(write, keys[0]);
        else if (!Chance(_workload.Removes)) write = write with { Puts = keys };
        else
        {
            Drew("remove");
            int removed = 1 + _random.Next(keys.Count);
            write = write with { Removes = keys[..removed], Puts = keys[removed..] };
        }
        if (Chance(_workload.Batches))
        {
            Drew("batch over both maps");
            write = lists ? write with { Puts = Draw("v", _workload.ValueKeys) } : write with { Appends = ListKeys() };
        }
        if (write.Puts.Count > 0 && _workload.LargestValue > 0 && _random.Next(10) == 0) write = write with { Filling = Filling(write.Puts.Count) };
        var marks = write.Puts.Select(key => HistoryValue.FromString($"{element}.{key}")).Concat(write.Removes.Select(static _ => HistoryValue.Absent)).ToList();
        string? append = write.Appends.Count == 0 ? null : _recorder.Invoke(_name, _member, HistoryFunctions.Append, write.Appends, [.. write.Appends.Select(_ => HistoryValue.FromString(element))], Level);
        string? put = marks.Count == 0 ? null : _recorder.Invoke(_name, _member, HistoryFunctions.Put, [.. write.Puts, .. write.Removes], marks, Level, partOf: append);
        return write with { AppendOp = append, PutOp = put };
    }

    // A put that is applied has found what it expects: both happen at one place of the order.
    private HistoryWrite BeginConditional(HistoryWrite write, string key)
    {
        Drew("put on a condition");
        var (version, mark) = _seen.GetValueOrDefault(key);
        string put = _recorder.Invoke(_name, _member, HistoryFunctions.Put, [key], [HistoryValue.FromString($"{write.Element}.{key}")], Level);
        string found = _recorder.Invoke(_name, _member, HistoryFunctions.Get, [key], level: Level, partOf: put);
        string unmet = _recorder.Invoke($"{_name}f", _member, HistoryFunctions.Get, [key], level: Level);
        return write with { Puts = [key], Expected = version, ExpectedMark = mark, PutOp = put, FoundOp = found, UnmetOp = unmet };
    }

    private async Task<bool> WriteAsync(HistoryWrite write)
    {
        for (int i = 0; ; i++)
        {
            var (again, goesOn) = await CallAsync(write, own: true, hurried: i == 0);
            if (again is null) return goesOn;
            write = again;
            if (i < _workload.Retries && write.Operation is not null)
            {
                if (HandOver is { } hand && (_random.Next(2) == 0 || !goesOn) && hand(write)) return goesOn;
                if (goesOn)
                {
                    Drew("retry by id at the same member");
                    continue;
                }
            }
            Record(write, _recorder.Info);
            Unknown++;
            return goesOn;
        }
    }

    /// <summary>
    /// Makes one call of a write, at the member that gave it its id or at another. Returns the write to ask for again if its outcome is unknown, and whether the member is
    /// still of use. An error that the guide does not promise for such a call is the caller's to judge.
    /// </summary>
    private async Task<(HistoryWrite? Again, bool GoesOn)> CallAsync(HistoryWrite write, bool own, bool hurried)
    {
        using var cancel = Cancellation();
        var options = new PutOptions { Level = write.Level, Timeout = Time(hurried), Operation = write.Operation };
        var kind = KindOf(write);
        try
        {
            var result = await EndsAsync(Begin(kind, () => PutAsync(write, options, cancel?.Token ?? default), options.Timeout.Value, cancel), options.Timeout.Value);
            if (!result.IsApplied)
            {
                if (write.Expected is null) throw new InvalidOperationException($"A put of {_name} that expects nothing was told that it is not applied.");
                if (result.Versions.Count > 0 && result.Versions[0] == write.Expected) throw new InvalidOperationException($"A put of {_name} was told that {write.Puts[0]} has version {write.Expected}, and was not applied for lack of it.");
                Drew("condition that is not met");
                Record(write, _recorder.Fail, result.Versions.Count > 0 ? result.Versions[0] : null);
                Succeeded++;
                return (null, true);
            }
            // A put at level Ordered may return before its versions are known.
            long?[]? versions = result.Versions.Count == 0 ? null : [.. result.Versions.Select(static version => version == 0 ? null : (long?)version)];
            if (write.AppendOp is { } append) _recorder.Ok(append, versions: versions?[..write.Appends.Count]);
            if (write.PutOp is { } put) _recorder.Ok(put, versions: versions?[write.Appends.Count..]);
            if (write.Expected is not null) Drew("condition that is met");
            if (write.UnmetOp is { } unmet) _recorder.Fail(unmet);
            if (versions is not null && write.Removes.Count == 0)
                for (int i = 0; i < write.Puts.Count; i++) See(write.Puts[i], (ulong)versions[write.Appends.Count + i]!.Value, $"{write.Element}.{write.Puts[i]}");
            if (write.FoundOp is { } found) _recorder.Ok(found, [write.ExpectedMark is { } mark ? HistoryValue.FromString(mark) : HistoryValue.Absent], [write.Expected is > 0 and var expected ? (long?)expected : null]);
            Succeeded++;
            return (null, true);
        }
        // This holds for a retry too: its put is said never to be executed, so its effect is an anomaly if it is seen.
        catch (Exception error) when (CallErrors.MeaningOf(kind, error) == ErrorMeaning.NotDone)
        {
            Record(write, _recorder.Fail);
            return (null, true);
        }
        // The member that gave the id knows what became of the put while it is there, and an id does not change.
        catch (OutcomeUnknownException unknown) when (!(own && unknown is OutcomeForgottenException) && (write.Operation ?? unknown.Operation) == unknown.Operation)
        {
            return (write with { Operation = unknown.Operation }, true);
        }
        // The error says nothing of the put, only of this call.
        catch (Exception error) when (error is not OutcomeUnknownException && CallErrors.MeaningOf(kind, error) == ErrorMeaning.Perhaps)
        {
            return (write, true);
        }
        catch (ShardDepopulatedException)
        {
            return (write, false);
        }
        // Nothing of it was sent. A retry ends with another error, since this one would say too much of its put.
        catch (Exception error) when (CallErrors.MeaningOf(kind, error) == ErrorMeaning.Over)
        {
            Record(write, _recorder.Fail);
            return (null, false);
        }
    }

    private ValueTask<T> Begin<T>(CallKind kind, Func<ValueTask<T>> call, TimeSpan timeout, CancellationTokenSource? cancel) => _workload.Calls is { } calls
        ? new(calls.Begin(kind, _name, () => call().AsTask(), Caller, timeout + (2 * (_workload.Overtime ?? TimeSpan.Zero)), () => _dht.Completion.IsCompleted || IsLeaving?.Invoke() == true, timeout, cancel?.Token ?? default))
        : call();

    /// <summary>Awaits a call, which has to end within its time and the overtime of the workload. A process that was stopped meanwhile finds both over, so it looks twice.</summary>
    private async ValueTask<T> EndsAsync<T>(ValueTask<T> call, TimeSpan timeout)
    {
        if (_workload.Overtime is not { } overtime) return await call;
        var task = call.AsTask();
        for (int i = 0; i < 2; i++)
        {
            using var ended = new CancellationTokenSource();
            bool inTime = await Task.WhenAny(task, Task.Delay(i == 0 ? timeout + overtime : overtime, _workload.Time, ended.Token)) == task;
            await ended.CancelAsync();
            if (inTime) return await task;
        }
        throw new TimeoutException($"A call of {_name} with a time of {timeout} is open {2 * overtime} after that.");
    }

    private static CallKind KindOf(HistoryWrite write) => write.Operation is not null ? CallKind.Retry
        : write.Expected is not null ? InBatch(write) ? CallKind.Commit : CallKind.Change
        : (write.Appends.Count > 0 && write.PutOp is not null) || (write.Puts.Count > 0 && write.Removes.Count > 0) ? CallKind.Commit
        : write.Appends.Count > 0 ? CallKind.Merge : CallKind.Put;

    // Always the same answer for one conditional put.
    private static bool InBatch(HistoryWrite write) => write.Element.Length % 2 == 0;

    private ValueTask<PutResult> PutAsync(HistoryWrite write, PutOptions options, CancellationToken cancel)
    {
        if (write.Expected is { } expected) return PutIfAsync(write, expected, options, cancel);
        if (write.AppendOp is null != write.PutOp is null)
        {
            if (write.Removes.Count == 0 && write.Puts.Count == 0)
                return _lists.MergeAsync(write.Appends.Select(key => new KeyValuePair<string, string>(key, write.Element)), options, cancel);
            if (write.Removes.Count == 0) return _values.PutAsync(write.Puts.Select(key => new KeyValuePair<string, string?>(key, Value(write, key))), options, cancel);
            if (write.Puts.Count == 0) return _values.RemoveAsync(write.Removes, options, cancel);
        }
        var batch = _dht.NewBatch(options);
        foreach (string key in write.Appends) batch.Merge(_lists, key, write.Element);
        foreach (string key in write.Puts) batch.Put(_values, key, Value(write, key));
        foreach (string key in write.Removes) batch.Remove(_values, key);
        return batch.CommitAsync(cancel);
    }

    private async ValueTask<PutResult> PutIfAsync(HistoryWrite write, ulong expected, PutOptions options, CancellationToken cancel)
    {
        string key = write.Puts[0], value = Value(write, key);
        if (InBatch(write)) return await _dht.NewBatch(options).Expect(_values, key, expected).Put(_values, key, value).CommitAsync(cancel);
        return new(default, await (expected == 0 ? _values.TryAddAsync(key, value, options, cancel) : _values.TryReplaceAsync(key, value, expected, options, cancel)), default);
    }

    private static string Value(HistoryWrite write, string key) => FilledValue.Make($"{write.Element}.{key}", write.Filling);

    /// <summary>Records how a write ended and, if it was refused, which version it <paramref name="found"/> instead: a refusal has read the key.</summary>
    private void Record(HistoryWrite write, Action<string> how, ulong? found = null)
    {
        if (write.AppendOp is { } append) how(append);
        if (write.PutOp is { } put) how(put);
        if (write.FoundOp is { } met) how(met);
        if (write.UnmetOp is not { } unmet) return;
        if (found == 0) _recorder.Ok(unmet, [HistoryValue.Absent], [null]);
        else if (found is { } version && _workload.Versions?.MarkOf(write.Puts[0], version) is { } mark) _recorder.Ok(unmet, [HistoryValue.FromString(mark)], [(long)version]);
        else _recorder.Fail(unmet);
    }

    private void See(string key, ulong version, string? mark)
    {
        _seen[key] = (version, mark);
        if (mark is not null) _workload.Versions?.Learn(key, version, mark);
    }

    private async Task<bool> ReadAsync(bool lists, List<string> keys)
    {
        string op = _recorder.Invoke(_name, _member, HistoryFunctions.Get, keys, level: Level);
        using var cancel = Cancellation();
        var options = new GetOptions { Level = _level, Timeout = Time(hurried: true) };
        try
        {
            if (lists) Record(op, await EndsAsync(Begin(CallKind.Get, () => GetAsync(_lists, keys, options, cancel?.Token ?? default), options.Timeout.Value, cancel), options.Timeout.Value), static list => HistoryValue.List([.. list.Select(HistoryValue.FromString)]));
            else
            {
                var read = await EndsAsync(Begin(CallKind.Get, () => GetAsync(_values, keys, options, cancel?.Token ?? default), options.Timeout.Value, cancel), options.Timeout.Value);
                for (int i = 0; i < keys.Count; i++) See(keys[i], read[i].Version, read[i].Found ? FilledValue.Shown(read[i].Value) : null);
                Record(op, read, static value => FilledValue.Shown(value));
            }
            Succeeded++;
            return true;
        }
        catch (Exception error) when (CallErrors.MeaningOf(CallKind.Get, error) is ErrorMeaning.NotDone or ErrorMeaning.Over)
        {
            _recorder.Fail(op);
            return CallErrors.MeaningOf(CallKind.Get, error) == ErrorMeaning.NotDone;
        }
    }

    // One key takes the call for a single key.
    private static async ValueTask<List<Entry<T>>> GetAsync<T>(DhtMap<string, T> map, List<string> keys, GetOptions options, CancellationToken cancel)
    {
        if (keys.Count == 1) return [await map.GetAsync(keys[0], options, cancel)];
        var found = await map.GetAsync(keys, options, cancel);
        return keys.ConvertAll(found.Find);
    }

    private void Record<T>(string op, List<Entry<T>> read, Func<T, HistoryValue> show) =>
        _recorder.Ok(op, read.ConvertAll(entry => entry.Found ? show(entry.Value) : HistoryValue.Absent), read.ConvertAll(static entry => entry.Found ? (long?)entry.Version : null));

    private CancellationTokenSource? Cancellation()
    {
        if (!Chance(_workload.Cancelled)) return null;
        int after = _random.Next(12);
        if (after < 2)
        {
            Drew("cancelled before the call");
            return new(TimeSpan.Zero, _workload.Time);
        }
        Drew("cancelled during the call");
        return new(TimeSpan.FromMilliseconds(after - 1), _workload.Time);
    }

    private TimeSpan Time(bool hurried)
    {
        if (!hurried || !Chance(_workload.Hurried)) return _workload.Timeout;
        Drew("timeout of some milliseconds");
        return TimeSpan.FromMilliseconds(1 + _random.Next(20));
    }

    private int Filling(int keys)
    {
        int most = Math.Min(_workload.LargestValue, _workload.LargestWrite / keys);
        int filling = (int)Math.Exp(_random.NextDouble() * Math.Log(most));
        Drew(filling > most / 4 ? "value near the limit" : "value with a filling");
        return filling;
    }

    // Nothing is drawn for a share of 0, so that the other choices of a workload without it stay as they were.
    private bool Chance(double share) => share > 0 && _random.Chance(share);

    private void Drew(string what) => _workload.Drew?.Invoke(what);

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
