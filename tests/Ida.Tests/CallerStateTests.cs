using GroupCore.Runtime;
using Ida.Coordination;

namespace Ida.Tests;

/// <summary>
/// Random calls of careless callers that may have few operations in flight: timeouts that expire, cancellations at any moment, retries by operation id
/// at any member. After every step each operation is in one place. Each call ends once, and what it is told is true.
/// </summary>
public sealed class CallerStateTests(ITestOutputHelper output)
{
    private readonly List<Call> _calls = [];
    private readonly List<Cell> _cells = [];
    private readonly Dictionary<string, int> _told = [];
    private DhtWorld _world = null!;
    private Prng _random = null!;

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public async Task F20_each_operation_stands_in_one_place_and_ends_once(int inFlight)
    {
        for (ulong seed = 1; seed <= 12; seed++)
        {
            try
            {
                await RunAsync(seed, inFlight);
            }
            catch (Exception error)
            {
                throw new InvalidOperationException($"Seed {seed} with {inFlight} in flight: {error.Message}", error);
            }
        }
        output.WriteLine(string.Join(", ", _told.OrderBy(t => t.Key, StringComparer.Ordinal).Select(t => $"{t.Key} {t.Value}")));
        foreach (string kind in new[] { "done", nameof(OperationCanceledException), nameof(OutcomeUnknownException), nameof(OperationNotExecutedException), nameof(ArgumentException), nameof(OverloadedException) })
            Assert.True(_told.GetValueOrDefault(kind) > 0, $"No call ended with {kind}.");
    }

    private async Task RunAsync(ulong seed, int inFlight)
    {
        _calls.Clear();
        _cells.Clear();
        _random = new(seed * 77 + (ulong)inFlight);
        _world = DhtWorld.Founded(5, seed, options: new() { ShardSize = 2, TargetSize = 4, Hash = new LastByteHash(), Member = new() { Timeout = Timeout.InfiniteTimeSpan, MaxInFlight = inFlight, MaxQueuePerKey = 3 } });
        for (int step = 0; step < 2500; step++)
        {
            Step();
            Check();
        }
        _world.RunUntil(() => _calls.TrueForAll(c => c.Task.IsCompleted), "The end of all calls", () => $"{_calls.Count(c => !c.Task.IsCompleted)} open");
        _world.Settle();
        Check();
        foreach (var call in _calls) Take(call);
        await ResolveAsync();
        await JudgeAsync();
        Assert.All(_world.Members, m => Assert.Equal(0, m.Dht.Counters.ForbiddenSteps));
        Assert.All(_world.Members, m => Assert.Empty(m.Host.Current!.Coordinator.Standing()));
    }

    private void Step()
    {
        int choice = _random.Next(100);
        if (choice < 10) Put();
        else if (choice < 13) Read();
        else if (choice < 22) Retry();
        else if (choice < 28 && _calls.Count > 0) _calls[Math.Max(0, _calls.Count - 1 - _random.Next(12))].Source?.Cancel();
        else if (choice < 50) _world.Poke();
        else if (choice < 88) Deliver();
        else if (choice < 97) _world.Advance(TimeSpan.FromMicroseconds(_random.Next(1500)));
        else if (choice < 99) _world.ChangeView();
        else _world.Advance(TimeSpan.FromMilliseconds(150));
    }

    private void Put()
    {
        // In shard 0, in shard 1 or in both. Some puts share a key with others, and queue there.
        var cell = new Cell(_cells.Count, _random.Next(3), _random.Next(4) == 0);
        _cells.Add(cell);
        Submit(cell, null, _random.Next(_world.Members.Count), _random.Next(3) == 0 ? ConsistencyLevel.Ordered : ConsistencyLevel.Strict);
    }

    private void Retry()
    {
        if (_cells.Count == 0) return;
        var cell = _cells[Math.Max(0, _cells.Count - 1 - _random.Next(10))];
        foreach (var call in _calls.Where(c => c.Cell == cell && c.Task.IsCompleted).ToList()) Take(call);
        if (cell.Id is { } id) Submit(cell, id, _random.Next(_world.Members.Count), cell.Level);
    }

    private void Submit(Cell cell, OperationId? id, int member, ConsistencyLevel level)
    {
        var source = _random.Next(2) == 0 ? new CancellationTokenSource() : null;
        TimeSpan? time = _random.Next(3) == 0 ? TimeSpan.FromMicroseconds(1 + _random.Next(8000)) : null;
        cell.Level = level;
        var options = new PutOptions { Operation = id, Timeout = time, Level = level };
        var task = _world.Members[member].Dht.Map<string, long>("longs").MergeAsync(cell.Pairs(), options, source?.Token ?? default).AsTask();
        _calls.Add(new(cell, task, source, id is not null));
    }

    private void Read()
    {
        if (_cells.Count == 0) return;
        var cell = _cells[_random.Next(_cells.Count)];
        var source = _random.Next(2) == 0 ? new CancellationTokenSource() : null;
        var options = new GetOptions { Timeout = _random.Next(3) == 0 ? TimeSpan.FromMicroseconds(1 + _random.Next(8000)) : null };
        var map = _world.Members[_random.Next(_world.Members.Count)].Dht.Map<string, long>("longs");
        string[] keys = [.. cell.Pairs().Select(p => p.Key)];
        Task task = _random.Next(2) == 0 ? map.GetAsync(keys, options, source?.Token ?? default).AsTask() : map.GetAsync(keys[0], options, source?.Token ?? default).AsTask();
        _calls.Add(new(null, task, source, false));
    }

    private void Deliver()
    {
        var busy = _world.Busy();
        if (busy.Count == 0) return;
        var (from, to) = busy[_random.Next(busy.Count)];
        for (int i = _random.Next(4); i >= 0; i--) _world.Deliver(from, to);
    }

    /// <summary>Every operation of all members is in one place, in the phase of that place.</summary>
    private void Check()
    {
        var seen = new HashSet<ClientOperation>(ReferenceEqualityComparer.Instance);
        foreach (var member in _world.Members)
        {
            foreach (var (place, op) in member.Host.Current!.Coordinator.Standing())
            {
                Assert.True(seen.Add(op), $"{op.Id} stands in two places, one of them {place}.");
                Assert.Equal(place, op.Phase);
            }
            foreach (var (_, driven) in member.Host.Current!.Coordinator.Attempts.All) Assert.True(driven.Client is null || driven.Client.Running == driven, $"{driven.Key} is driven for an operation that does not know it.");
            foreach (var op in member.Dht.Puts.Free)
            {
                Assert.True(seen.Add(op), $"{op.Id} is in the pool and elsewhere, or twice there.");
                Assert.Equal(OperationPhase.Free, op.Phase);
            }
        }
    }

    private void Take(Call call)
    {
        if (call.Taken || !call.Task.IsCompleted) return;
        call.Taken = true;
        var error = call.Task.IsCanceled ? new OperationCanceledException() : call.Task.Exception?.InnerException;
        string kind = error?.GetType().Name ?? "done";
        _told[kind] = _told.GetValueOrDefault(kind) + 1;
        if (call.Cell is not { } cell) return;
        switch (error)
        {
            case null:
                cell.Done = true;
                cell.Open = false;
                break;
            case OutcomeForgottenException:
                Assert.True(cell.Done, $"The outcome of {cell.Number} was forgotten and never told.");
                break;
            case OutcomeUnknownException unknown:
                cell.Id = unknown.Operation;
                cell.Open = !cell.Done;
                break;
            case ArgumentException:
                Assert.True(call.Retry);
                break;
            case OperationCanceledException or OperationNotExecutedException or OverloadedException:
                // A retry is told "not executed" only where the put was refused for good.
                Assert.True(!call.Retry || error is OperationNotExecutedException or OperationCanceledException, $"A retry of {cell.Number} got {error.Message}");
                if (!call.Retry || error is OperationNotExecutedException) cell.NotExecuted = true;
                if (error is OperationNotExecutedException) cell.Open = false;
                break;
            default:
                Assert.Fail(error.ToString());
                break;
        }
    }

    /// <summary>All members are still there, so a retry at any of them is told the outcome that was unknown.</summary>
    private async Task ResolveAsync()
    {
        foreach (var cell in _cells.Where(c => c.Open))
        {
            var retry = _world.Members[_random.Next(_world.Members.Count)].Dht.Map<string, long>("longs").MergeAsync(cell.Pairs(), new() { Operation = cell.Id, Level = cell.Level }).AsTask();
            _world.RunUntil(() => retry.IsCompleted, "A last retry");
            if (retry.Exception?.InnerException is OperationNotExecutedException) cell.NotExecuted = true;
            else
            {
                await retry;
                cell.Done = true;
            }
        }
    }

    private async Task JudgeAsync()
    {
        var shared = new Dictionary<string, long>();
        foreach (var cell in _cells)
        {
            Assert.False(cell.Done && cell.NotExecuted, $"{cell.Number} was told both done and not executed.");
            Assert.True(cell.Done || cell.NotExecuted, $"{cell.Number} was never told.");
            foreach (var (key, _) in cell.Pairs()) shared[key] = shared.GetValueOrDefault(key) + (cell.Done ? 1 : 0);
        }
        foreach (var (key, count) in shared)
        {
            var read = _world.Members[1].Dht.Map<string, long>("longs").GetAsync(key).AsTask();
            _world.RunUntil(() => read.IsCompleted, "A read");
            Assert.True(((await read).ValueOr(0)) == count, $"{key} holds {(await read).ValueOr(0)}, and {count} puts were told as done.");
        }
    }

    /// <summary>One logical put, which adds 1 to each of its keys.</summary>
    private sealed class Cell(int number, int shards, bool shares)
    {
        public int Number => number;

        public OperationId? Id { get; set; }

        public ConsistencyLevel Level { get; set; }

        /// <summary>Its outcome was told as unknown, and nothing else was told since.</summary>
        public bool Open { get; set; }

        public bool Done { get; set; }

        public bool NotExecuted { get; set; }

        public KeyValuePair<string, long>[] Pairs()
        {
            string name = shares ? "shared" : $"k{number}";
            return shards == 2 ? [new($"{name}-0", 1), new($"{name}-1", 1)] : [new($"{name}-{shards}", 1)];
        }
    }

    private sealed class Call(Cell? cell, Task task, CancellationTokenSource? source, bool retry)
    {
        public Cell? Cell => cell;

        public Task Task => task;

        public CancellationTokenSource? Source => source;

        public bool Retry => retry;

        public bool Taken { get; set; }
    }
}
