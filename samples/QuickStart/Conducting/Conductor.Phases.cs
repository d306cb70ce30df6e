using System.Diagnostics;
using QuickStart.Protocol;

namespace QuickStart.Conducting;

internal sealed partial class Conductor
{
    private MemberProcess? _victim;
    private long _killedAt;

    private async Task FormGroupAsync()
    {
        // The first member founds the cluster at a port of the system's choice; the others get its address as their seed.
        string cluster = $"quickstart-{Environment.ProcessId}";
        Spawn(cluster, []);
        await UntilAsync(() => _members[0].Address.Length > 0, StartLimit, "the first member is up");
        for (int i = 1; i < options.Members; i++) Spawn(cluster, [_members[0].Address]);
        await UntilAsync(() => _members.TrueForAll(m => m.Address.Length > 0 && m.View?.Members.Length == options.Members), StartLimit, $"all {options.Members} members are in one view");
        Step($"{options.Members} processes form a group, view {_members[0].View!.View}: {string.Join(", ", _members[0].View!.Members)}");
    }

    private void Spawn(string cluster, string[] seeds)
    {
        var member = MemberProcess.Start($"m{_members.Count + 1}", _events.Writer);
        _members.Add(member);
        member.Send(new StartCommand(member.Name, cluster, seeds));
    }

    private async Task EnableDhtAsync()
    {
        foreach (var member in _members) member.Send(new EnableCommand(options.ShardSize, options.TargetSize));
        await UntilAsync(() => _members.TrueForAll(m => m is { Enabled: true, Slot: { IsInitialised: true } }), StartLimit, "the DHT serves at all members");
        int spares = options.Members - options.TargetSize;
        Step($"the DHT serves: {options.Shards} shards of {options.ShardSize} members, {spares} spare");
    }

    private void BeginLoading()
    {
        foreach (var member in _members) member.Send(new ReadCommand(_random.Next()));
        long start = Stopwatch.GetTimestamp() + (Stopwatch.Frequency / 10);
        long interval = Stopwatch.Frequency / RowsPerSecond;
        for (int i = 0; i < _members.Count; i++)
        {
            int[] rows = [.. Enumerable.Range(0, table.Rows.Count).Where(row => row % _members.Count == i)];
            _ledger.Assign(_members[i].Name, rows);
            _members[i].Send(new LoadCommand(rows, start + (i * interval), interval * _members.Count, false));
        }
        Step($"loading {table.Rows.Count} rows at {RowsPerSecond} rows/s, {table.Countries.Count} countries, {table.Continents.Count} continents; every member loads and reads");
    }

    private async Task KillOneAsync()
    {
        int killAfter = table.Rows.Count * _random.Next(40, 61) / 100;
        await UntilAsync(() => _ledger.StoredRows >= killAfter, LoadLimit, $"{killAfter} rows are stored");
        _victim = ChooseVictim();
        var slots = _members.ToDictionary(m => m, m => m.Slot!);
        ulong before = _victim.View!.View;
        _killedAt = Stopwatch.GetTimestamp();
        _victim.Kill();
        Step($"SIGKILL to {_victim.Name} (process {_victim.ProcessId}, slot {slots[_victim].Slot}, shard {slots[_victim].Shard}) after {_ledger.StoredRows} rows");

        await UntilAsync(() => Living.All(m => m.View!.View > before && !m.View.Members.Contains(_victim.Name)), ViewLimit, $"a view without {_victim.Name} at all survivors");
        var times = Living.Select(m => m.View!.At).Order().ToList();
        var view = Living.First().View!;
        Step($"view {view.View} without it: {string.Join(", ", view.Members)}");
        _result.Figures.Add(("new view after the kill", $"{Milliseconds(times[0] - _killedAt)} at the first survivor, {Milliseconds(times[^1] - _killedAt)} at the last"));
        GiveAway(_victim);
        await AwaitSwapAsync(view.View, slots);
    }

    /// <summary>A member with a slot, preferably of another shard than the spare that will fill the hole, so that state has to move.</summary>
    private MemberProcess ChooseVictim()
    {
        int shardOfSpare = _members.MaxBy(m => m.Slot!.Slot)!.Slot!.Shard;
        var candidates = _members.Where(m => m.Slot!.Slot < options.TargetSize && (options.Shards == 1 || m.Slot.Shard != shardOfSpare)).OrderBy(m => m.Slot!.Slot).ToList();
        return candidates[_random.Next(candidates.Count)];
    }

    /// <summary>
    /// Rows that the dead member had not acknowledged may be stored or not, so their new owner looks first. That is safe from the new view on, which refuses puts that the
    /// dead member left in flight.
    /// </summary>
    private void GiveAway(MemberProcess dead)
    {
        int[] rows = _ledger.OpenRowsOf(dead.Name);
        var heirs = Living.ToList();
        for (int i = 0; i < heirs.Count; i++)
        {
            int[] part = [.. rows.Where((_, index) => index % heirs.Count == i)];
            _ledger.Assign(heirs[i].Name, part);
            heirs[i].Send(new LoadCommand(part, Stopwatch.GetTimestamp(), Stopwatch.Frequency * heirs.Count / RowsPerSecond, true));
        }
        Step($"the {rows.Length} rows it had not acknowledged go to the survivors");
    }

    /// <summary>Waits until each survivor holds the complete state of its shard and every shard has all its members again.</summary>
    private async Task AwaitSwapAsync(ulong view, Dictionary<MemberProcess, SlotEvent> before)
    {
        await UntilAsync(
            () => Living.All(m => m.Slot is { IsInitialised: true } slot && slot.View >= view) && Living.CountBy(m => m.Slot!.Shard).All(shard => shard.Value >= options.ShardSize),
            ViewLimit, "every shard has all its members again");
        long done = Living.Max(m => m.Slot!.At) - _killedAt;
        var moved = Living.Where(m => m.Slot!.Slot != before[m].Slot).ToList();
        foreach (var member in moved)
        {
            var (from, to) = (before[member], member.Slot!);
            Step($"hot swap: {member.Name} moved from slot {from.Slot} to slot {to.Slot}" + (to.Shard == from.Shard ? $", in shard {to.Shard} as before" : $" and received the state of shard {to.Shard}"));
        }
        int transfers = moved.Count(m => m.Slot!.Shard != before[m].Shard);
        _result.Figures.Add(("hot swap complete", $"{Milliseconds(done)} after the kill"));
        _result.Checks.Add(new("hot swap", transfers <= 1, $"every shard has its {options.ShardSize} members again; state moved to {transfers} of {Living.Count()} survivors"));
    }

    private async Task FinishLoadingAsync()
    {
        await UntilAsync(() => _ledger.StoredRows == table.Rows.Count, LoadLimit, "all rows are stored");
        Step($"all {_ledger.StoredRows} rows acknowledged");
        foreach (var member in Living) member.Send(new QuietCommand());
        await UntilAsync(() => Living.All(m => m.Quiet), ViewLimit, "all readers are quiet");
    }

    private async Task StopAsync()
    {
        var stopping = Living.ToList();
        foreach (var member in stopping)
        {
            member.MayEnd = true;
            member.Send(new StopCommand());
        }
        await UntilAsync(() => stopping.TrueForAll(m => m.Ended), ViewLimit, "all members leave and end");
        Step("all members left");
    }

    private static string Milliseconds(long ticks) => $"{ticks * 1000.0 / Stopwatch.Frequency:0} ms";
}
