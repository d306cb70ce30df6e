using System.Text.Json.Nodes;
using GroupCore.Groups;
using Ida.Perf.Macro.CommandLine;
using Ida.Perf.Macro.Measuring;

namespace Ida.Perf.Macro.Members;

/// <summary>One member of a DHT, which holds its share of the data and makes its share of the load.</summary>
internal sealed class StoreMember(Place place, IdaNode node, Group group) : IMember
{
    private const int FillLanes = 64;
    private readonly RunOptions _options = place.Options;
    private Dht _dht = null!;
    private Store _store = null!;

    public static async Task<IMember> StartAsync(Place place)
    {
        var node = await place.StartNodeAsync();
        return new StoreMember(place, node, await node.JoinAsync("perf"));
    }

    public async Task<JsonObject> DoAsync(string command, long[] numbers)
    {
        switch (command)
        {
            case "ENABLE":
                await EnableAsync();
                return [];
            case "FORMED":
                await Place.FormedAsync(group, numbers[0]);
                await Place.UntilAsync(() => IsFormedAsync(numbers[0]), "every slot is taken and initialised");
                return [];
            case "SLOT":
                return new() { ["slot"] = (await _dht.StatusAsync()).OwnSlot };
            case "FULL":
                await Place.UntilAsync(async () => (await _dht.StatusAsync()) is { OwnSlot: >= 0, IsInitialised: true }, "this member is initialised");
                return new() { ["at"] = Clock.Now };
            case "FILL":
                await SpreadAsync(place.Id, (int)numbers[0], _options.Keyspace, (key, bytes) => _store.FillAsync(key, bytes));
                return [];
            case "HOLD":
                await SpreadAsync(place.Id, (int)numbers[0], numbers[1], (key, bytes) => _store.PutAsync(key, bytes));
                return [];
            case "COLLECT":
                GC.Collect(GC.MaxGeneration, GCCollectionMode.Aggressive, blocking: true, compacting: true);
                return [];
            case "VERIFY":
                await SpreadAsync(0, 1, _options.Keyspace, (key, _) => _store.VerifyAsync(key));
                return new() { ["missing"] = _store.Missing, ["lost"] = _store.Lost };
            case "GO":
                return await GoAsync(Window.Of(numbers), null);
            case "FAIL-RUN":
                var timeline = new Timeline((int)(numbers[2] / Timeline.StepMs));
                var whole = WatchSlotsAsync(Window.Of(numbers));
                var answer = await GoAsync(Window.Of(numbers), timeline);
                answer["whole_at"] = await whole - numbers[0];
                answer["steps"] = new JsonArray([.. timeline.ToArray().Select(n => (JsonNode)n)]);
                return answer;
            default:
                throw new ArgumentException(command, nameof(command));
        }
    }

    public ValueTask DisposeAsync() => node.DisposeAsync();

    private async Task EnableAsync()
    {
        var level = _options.Strict ? ConsistencyLevel.Strict : ConsistencyLevel.Ordered;
        _dht = await group.EnableDhtAsync(new() { ShardSize = _options.ShardSize, TargetSize = _options.TargetSize, Member = new() { Level = level } }, static d => d.Map<long, byte[]>("perf"));
        _store = new(_dht.Map<long, byte[]>("perf"), _options);
    }

    private async Task<bool> IsFormedAsync(long members)
    {
        var status = await _dht.StatusAsync();
        return status.Slots.Count == members && status.Slots.All(slot => slot.IsInitialised);
    }

    /// <summary>The last time at which all slots were taken by initialised members again after one was not; 0 if that never happened.</summary>
    private async Task<long> WatchSlotsAsync(Window window)
    {
        long at = 0;
        bool whole = true;
        for (; Clock.Now < window.Until; await Task.Delay(Timeline.StepMs))
        {
            var status = await _dht.StatusAsync();
            bool now = status.Slots.Count(slot => slot.Slot < _options.TargetSize && slot.IsInitialised) == _options.TargetSize;
            if (now && !whole) at = Clock.Now;
            whole = now;
        }
        return at;
    }

    /// <summary>Does the work for every n-th key below a limit, for many keys at a time.</summary>
    private async Task SpreadAsync(int first, int step, long limit, Func<long, byte[], ValueTask> work)
    {
        long next = first - step;
        await Task.WhenAll(Enumerable.Range(0, FillLanes).Select(_ => Task.Run(async () =>
        {
            byte[] bytes = new byte[_options.Value];
            for (long key; (key = Interlocked.Add(ref next, step)) < limit;) await work(key, bytes);
        })));
    }

    private void Pace(Lane[] lanes, Window window)
    {
        using var pacer = new Pacer(lanes, _options.Rate / (double)_options.Threads, window);
        pacer.Run();
    }

    private async Task<JsonObject> GoAsync(Window window, Timeline? timeline)
    {
        var zipf = _options.Zipf ? new ZipfKeys(_options.Keyspace) : null;
        var lanes = Enumerable.Range(0, _options.Threads * _options.InFlight).Select(i => new Lane(_store, _options, window, timeline, (ulong)((place.Id * 1000) + i), zipf)).ToList();
        var work = _options.Rate > 0
            ? Task.WhenAll(lanes.Chunk(_options.InFlight).Select(of => Task.Factory.StartNew(() => Pace(of, window), TaskCreationOptions.LongRunning)))
            : Task.WhenAll(lanes.Select(lane => _options.Blocking ? Task.Factory.StartNew(lane.RunBlocking, TaskCreationOptions.LongRunning) : Task.Run(lane.RunAsync)));
        var answer = new JsonObject();
        var counters = _dht.Counters;
        await window.WatchAsync(answer, ("fast", () => counters.FastPaths), ("slow", () => counters.SlowPaths), ("local_reads", () => counters.LocalReads), ("frames", () => counters.Sent));
        try
        {
            await work.WaitAsync(TimeSpan.FromSeconds(45));
        }
        catch (TimeoutException)
        {
            throw new TimeoutException("operations were still under way 45 s after the window");
        }
        Histogram gets = new(), puts = new();
        foreach (var lane in lanes)
        {
            gets.Add(lane.Gets);
            puts.Add(lane.Puts);
        }
        (answer["gets"], answer["puts"], answer["ops"]) = (gets.Encode(), puts.Encode(), gets.Count + puts.Count);
        (answer["errors"], answer["first_error"]) = (lanes.Sum(lane => lane.Errors), lanes.Select(lane => lane.FirstError).FirstOrDefault(error => error.Length > 0) ?? "");
        (answer["value_errors"], answer["stale_reads"]) = (_store.ValueErrors, _store.StaleReads);
        return answer;
    }
}
