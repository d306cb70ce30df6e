using Ida.Testing.Checking;

namespace Ida.Testing.Tests.Checking;

/// <summary>Writes histories by hand. Each operation is given with its times; values are numbers, keys are single words.</summary>
internal sealed class Tape
{
    private readonly List<HistoryEvent> _events = [];
    private int _next;

    public HistoryLevel? Level { get; set; }

    public static HistoryValue L(params long[] elements) => HistoryValue.List(elements);

    public Tape Append(long from, long? to, string keys, long element, params long?[] versions) =>
        Write(HistoryFunctions.Append, from, to, keys, element, versions);

    public Tape Put(long from, long? to, string keys, long value, params long?[] versions) => Write(HistoryFunctions.Put, from, to, keys, value, versions);

    /// <summary>The following operations have this level.</summary>
    public Tape At(HistoryLevel? level)
    {
        Level = level;
        return this;
    }

    /// <summary>Another part of the last operation; if not linked, an operation of its own.</summary>
    public Tape Part(string function, long from, long? to, string keys, HistoryValue value, bool linked = true)
    {
        string whole = _next.ToString();
        int at = _events.Count;
        Write(function, from, to, keys, value, []);
        if (linked) _events[at] = _events[at] with { PartOf = whole };
        return this;
    }

    /// <summary>A further part of the last operation, with what it read.</summary>
    public Tape PartGet(long from, long to, string keys, params HistoryValue[] values)
    {
        string whole = _next.ToString();
        int at = _events.Count;
        Get(from, to, keys, values);
        _events[at] = _events[at] with { PartOf = whole };
        return this;
    }

    public Tape Delete(long from, long? to, string keys, params long?[] versions) => Write(HistoryFunctions.Delete, from, to, keys, null, versions);

    public Tape FailedPut(long from, long to, string function, string keys, long value)
    {
        Write(function, from, null, keys, value, []);
        _events.Add(new() { Op = _next.ToString(), Type = HistoryEventType.Fail, T = to });
        return this;
    }

    public Tape Get(long from, long to, string keys, params HistoryValue[] values) => GetVersions(from, to, keys, values, null);

    public Tape GetVersions(long from, long to, string keys, HistoryValue[] values, long?[]? versions)
    {
        string op = (++_next).ToString();
        _events.Add(new() { Op = op, Client = $"c{op}", Type = HistoryEventType.Invoke, T = from, F = HistoryFunctions.Get, Keys = keys.Split(' '), Level = Level });
        _events.Add(new() { Op = op, Type = HistoryEventType.Ok, T = to, Values = values, Versions = versions });
        return this;
    }

    public Tape Transaction(long from, long to, (string Key, HistoryValue Value)[] reads, (string Key, HistoryValue Value)[] writes)
    {
        string op = (++_next).ToString();
        _events.Add(new() { Op = op, Client = $"c{op}", Type = HistoryEventType.Invoke, T = from, F = HistoryFunctions.Transaction, Writes = writes.ToDictionary(w => w.Key, w => w.Value), Level = Level });
        _events.Add(new() { Op = op, Type = HistoryEventType.Ok, T = to, Reads = reads.ToDictionary(w => w.Key, w => w.Value) });
        return this;
    }

    public Tape Final(string member, params (string Key, HistoryValue Value)[] state)
    {
        _events.Add(new() { Type = HistoryEventType.Final, T = 1_000_000, Member = member, State = state.ToDictionary(s => s.Key, s => s.Value) });
        return this;
    }

    /// <summary>The state of a replica of a known shard; each key with its version.</summary>
    public Tape Replica(string member, int shard, params (string Key, HistoryValue Value, long Version)[] state)
    {
        _events.Add(new()
        {
            Type = HistoryEventType.Final, T = 1_000_000, Member = member, Shard = shard,
            State = state.ToDictionary(s => s.Key, s => s.Value), StateVersions = state.ToDictionary(s => s.Key, s => s.Version),
        });
        return this;
    }

    public CheckReport Check(bool realTime = true, int mostPerKind = 10) => StrictSerializabilityChecker.Check(History.FromEvents(_events), new() { RealTime = realTime, MostPerKind = mostPerKind });

    private Tape Write(string function, long from, long? to, string keys, HistoryValue value, long?[] versions)
    {
        string op = (++_next).ToString();
        string[] names = keys.Split(' ');
        _events.Add(new()
        {
            Op = op, Client = $"c{op}", Type = HistoryEventType.Invoke, T = from, F = function, Keys = names, Level = Level,
            Values = value.IsAbsent ? null : [.. names.Select(_ => value)],
        });
        if (to is { } end) _events.Add(new() { Op = op, Type = HistoryEventType.Ok, T = end, Versions = versions.Length > 0 ? versions : null });
        return this;
    }
}
