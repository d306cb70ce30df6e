using System.Diagnostics;
using System.Globalization;
using System.Text.Json;

namespace Ida.Testing.Checking;

/// <summary>
/// Records a history from any thread. Call <see cref="Invoke"/> before an operation and <see cref="Ok"/>, <see cref="Fail"/> or
/// <see cref="Info"/> after it.
/// </summary>
/// <remarks>
/// Times rise strictly from event to event, in the order in which the calls were made. So events that really happened one after the other never look concurrent, even in
/// virtual time, where many events share an instant. With a stream each event is written and flushed at once (a killed process loses nothing that it recorded) and not kept;
/// without one all events are kept for <see cref="ToHistory"/>.
/// </remarks>
public sealed class HistoryRecorder
{
    private readonly Lock _lock = new();
    private readonly Func<long> _clock;
    private readonly Stream? _stream;
    private readonly List<HistoryEvent> _events = [];
    private readonly string _prefix;
    private long _last = long.MinValue;
    private long _next;

    /// <summary>A recorder.</summary>
    /// <param name="stream">Where events go; null keeps them.</param>
    /// <param name="clock">Nanoseconds of a monotonic clock; null takes the machine's, which all its processes share.</param>
    /// <param name="prefix">Put before operation ids, so that those of several recorders of one history differ.</param>
    public HistoryRecorder(Stream? stream = null, Func<long>? clock = null, string prefix = "")
    {
        (_stream, _prefix) = (stream, prefix);
        _clock = clock ?? MachineClock;
    }

    /// <summary>An operation begins; returns its id for the completion.</summary>
    /// <param name="client">The client that calls.</param>
    /// <param name="member">The member the call goes through.</param>
    /// <param name="function">What it does, see <see cref="HistoryFunctions"/>.</param>
    /// <param name="keys">Its keys.</param>
    /// <param name="values">What it writes per key; null for reads.</param>
    /// <param name="level">What it is promised.</param>
    /// <param name="partOf">The id of the operation that this is another part of, as when a batch appends and overwrites. Both are judged as one operation.</param>
    public string Invoke(string client, string member, string function, IReadOnlyList<string> keys, IReadOnlyList<HistoryValue>? values = null,
        HistoryLevel level = HistoryLevel.Strict, string? partOf = null) => Begin(new()
        {
            Type = HistoryEventType.Invoke, T = 0, Client = client, Member = member, F = function, PartOf = partOf, Keys = [.. keys],
            Values = values is null ? null : [.. values], Level = level == HistoryLevel.Strict ? null : level,
        });

    /// <summary>A transaction begins; returns its id for the completion.</summary>
    public string InvokeTransaction(string client, string member, IReadOnlyDictionary<string, HistoryValue> writes, HistoryLevel level = HistoryLevel.Strict) =>
        Begin(new()
        {
            Type = HistoryEventType.Invoke, T = 0, Client = client, Member = member, F = HistoryFunctions.Transaction, Writes = writes,
            Level = level == HistoryLevel.Strict ? null : level,
        });

    /// <summary>The operation completed. For reads <paramref name="values"/> is what was read per key.</summary>
    public void Ok(string op, IReadOnlyList<HistoryValue>? values = null, IReadOnlyList<long?>? versions = null) =>
        Add(new()
        {
            Type = HistoryEventType.Ok, T = 0, Op = op, Values = values is null ? null : [.. values], Versions = versions is null ? null : [.. versions],
        });

    /// <summary>The transaction committed.</summary>
    public void OkTransaction(string op, IReadOnlyDictionary<string, HistoryValue> reads, IReadOnlyDictionary<string, HistoryValue>? writes = null) =>
        Add(new() { Type = HistoryEventType.Ok, T = 0, Op = op, Reads = reads, Writes = writes });

    /// <summary>The operation was certainly not applied.</summary>
    public void Fail(string op) => Add(new() { Type = HistoryEventType.Fail, T = 0, Op = op });

    /// <summary>The outcome is unknown.</summary>
    public void Info(string op) => Add(new() { Type = HistoryEventType.Info, T = 0, Op = op });

    /// <summary>A fault was injected.</summary>
    public void Nemesis(string function, string target) => Add(new() { Type = HistoryEventType.Nemesis, T = 0, F = function, Target = target });

    /// <summary>The final state of an initialised replica, after all clients stopped.</summary>
    /// <param name="member">The replica.</param>
    /// <param name="state">Each key it holds with its value.</param>
    /// <param name="versions">The version of each key; null when they are not known.</param>
    /// <param name="shard">The shard it holds; null when that is not known.</param>
    public void Final(string member, IReadOnlyDictionary<string, HistoryValue> state, IReadOnlyDictionary<string, long>? versions = null, int? shard = null) =>
        Add(new() { Type = HistoryEventType.Final, T = 0, Member = member, State = state, StateVersions = versions, Shard = shard });

    /// <summary>The history so far.</summary>
    /// <exception cref="InvalidOperationException">The events went to a stream.</exception>
    public History ToHistory()
    {
        if (_stream is not null) throw new InvalidOperationException("The events of this recorder went to its stream: read them from there.");
        lock (_lock) return History.FromEvents(_events);
    }

    /// <summary>A moment after all events so far, and before all later ones.</summary>
    internal long Now()
    {
        lock (_lock) return _last = Math.Max(_last + 1, _clock());
    }

    private static long MachineClock() => Stopwatch.Frequency == 1_000_000_000
        ? Stopwatch.GetTimestamp()
        : (long)(Stopwatch.GetTimestamp() * (1e9 / Stopwatch.Frequency));

    private string Begin(HistoryEvent e)
    {
        lock (_lock)
        {
            string op = _prefix + (++_next).ToString(CultureInfo.InvariantCulture);
            Store(e with { Op = op });
            return op;
        }
    }

    private void Add(HistoryEvent e)
    {
        lock (_lock) Store(e);
    }

    private void Store(HistoryEvent e)
    {
        _last = Math.Max(_last + 1, _clock());
        e = e with { T = _last };
        if (_stream is null)
        {
            _events.Add(e);
            return;
        }
        byte[] line = [.. JsonSerializer.SerializeToUtf8Bytes(e, HistoryJson.Default.HistoryEvent), (byte)'\n'];
        _stream.Write(line);
        _stream.Flush();
    }
}
