using GroupCore.Runtime;
using Ida.Testing.Checking;

namespace Ida.Testing.Tests.Checking;

/// <summary>
/// A random history of two to six operations on one or two keys: the answers of an ideal store, of which none, some or all are replaced by values that may have been there at
/// another time.
/// </summary>
internal sealed class SmallHistory
{
    private const string List = "list", First = "a", Second = "b";
    private readonly Prng _random;
    private readonly bool _versions;
    private readonly string[] _keys;
    private readonly double _lie;
    private readonly Dictionary<string, (HistoryValue Value, long Version)> _store = [];
    private readonly Dictionary<string, List<HistoryValue>> _written = [];

    public SmallHistory(ulong seed, bool versions)
    {
        (_random, _versions) = (new(seed * 0x9E3779B97F4A7C15), versions);
        string first = _random.Chance(0.3) ? List : First;
        _keys = _random.Chance(0.5) ? [first] : [first, Second];
        _lie = _random.Next(4) switch { 0 => 0, 1 => 1, _ => 0.15 };
    }

    public List<HistoryEvent> Make()
    {
        var invokes = Enumerable.Range(0, 2 + _random.Next(5)).Select(Invoke).ToList();
        var results = new HistoryEvent?[invokes.Count];
        // Some batches read what they write.
        var parts = invokes.ConvertAll(call => call.F != HistoryFunctions.Get && _random.Chance(0.2) ? call with { Op = $"{call.Op}+", PartOf = call.Op, F = HistoryFunctions.Get, Values = null } : null);
        var partResults = new List<HistoryEvent>();
        // Each call takes effect at one instant between call and end.
        foreach (var (call, end, at) in invokes.Select((call, at) => (call, End: call.T + 8 + (16 * _random.Next(1, 30)), at)).OrderBy(one => one.call.T + (_random.NextDouble() * (one.End - one.call.T))).ToList())
        {
            bool never = call.F != HistoryFunctions.Get && _random.Chance(0.07), unknown = call.F != HistoryFunctions.Get && (never || _random.Chance(0.1));
            if (parts[at] is { } part && !unknown) partResults.Add(Lie(Apply(part) with { T = end }, part));
            var done = never ? null : Apply(call) with { T = end };
            results[at] = unknown ? null : done;
        }
        List<HistoryEvent> events = [.. invokes, .. parts.OfType<HistoryEvent>(), .. partResults, .. results.Where(static result => result is not null).Select(result => Lie(result!, invokes[int.Parse(result!.Op!)]))];
        if (_random.Chance(0.5))
        {
            events.Add(new()
            {
                Type = HistoryEventType.Final, Member = "m", T = 1_000_000,
                State = _store.ToDictionary(static held => held.Key, held => _random.Chance(_lie) ? Other(held.Key) : held.Value.Value),
                StateVersions = _versions ? _store.ToDictionary(static held => held.Key, static held => held.Value.Version) : null,
            });
        }
        return events;
    }

    /// <summary>No two instants are equal: the time of a call is a multiple of 16 plus the operation's number, that of an end is 8 more.</summary>
    private HistoryEvent Invoke(int at)
    {
        string[] keys = [.. _keys.Where(_ => _random.Chance(0.7))];
        if (keys.Length == 0) keys = [_keys[0]];
        string f = _random.Next(7) switch { < 3 => HistoryFunctions.Get, 3 => HistoryFunctions.Delete, _ => HistoryFunctions.Put };
        if (f != HistoryFunctions.Get && keys.Contains(List)) (keys, f) = ([List], HistoryFunctions.Append);
        var values = f is HistoryFunctions.Put or HistoryFunctions.Append ? keys.Select(_ => (HistoryValue)(at + 1)).ToArray() : null;
        return new() { Op = $"{at}", Client = $"c{at}", Type = HistoryEventType.Invoke, T = (16 * ((10 * at) + _random.Next(20))) + at, F = f, Keys = keys, Values = values };
    }

    private HistoryEvent Apply(HistoryEvent call)
    {
        if (call.F != HistoryFunctions.Get) for (int i = 0; i < call.Keys!.Count; i++) Write(call.Keys[i], call.F!, call.Values?[i]);
        var held = call.Keys!.Select(key => _store.GetValueOrDefault(key)).ToList();
        return new()
        {
            Op = call.Op, Type = HistoryEventType.Ok, T = 0,
            Values = call.F == HistoryFunctions.Get ? [.. held.Select(static one => one.Value)] : null,
            Versions = _versions ? [.. held.Select(static one => (long?)one.Version)] : null,
        };
    }

    private void Write(string key, string f, HistoryValue? value)
    {
        var old = _store.GetValueOrDefault(key);
        var now = f == HistoryFunctions.Append ? HistoryValue.List([.. old.Value.Elements, value!.Value]) : value ?? HistoryValue.Absent;
        _store[key] = (now, old.Version + 1 + _random.Next(2));
        if (!_written.TryGetValue(key, out var all)) _written[key] = all = [];
        all.Add(now);
    }

    private HistoryEvent Lie(HistoryEvent result, HistoryEvent call) => result with
    {
        Values = result.Values?.Select((value, i) => _random.Chance(_lie) ? Other(call.Keys![i]) : value).ToArray(),
        // A read of a key that was never written has version 0; a write never has.
        Versions = result.Versions?.Select(version => _random.Chance(_lie / 2) ? _random.Next(6) + (result.Values is null ? 1 : 0) : version).ToArray(),
    };

    private HistoryValue Other(string key) => !_written.TryGetValue(key, out var all) || _random.Chance(0.3) ? HistoryValue.Absent : all[_random.Next(all.Count)];
}
