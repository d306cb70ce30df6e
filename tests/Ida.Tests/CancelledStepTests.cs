namespace Ida.Tests;

/// <summary>
/// One put, cancelled after each single step of its life, and retried at its own member or another: in the command queue, waiting for
/// a place, sent, proposed, committed, at a view change, after a takeover. It is executed once, or not at all if its caller was told so.
/// </summary>
public sealed class CancelledStepTests(ITestOutputHelper output)
{
    private const string WhileExecuting = "cancelled while a shard executes it", WhileAsking = "cancelled while the versions are asked for";

    [Theory]
    [InlineData("calm", 0)]
    [InlineData("calm", 1)]
    [InlineData("a place", 0)]
    [InlineData("a place", 2)]
    [InlineData("a view", 0)]
    [InlineData("a view", 1)]
    [InlineData("a takeover", 0)]
    [InlineData("a takeover", 3)]
    public async Task F20_a_put_cancelled_at_any_step_is_executed_once_or_not_at_all(string way, int retriedAt)
    {
        var told = new Dictionary<string, int>();
        int step = 0;
        for (bool more = true; more; step++)
        {
            (string end, more, _) = await CancelAsync(way, retriedAt, step);
            told[end] = told.GetValueOrDefault(end) + 1;
        }
        output.WriteLine($"{step} steps: {string.Join(", ", told.Select(t => $"{t.Key} {t.Value}"))}");
        Assert.InRange(step, 8, 400);
        Assert.True(told.GetValueOrDefault("not executed") > 0);
        Assert.True(told.GetValueOrDefault("unknown") > 2);
        Assert.Equal(1, told.GetValueOrDefault("done"));
    }

    /// <summary>
    /// The same put, cancelled once it is sent. After some steps it is retried, and the retry is cancelled at any step. A retry is told the whole result,
    /// or that it may be repeated. The last two numbers are the least number of retries that are cancelled while one shard executes the put and another has
    /// executed it, and while the issuer is asked for the versions, because one shard has executed the put and another has forgotten it.
    /// </summary>
    [Theory]
    [InlineData("calm", 1, 3, 1, 40, 0)]
    [InlineData("calm", 2, 3, 1, 60, 0)]
    [InlineData("a place", 2, 9, 1, 60, 0)]
    [InlineData("a view", 1, 3, 1, 0, 0)]
    [InlineData("a takeover", 3, 3, 7, 0, 0)]
    [InlineData("an acknowledgement", 1, 3, 1, 0, 90)]
    [InlineData("an acknowledgement", 2, 3, 1, 0, 70)]
    public async Task A_retry_cancelled_at_any_step_is_told_all_or_may_be_repeated(string way, int retriedAt, int cancelAt, int every, int whileExecuting, int whileAsking)
    {
        var cut = new Dictionary<string, int>();
        var told = new Dictionary<string, int>();
        int worlds = 0;
        for (int pause = 0; pause < 40 * every; pause += every)
        {
            bool more = true;
            for (int step = 0; more; step++, worlds++)
            {
                (string end, _, more) = await CancelAsync(way, retriedAt, cancelAt, pause, step, cut);
                told[end] = told.GetValueOrDefault(end) + 1;
            }
        }
        output.WriteLine($"{worlds} worlds: {string.Join(", ", told.Concat(cut).Select(t => $"{t.Key} {t.Value}"))}");
        Assert.True(cut.GetValueOrDefault(WhileExecuting) >= whileExecuting, $"Only {cut.GetValueOrDefault(WhileExecuting)} were cancelled while a shard executed the put.");
        Assert.True(cut.GetValueOrDefault(WhileAsking) >= whileAsking, $"Only {cut.GetValueOrDefault(WhileAsking)} were cancelled while the versions were asked for.");
        Assert.Equal(40, told["unknown, then done"]);
        Assert.True(told["unknown twice"] > 40);
    }

    /// <summary>What the caller was told, whether there was a step left to cancel at, and whether the retry had one left.</summary>
    private static async Task<(string End, bool More, bool MoreOfRetry)> CancelAsync(string way, int retriedAt, int cancelAt, int pause = 0, int? retryCancelAt = null, Dictionary<string, int>? cut = null)
    {
        var world = DhtWorld.Founded(4, options: new() { ShardSize = 2, TargetSize = 4, Hash = new LastByteHash(), Member = new() { Timeout = TimeSpan.FromHours(10), MaxInFlight = 1 } });
        var map = world.Members[0].Dht.Map<string, long>("longs");
        KeyValuePair<string, long>[] pairs = [new("a0", 1), new("a1", 1)];
        Task after = Task.CompletedTask, before = way == "a place" ? map.MergePairAsync("b1", 1L).AsTask() : Task.CompletedTask;
        if (way == "a place") world.Poke();
        using var steps = Steps(world, way).GetEnumerator();
        (var put, bool more) = await CancelAtAsync(world, steps, map, pairs, null, cancelAt);
        bool executed = true, moreOfRetry = false;
        string end = "done";
        if (put.IsCanceled) (end, executed) = ("not executed", false);
        else if (put.IsFaulted)
        {
            end = "unknown";
            var id = IdOf(put);
            if (retryCancelAt is { } at)
            {
                // This put tells one of the two shards that the outcome is known.
                if (way == "an acknowledgement") after = map.MergePairAsync("b0", 1L).AsTask();
                while (pause-- > 0 && steps.MoveNext()) ;
                (var first, moreOfRetry) = await CancelAtAsync(world, steps, world.Members[retriedAt].Dht.Map<string, long>("longs"), pairs, id, at, () =>
                {
                    string stands = Stands(world.Members[retriedAt], id);
                    cut![stands] = cut.GetValueOrDefault(stands) + 1;
                });
                end += first.IsFaulted ? " twice" : ", then done";
                if (first.IsFaulted) Assert.Equal(id, IdOf(first));
                else Assert.Equal(2, (await first).Versions.Count);
            }
            var retry = world.Members[retriedAt].Dht.Map<string, long>("longs").MergeAsync(pairs, new() { Operation = id }).AsTask();
            world.RunUntil(() => retry.IsCompleted, $"The retry after step {cancelAt}, {retryCancelAt}");
            Assert.Equal(id, (await retry).Operation);
            Assert.Equal(2, (await retry).Versions.Count);
        }
        world.RunUntil(() => before.IsCompleted && after.IsCompleted, "The put before it, or after");
        world.Settle();
        var read = map.GetAsync(["a0", "a1"]).AsTask();
        world.RunUntil(() => read.IsCompleted, "The read");
        Assert.Equal(executed ? new[] { 1L, 1L } : [], (await read).Values);
        Assert.All(world.Members, m => Assert.Equal(0, m.Dht.Counters.ForbiddenSteps));
        Assert.All(world.Members, m => Assert.False(m.InView && m.Host.Current!.Coordinator.HasWork));
        return (end, more, moreOfRetry);
    }

    /// <summary>A put or a retry of one, cancelled after so many steps; and whether it was still running then.</summary>
    private static async Task<(Task<PutResult> Put, bool More)> CancelAtAsync(DhtWorld world, IEnumerator<bool> steps, DhtMap<string, long> map, KeyValuePair<string, long>[] pairs, OperationId? id, int cancelAt, Action? cut = null)
    {
        using var cancellation = new CancellationTokenSource();
        var put = map.MergeAsync(pairs, new() { Operation = id }, cancellation.Token).AsTask();
        int step = 0;
        while (steps.MoveNext() && !put.IsCompleted && step < cancelAt) step++;
        Assert.True(put.IsCompleted || step == cancelAt, $"It has not ended after {step} steps.");
        bool more = !put.IsCompleted;
        if (more) cut?.Invoke();
        await cancellation.CancelAsync();
        world.Poke();
        Assert.True(put.IsCompleted, $"The call was cancelled at step {cancelAt} and has not ended.");
        return (put, more);
    }

    /// <summary>What a retry was waiting for when it was cancelled.</summary>
    private static string Stands(HarnessMember member, OperationId id)
    {
        var op = member.Host.Current!.Coordinator.Standing().Select(static one => one.Op).FirstOrDefault(op => op.Id == id);
        return op is null ? "cancelled before its turn" : !op.Executed ? "cancelled while nothing is known" : op.Asks ? WhileAsking : WhileExecuting;
    }

    private static OperationId IdOf(Task put) => Assert.IsType<OutcomeUnknownException>(put.Exception!.InnerException).Operation;

    /// <summary>Single steps: the command, then frame by frame.</summary>
    private static IEnumerable<bool> Steps(DhtWorld world, string way)
    {
        yield return true;
        world.Poke();
        yield return true;
        for (int i = 0; i < 400; i++)
        {
            // With "a takeover", what member 0 sends after its proposals does not leave it until others have driven the put to its end.
            var busy = world.Busy().FindAll(p => way != "a takeover" || p.From != 0 || i < 2);
            if (busy.Count == 0 && way == "a takeover" && i < 60) world.Advance(TimeSpan.FromMilliseconds(60));
            else if (busy.Count == 0) world.Advance(TimeSpan.FromMilliseconds(5));
            else world.Deliver(busy[i % busy.Count].From, busy[i % busy.Count].To);
            if (way == "a view" && i is 2 or 7) world.ChangeView();
            world.Poke();
            if (way == "a takeover" && i == 100) way = "calm";
            yield return true;
        }
    }
}
