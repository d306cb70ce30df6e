using GroupCore.Groups;

namespace Ida.Process.Tests.Nodes;

/// <summary>Real nodes and threads: callers that cancel and repeat at random. Each call ends, no operation is used by two calls, and each put counts once.</summary>
public sealed class CarelessCallerTests
{
    private static readonly TimeSpan Bound = TimeSpan.FromSeconds(60);

    [Fact]
    public async Task F20_puts_cancelled_and_repeated_by_many_threads_are_counted_once()
    {
        var stop = TestContext.Current.CancellationToken;
        await using var first = await IdaNode.StartAsync(new() { Cluster = "careless" }, stop);
        await using var second = await IdaNode.StartAsync(new() { Cluster = "careless", Seeds = [first.Address.Text] }, stop);
        Group[] groups = [await first.JoinAsync("g", _ => { }, cancellationToken: stop), await second.JoinAsync("g", _ => { }, cancellationToken: stop)];
        var options = new DhtOptions { ShardSize = 1, TargetSize = 2, Member = new() { MaxInFlight = 4 } };
        var dhts = await Task.WhenAll(groups.Select(g => g.EnableDhtAsync(options, Declare, stop).AsTask()));
        var callers = Enumerable.Range(0, 8).Select(n => Task.Run(() => CallAsync(dhts, n), stop)).ToList();
        var told = (await Task.WhenAll(callers).WaitAsync(Bound, stop)).SelectMany(t => t).ToList();
        foreach (string kind in new[] { "done", "not executed", "unknown" }) Assert.Contains(kind, told);
        Assert.All(dhts, d => Assert.Equal(0, d.Counters.ForbiddenSteps));
    }

    /// <summary>Adds 1 to keys of its own, however often it must try, and reads them back.</summary>
    private static async Task<List<string>> CallAsync(Dht[] dhts, int number)
    {
        var random = new Random(number);
        var told = new List<string>();
        for (int i = 0; i < 400; i++)
        {
            KeyValuePair<string, long>[] pairs = [new($"{number}/{i}/a", 1), new($"{number}/{i}/b", 1)];
            OperationId? id = null;
            for (bool done = false; !done;)
            {
                using var source = new CancellationTokenSource();
                var put = dhts[random.Next(2)].Map<string, long>("m").MergeAsync(pairs, new() { Operation = id }, source.Token);
                Thread.SpinWait(random.Next(4000));
                if (random.Next(3) > 0) await source.CancelAsync();
                try
                {
                    Assert.Equal(2, (await put).Versions.Count);
                    told.Add("done");
                    done = true;
                }
                catch (OutcomeUnknownException unknown)
                {
                    Assert.IsNotType<OutcomeForgottenException>(unknown);
                    id = unknown.Operation;
                    told.Add("unknown");
                }
                catch (OperationCanceledException)
                {
                    told.Add("not executed");
                }
            }
            var read = await dhts[random.Next(2)].Map<string, long>("m").GetAsync(pairs.Select(p => p.Key));
            Assert.Equal([1L, 1L], read.Values);
        }
        return told;
    }

    private static void Declare(DhtMaps maps) => maps.Map<string, long>("m").OnMerge<long>((_, stored, incoming) => stored + incoming);
}
