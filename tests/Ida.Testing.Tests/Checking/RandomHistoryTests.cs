using System.Diagnostics;
using GroupCore.Runtime;
using Ida.Testing.Checking;

namespace Ida.Testing.Tests.Checking;

/// <summary>Histories of an ideal store always pass; every mutated history that no serial order explains fails.</summary>
public sealed class RandomHistoryTests(ITestOutputHelper output)
{
    private const int Seeds = 40;

    public static TheoryData<string> Mutations => new("stale read", "dropped element", "duplicate", "swapped elements", "real time", "lost at the end", "half a write", "foreign value", "vanished value", "removal undone");

    [Theory]
    [InlineData(true, 0)]
    [InlineData(false, 0)]
    [InlineData(true, 0.5)]
    [InlineData(false, 0.5)]
    public void Histories_of_an_ideal_store_pass(bool versions, double batches)
    {
        for (ulong seed = 1; seed <= Seeds; seed++)
        {
            var report = Judge(new ReferenceModel(seed, clients: 6, keys: 3, versions, unknown: 0.2, batches).Run(300));
            Assert.True(report.Passed, $"seed {seed}: {report}");
            Assert.True(report.ReadValues > 100 && report.Dependencies > 200 && report.Unknown > 5, $"seed {seed} proves little: {report}");
        }
    }

    [Theory]
    [MemberData(nameof(Mutations))]
    public void A_mutated_history_fails(string mutation)
    {
        int mutated = 0;
        for (ulong seed = 1; seed <= Seeds; seed++)
        {
            var events = new ReferenceModel(seed, clients: 4, keys: 2, versions: false).Run(200);
            if (!Mutate(events, mutation, new(seed))) continue;
            mutated++;
            var report = Judge(events);
            Assert.False(report.Passed, $"seed {seed}: the mutation '{mutation}' was not noticed");
        }
        Assert.True(mutated >= Seeds / 2, $"only {mutated} histories could be mutated");
    }

    [Fact]
    public void A_hundred_thousand_operations_are_judged_in_seconds()
    {
        var events = new ReferenceModel(7, clients: 32, keys: 16, versions: true).Run(100_000);
        var clock = Stopwatch.StartNew();
        var report = Judge(events);
        output.WriteLine($"{clock.Elapsed.TotalSeconds:F2} s: {report}");
        Assert.True(report.Passed, report.ToString());
        Assert.True(report.Judged > 90_000);
        Assert.True(clock.Elapsed < TimeSpan.FromSeconds(60), $"took {clock.Elapsed}");
    }

    private static CheckReport Judge(List<HistoryEvent> events) => StrictSerializabilityChecker.Check(History.FromEvents(events));

    private static bool Mutate(List<HistoryEvent> events, string mutation, Prng random)
    {
        var reads = Enumerable.Range(0, events.Count).Where(i => events[i] is { Type: HistoryEventType.Ok, Values: not null }).ToList();
        return mutation switch
        {
            "stale read" => EditRead(events, reads, random, (_, list) => list.Length > 0 && WasOver(events, list[^1]) ? list[..^1] : null),
            "dropped element" => EditRead(events, reads, random, (_, list) => list.Length > 2 ? [.. list[..1], .. list[2..]] : null),
            "duplicate" => EditAll(events, reads, random, (list, element) => [.. list, element]),
            "swapped elements" => EditRead(events, reads, random, (_, list) => list.Length > 2 ? [list[1], list[0], .. list[2..]] : null),
            "foreign value" => EditRead(events, reads, random, (_, list) => [.. list, -1]),
            "vanished value" => EditRegister(events, reads, random, shown: true),
            "removal undone" => EditRegister(events, reads, random, shown: false),
            "lost at the end" => EditFinals(events, random, 1),
            "half a write" => EditFinals(events, random, 2),
            _ => Delay(events, reads, random),
        };
    }

    /// <summary>Whether the append of the element completed at all, and so before a read that is invoked late.</summary>
    private static bool WasOver(List<HistoryEvent> events, HistoryValue element) => events.Exists(e => e.Type == HistoryEventType.Ok && e.Op == element.Number.ToString());

    private static bool EditRead(List<HistoryEvent> events, List<int> reads, Prng random, Func<HistoryEvent, HistoryValue[], HistoryValue[]?> edit)
    {
        foreach (int at in reads.OrderBy(_ => random.NextUInt64()))
        {
            var read = events[at];
            var invoke = events.Find(e => e.Type == HistoryEventType.Invoke && e.Op == read.Op)!;
            for (int key = 0; key < read.Values!.Count; key++)
            {
                var list = read.Values[key].Elements.ToArray();
                if (list.Length == 0 || edit(read, list) is not { } edited) continue;
                var writer = events.Find(e => e.Type == HistoryEventType.Ok && e.Op == list[^1].Number.ToString());
                if (edited.Length == list.Length - 1 && edited.AsSpan().SequenceEqual(list.AsSpan(0, list.Length - 1)) && !(writer?.T < invoke.T)) continue;
                var values = read.Values.ToArray();
                values[key] = HistoryValue.List(edited);
                events[at] = read with { Values = values };
                return true;
            }
        }
        return false;
    }

    /// <summary>
    /// Changes a read of an overwritten key that no other operation overlaps. The read then shows absence instead of the value of a put that had returned, or that value
    /// although a removal had returned after it.
    /// </summary>
    private static bool EditRegister(List<HistoryEvent> events, List<int> reads, Prng random, bool shown)
    {
        var calls = events.Where(e => e.Type == HistoryEventType.Invoke).ToDictionary(e => e.Op!);
        var ends = events.Where(e => e.Type == HistoryEventType.Ok).ToDictionary(e => e.Op!);
        foreach (int at in reads.OrderBy(_ => random.NextUInt64()))
        {
            var read = events[at];
            var invoke = calls[read.Op!];
            for (int i = 0; i < read.Values!.Count; i++)
            {
                string key = invoke.Keys![i];
                if (key.StartsWith("list", StringComparison.Ordinal)) continue;
                var writers = calls.Values.Where(e => e != invoke && (e.Keys?.Contains(key) == true || e.Writes?.ContainsKey(key) == true) && e.F != HistoryFunctions.Get).ToList();
                // No write of unknown outcome, which might take effect at any time, and no write that overlaps the read.
                if (writers.Exists(w => !ends.ContainsKey(w.Op!) || (w.T < read.T && ends[w.Op!].T > invoke.T))) continue;
                var before = writers.Where(w => ends[w.Op!].T < invoke.T).OrderBy(w => ends[w.Op!].T).ToList();
                if (before.Count == 0 || before.Exists(w => w != before[^1] && ends[w.Op!].T > before[^1].T)) continue;
                var put = before.FindLast(w => w.F == HistoryFunctions.Put);
                if (put is null || (shown ? before[^1] != put : before[^1].F != HistoryFunctions.Delete)) continue;
                var values = read.Values.ToArray();
                values[i] = shown ? HistoryValue.Absent : put.Values![0];
                events[at] = read with { Values = values };
                return true;
            }
        }
        return false;
    }

    /// <summary>Makes the same edit in every read and final state that shows an element, as if the store really had that state.</summary>
    private static bool EditAll(List<HistoryEvent> events, List<int> reads, Prng random, Func<HistoryValue[], HistoryValue, HistoryValue[]> edit)
    {
        var final = events[^1].State!.Where(s => s.Value.Elements.Length > 1).ToList();
        if (final.Count == 0) return false;
        var (key, whole) = final[random.Next(final.Count)];
        var element = whole.Elements[0];
        for (int i = 0; i < events.Count; i++)
        {
            if (events[i].State is not { } state) continue;
            events[i] = events[i] with { State = state.ToDictionary(s => s.Key, s => s.Key == key ? HistoryValue.List(edit(s.Value.Elements.ToArray(), element)) : s.Value) };
        }
        return reads.Count > 0;
    }

    private static bool EditFinals(List<HistoryEvent> events, Prng random, int keys)
    {
        var appends = events.Where(e => e.Type == HistoryEventType.Invoke && e.F == HistoryFunctions.Append && e.Keys!.Count >= keys
            && events.Exists(o => o.Type == HistoryEventType.Ok && o.Op == e.Op)).ToList();
        if (appends.Count == 0) return false;
        var lost = appends[random.Next(appends.Count)];
        for (int i = 0; i < events.Count; i++)
        {
            if (events[i].State is not { } state) continue;
            events[i] = events[i] with
            {
                State = state.ToDictionary(s => s.Key, s => s.Key == lost.Keys![0] ? HistoryValue.List([.. s.Value.Elements.ToArray().Where(v => v != lost.Values![0])]) : s.Value),
            };
        }
        return true;
    }

    /// <summary>Moves a read to after a later append that it did not see.</summary>
    private static bool Delay(List<HistoryEvent> events, List<int> reads, Prng random)
    {
        foreach (int at in reads.OrderBy(_ => random.NextUInt64()))
        {
            var read = events[at];
            int invokedAt = events.FindIndex(e => e.Type == HistoryEventType.Invoke && e.Op == read.Op);
            var append = events.Find(e => e.Type == HistoryEventType.Ok && e.T > read.T
                && events.Exists(i => i.Type == HistoryEventType.Invoke && i.T > read.T && i.Op == e.Op && i.F == HistoryFunctions.Append && i.Keys!.Contains(events[invokedAt].Keys![0])));
            if (append is null) continue;
            events[invokedAt] = events[invokedAt] with { T = append.T + 1, Client = "moved" };
            events[at] = read with { T = append.T + 2 };
            return true;
        }
        return false;
    }
}
