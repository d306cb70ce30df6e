using GroupCore.Runtime;
using Ida.Testing.Checking;

namespace Ida.Testing.Tests.Checking;

/// <summary>
/// Random histories of an ideal store. Clients overlap in time, and each operation takes effect at one instant between its invocation and its completion. Some outcomes stay
/// unknown, some operations fail, and some take effect long after they were given up.
/// </summary>
internal sealed class ReferenceModel(ulong seed, int clients, int keys, bool versions, double unknown = 0.05, double batches = 0)
{
    private readonly Prng _random = new(seed);
    private readonly Dictionary<string, (HistoryValue Value, long Version)> _store = [];
    private readonly List<HistoryEvent> _events = [];
    private readonly List<string> _finalKeys = [];
    private long _now;
    private long _next;

    public List<HistoryEvent> Run(int operations)
    {
        var pending = new List<Pending>();
        var late = new List<Pending>();
        for (int started = 0; started < operations || pending.Count > 0 || late.Count > 0;)
        {
            int choice = _random.Next(3);
            if (choice == 0 && started < operations && pending.Count < clients)
            {
                pending.Add(Invoke($"c{Enumerable.Range(0, clients).First(c => pending.TrueForAll(p => p.Client != $"c{c}"))}"));
                started++;
            }
            else if (choice == 1 && late.Count > 0 && (_random.Chance(0.1) || started == operations))
            {
                int at = _random.Next(late.Count);
                Apply(late[at]);
                late.RemoveAt(at);
            }
            else if (choice == 2 && pending.Count > 0)
            {
                int at = _random.Next(pending.Count);
                var operation = pending[at];
                if (operation.Applied || operation.Fate != Fate.Ok)
                {
                    Complete(operation);
                    pending.RemoveAt(at);
                    if (operation.Fate == Fate.UnknownLate) late.Add(operation);
                }
                else Apply(operation);
            }
        }
        Finish();
        return _events;
    }

    private Pending Invoke(string client)
    {
        string op = (++_next).ToString();
        int kind = _random.Next(10);
        // New names of lists come into use from time to time, so that lists stay short.
        string[] names = [.. Enumerable.Range(0, 1 + _random.Next(3)).Select(_ => $"{(kind % 2 == 0 ? "list" : "reg")}{_random.Next(keys)}.{(_next / (40L * keys))}").Distinct()];
        string f = kind == 7 && _random.Next(2) == 0 ? HistoryFunctions.Delete : kind < 5 ? HistoryFunctions.Get : kind is 6 or 8 ? HistoryFunctions.Append : kind is 5 or 7 ? HistoryFunctions.Put : HistoryFunctions.Transaction;
        var fate = f == HistoryFunctions.Get || !_random.Chance(unknown) ? Fate.Ok : (Fate)(1 + _random.Next(4));
        var invoke = new HistoryEvent { Op = op, Client = client, Type = HistoryEventType.Invoke, T = ++_now, F = f };
        invoke = f switch
        {
            HistoryFunctions.Get or HistoryFunctions.Delete => invoke with { Keys = names },
            HistoryFunctions.Transaction => invoke with { Writes = names.Take(_random.Next(names.Length + 1)).ToDictionary(n => n, _ => (HistoryValue)_next) },
            _ => invoke with { Keys = names, Values = [.. names.Select(_ => (HistoryValue)_next)] },
        };
        _events.Add(invoke);
        return new(invoke, client, names, fate) { Part = batches > 0 && f == HistoryFunctions.Append && _random.Chance(batches) ? InvokePart(invoke) : null };
    }

    /// <summary>The second part of a batch: it overwrites a key in addition to the lists, or reads the lists.</summary>
    private HistoryEvent InvokePart(HistoryEvent whole)
    {
        var part = new HistoryEvent { Op = $"{whole.Op}+", PartOf = whole.Op, Client = whole.Client, Type = HistoryEventType.Invoke, T = ++_now };
        part = _random.Next(2) == 0 ? part with { F = HistoryFunctions.Get, Keys = whole.Keys }
            : part with { F = HistoryFunctions.Put, Keys = [$"reg{_random.Next(keys)}.{(_next / (40L * keys))}"], Values = [_next] };
        _events.Add(part);
        return part;
    }

    private void Apply(Pending pending)
    {
        var invoke = pending.Invoke;
        pending.Applied = true;
        var read = pending.Names.Select(n => _store.GetValueOrDefault(n)).ToList();
        var writes = invoke.F == HistoryFunctions.Delete ? pending.Names.ToDictionary(n => n, _ => HistoryValue.Absent)
            : invoke.Writes ?? invoke.Values?.Select((v, i) => (Key: invoke.Keys![i], v)).ToDictionary(p => p.Key, p => p.v) ?? [];
        var more = pending.Part is { Values: not null } part ? KeyValuePair.Create(part.Keys![0], part.Values![0]) : default;
        foreach (var (key, value) in writes.Concat(more.Key is null ? [] : [more]).OrderBy(w => w.Key, StringComparer.Ordinal))
        {
            var old = _store.GetValueOrDefault(key);
            if (old.Version == 0) _finalKeys.Add(key);
            _store[key] = (invoke.F == HistoryFunctions.Append && key != more.Key ? HistoryValue.List([.. old.Value.Elements, value]) : value, old.Version + 1 + _random.Next(2));
        }
        var ok = new HistoryEvent { Op = invoke.Op, Type = HistoryEventType.Ok, T = 0 };
        if (pending.Part is { Values: null }) pending.Read = [.. read.Select(r => r.Value)];
        pending.Ok = invoke.F switch
        {
            HistoryFunctions.Transaction => ok with { Reads = pending.Names.Zip(read).ToDictionary(p => p.First, p => p.Second.Value) },
            HistoryFunctions.Get => ok with { Values = [.. read.Select(r => r.Value)], Versions = Versions([.. read.Select(r => r.Value.IsAbsent ? (long?)null : r.Version)]) },
            _ => ok with { Versions = Versions([.. pending.Names.Select(n => (long?)_store[n].Version)]) },
        };
    }

    private long?[]? Versions(long?[] known) => versions ? [.. known.Select(v => _random.Chance(0.9) ? v : null)] : null;

    private void Complete(Pending pending)
    {
        if (pending.Fate == Fate.UnknownApplied) Apply(pending);
        var end = pending.Fate switch
        {
            Fate.Ok => pending.Ok! with { T = ++_now },
            Fate.Failed => new() { Op = pending.Invoke.Op, Type = HistoryEventType.Fail, T = ++_now },
            _ => new() { Op = pending.Invoke.Op, Type = HistoryEventType.Info, T = ++_now },
        };
        _events.Add(end);
        if (pending.Part is { } part) _events.Add(end with { Op = part.Op, T = ++_now, Values = end.Type == HistoryEventType.Ok ? pending.Read : null, Versions = null });
    }

    private void Finish()
    {
        foreach (string member in (string[])["m1", "m2"])
            _events.Add(new() { Type = HistoryEventType.Final, Member = member, T = _now + 1, State = _finalKeys.ToDictionary(k => k, k => _store[k].Value) });
    }

    private enum Fate { Ok, Failed, UnknownApplied, UnknownLate, UnknownNever }

    private sealed class Pending(HistoryEvent invoke, string client, string[] names, Fate fate)
    {
        public HistoryEvent Invoke { get; } = invoke;

        public string Client { get; } = client;

        public string[] Names { get; } = names;

        public Fate Fate { get; } = fate;

        public HistoryEvent? Part { get; init; }

        /// <summary>What the part of the batch read.</summary>
        public HistoryValue[]? Read { get; set; }

        public bool Applied { get; set; }

        public HistoryEvent? Ok { get; set; }
    }
}
