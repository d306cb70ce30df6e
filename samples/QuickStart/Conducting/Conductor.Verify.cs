using System.Diagnostics;
using QuickStart.Protocol;

namespace QuickStart.Conducting;

internal sealed partial class Conductor
{
    private async Task VerifyAsync()
    {
        foreach (var member in Living) member.Send(new VerifyCommand());
        await UntilAsync(() => Living.All(m => m.Verified is not null), ViewLimit, "all survivors report what they hold");
        AddFigures();
        CheckReads();
        CheckContents();
        CheckReplicas();
    }

    private void AddFigures()
    {
        long outage = _ledger.Gaps.Where(g => g.Gap.To > _killedAt && g.Member != _victim!.Name).Select(g => g.Gap.To - g.Gap.From).DefaultIfEmpty().Max();
        long[] puts = _ledger.PutTicks();
        _result.Figures.Add(("longest time without a read", outage == 0 ? "under 25 ms at every survivor" : $"{Milliseconds(outage)}, worst survivor"));
        _result.Figures.Add(("longest put after the kill", Milliseconds(_ledger.LongestPutAfter(_killedAt))));
        _result.Figures.Add(("puts", $"{puts.Length} of 3 to {table.Rows.Max(r => r.Countries.Count(c => c == ',')) + 3} keys; half took under {Fine(puts[puts.Length / 2])}, 99 % under {Fine(puts[puts.Length * 99 / 100])}"));
        _result.Figures.Add(("reads while it loaded", $"{_members.Sum(m => m.Reads)} of {_members.Sum(m => m.KeysRead)} keys together"));
        if (_ledger.FoundRows > 0) _result.Figures.Add(("stored, but not acknowledged", $"{_ledger.FoundRows} rows of {_victim!.Name}, found and not stored again"));
    }

    private void CheckReads()
    {
        string reads = $"{_members.Sum(m => m.Reads)} reads, none saw half a put or missed an acknowledged one";
        _result.Checks.Add(new("reads", _ledger.Faults.Count == 0, _ledger.Faults.Count == 0 ? reads : $"{_ledger.Faults.Count} faults, the first: {_ledger.Faults[0]}"));
    }

    private void CheckContents()
    {
        var wrong = Living.FirstOrDefault(m => m.Verified!.Fault is not null);
        var few = Living.FirstOrDefault(m => m.Verified!.Rows != table.Rows.Count);
        _result.Checks.Add(new("nothing lost", few is null, few is null
            ? $"all {table.Rows.Count} acknowledged rows are there, read at each of {Living.Count()} survivors"
            : $"{few.Name} reads {few.Verified!.Rows} of {table.Rows.Count} acknowledged rows"));
        _result.Checks.Add(new("nothing twice", wrong is null, wrong is null
            ? $"{table.Countries.Count} country lists and {table.Continents.Count} counters are exact"
            : $"{wrong.Name}: {wrong.Verified!.Fault}"));
    }

    private void CheckReplicas()
    {
        var shards = Living.Select(m => m.Verified!).GroupBy(v => v.Shard).OrderBy(g => g.Key).ToList();
        string? fault = shards.Count == options.Shards ? null : $"{shards.Count} of {options.Shards} shards have members";
        foreach (var shard in shards)
        {
            int replicas = shard.Count();
            if (replicas < options.ShardSize) fault ??= $"shard {shard.Key} has {replicas} of {options.ShardSize} members";
            if (shard.Select(v => (v.Entries, v.Digest)).Distinct().Count() > 1)
                fault ??= $"shard {shard.Key} differs: {string.Join(", ", shard.Select(v => $"slot {v.Slot} has {v.Entries} entries, digest {v.Digest}"))}";
        }
        long total = shards.Sum(s => s.First().Entries);
        long expected = table.Rows.Count + table.Countries.Count + table.Continents.Count;
        if (total != expected) fault ??= $"the shards hold {total} entries together, {expected} expected";
        _result.Checks.Add(new("replicas", fault is null, fault
            ?? string.Join("; ", shards.Select(s => $"shard {s.Key}: {s.Count()} equal replicas of {s.First().Entries} entries"))));
    }

    private static string Fine(long ticks) => $"{ticks * 1000.0 / Stopwatch.Frequency:0.0} ms";
}
