using Ida.Testing;
using Ida.Testing.Checking;

namespace Ida.Tests;

/// <summary>What is required of the DHT, shown in the model; whole processes are tested elsewhere.</summary>
public sealed class AcceptanceTests
{
    private const int Seeds = 100;

    [Fact]
    public void I9_1_readers_never_see_half_of_a_put_of_5_keys_over_3_shards()
    {
        int value = 0, reads = 0;
        for (ulong seed = 1; seed <= (ulong)Seeds; seed++) PutAndRead(seed, ref value, ref reads);
        Assert.True(value > 100 && reads > 1000, $"{value} puts, {reads} reads");
    }

    private static void PutAndRead(ulong seed, ref int value, ref int reads)
    {
        string[] keys = ["a0", "b0", "a1", "b1", "a2"];
        var world = DhtWorld.Founded(8, seed, options: new() { ShardSize = 2, TargetSize = 8, Hash = new LastByteHash() });
        var readers = Enumerable.Range(0, 8).Select(_ => Task.FromResult(new EntryDictionary<string, int>([]))).ToList();
        Task<PutResult>? put = null;
        for (int step = 0; step < 1_000; step++)
        {
            if (put is null or { IsCompletedSuccessfully: true })
            {
                int next = ++value;
                put = Map(world, next % 8).PutAsync(keys.Select(k => KeyValuePair.Create(k, next))).AsTask();
            }
            for (int i = 0; i < readers.Count; i++)
            {
                if (!readers[i].IsCompletedSuccessfully) continue;
                var seen = Done(readers[i]);
                Assert.True(seen.Count is 0 or 5 && seen.Values.Distinct().Count() <= 1, $"Mixed: {string.Join(' ', seen)}");
                reads++;
                readers[i] = Map(world, i).GetAsync(keys).AsTask();
            }
            Disturb(world);
        }
    }

    [Fact]
    public void I9_2_after_a_put_returned_every_member_reads_it()
    {
        for (ulong seed = 1; seed <= (ulong)Seeds; seed++)
        {
            var world = DhtWorld.Founded(6, seed);
            var random = world.Random;
            for (int value = 1; value <= 20; value++)
            {
                var put = Map(world, random.Next(6)).PutAsync("a0", value).AsTask();
                Wait(world, put);
                var get = Map(world, random.Next(6)).GetAsync("a0").AsTask();
                Wait(world, get);
                Assert.Equal(value, Done(get).Value);
            }
        }
    }

    [Fact]
    public void I9_3_level_ordered_passes_the_checker_without_real_time_under_crashes_exclusions_joins_and_retries()
    {
        long runs = 0, lost = 0, views = 0, work = 0, unjudged = 0;
        SimulationRunner.ForEachSeed(2 * Seeds, $"*{nameof(I9_3_level_ordered_passes_the_checker_without_real_time_under_crashes_exclusions_joins_and_retries)}", DhtScenarios.Ordered.Case(done: run =>
            (runs, lost, views, work, unjudged) = (runs + 1, lost + (run.Lost ? 1 : 0), views + run.Views, work + run.Work, unjudged + run.Unjudged)));
        Assert.True(runs < 10 || (lost * 20 <= runs && views > runs / 2), $"{runs} schedules, {lost} of them lost a shard, {views} view changes");
        Assert.True(unjudged * 50 <= work, $"{unjudged} of {work} operations were not judged");
    }

    /// <summary>Seeds in which a read showed a value that was lost with the member that answered it.</summary>
    [Theory]
    [InlineData(83795)]
    public void I9_3_what_an_ordered_read_saw_at_a_member_that_is_lost_is_not_judged(int seed) => Assert.Null(DhtScenarios.Ordered.Judge((ulong)seed));

    [Theory]
    [InlineData(nameof(DhtRules.TimeOverAll), AnomalyKind.NotSerializable)]
    [InlineData(nameof(DhtRules.FlushCommitsHeld), AnomalyKind.LostWrite)]
    [InlineData(nameof(DhtRules.FlushNeedsAllHolders), AnomalyKind.IncompatibleOrder)]
    [InlineData(nameof(DhtRules.OutcomeTable), AnomalyKind.DuplicateElement)]
    [InlineData(nameof(DhtRules.CommitAdvancesClocks), AnomalyKind.NotSerializable)]
    [InlineData(nameof(DhtRules.WedgeFreezes), AnomalyKind.LostWrite)]
    public void I9_3_the_checker_without_real_time_notices_a_rule_that_ordered_needs(string rule, AnomalyKind anomaly) =>
        Assert.True(DhtScenarios.Ordered.FirstWithout(rule, anomaly.ToString(), 1000) is not null, $"1000 schedules without {rule} showed nothing.");

    [Fact]
    public void I9_4_a_put_that_was_reported_done_survives_its_coordinator()
    {
        for (ulong seed = 1; seed <= (ulong)Seeds; seed++)
        {
            var world = DhtWorld.Founded(6, seed);
            int coordinator = world.Random.Next(6);
            var keys = new[] { "a0", "a1" };
            var put = Map(world, coordinator).PutAsync(keys.Select(key => KeyValuePair.Create(key, (int)seed))).AsTask();
            Wait(world, put);
            Assert.True(put.IsCompletedSuccessfully);
            // It crashes at this very instant: what it had not handed to the network is lost with it.
            world.Crash(world.Members[coordinator], loseAll: true);
            world.ChangeView();
            int survivor = (coordinator + 1 + world.Random.Next(5)) % 6;
            var get = Map(world, survivor).GetAsync(keys).AsTask();
            Wait(world, get);
            Assert.Equal([(int)seed, (int)seed], Done(get).Values);
        }
    }

    [Fact]
    public void I9_5_after_coordinator_and_a_reading_replica_die_no_older_value_is_read()
    {
        for (ulong seed = 1; seed <= (ulong)Seeds; seed++)
        {
            var world = DhtWorld.Founded(6, seed);
            var put = Map(world, 1).PutAsync("a0", 7).AsTask();
            world.Poke();
            world.DeliverAll((from, to) => from == 1 || to == 1);
            Assert.True(put.IsCompletedSuccessfully);
            var read = Map(world, 2).GetAsync("a0").AsTask();
            Wait(world, read);
            Assert.Equal(7, Done(read).Value);
            world.Crash(world.Members[1], loseAll: true);
            world.Crash(world.Members[2], loseAll: true);
            world.ChangeView();
            foreach (int member in new[] { 0, 3, 4, 5 })
            {
                var again = Map(world, member).GetAsync("a0").AsTask();
                Wait(world, again);
                Assert.Equal(7, Done(again).Value);
            }
        }
    }

    [Fact]
    public void I9_6_puts_repeated_up_to_5_times_over_view_changes_are_counted_once()
    {
        for (ulong seed = 1; seed <= (ulong)Seeds; seed++)
        {
            var world = DhtWorld.Founded(5, seed);
            var random = world.Random;
            for (long n = 1; n <= 6; n++)
            {
                var id = new OperationId(world.Members[0].Host.Current!.State.Session, DhtWorld.Named + (ulong)n);
                var calls = new List<Task<PutResult>>();
                foreach (int member in Enumerable.Range(0, 5).OrderBy(_ => random.NextUInt64()).Take(1 + random.Next(5)))
                {
                    calls.Add(Counts(world, member).MergeAsync<long>([new("a0", 1L), new("a1", 1L)], new() { Operation = id }).AsTask());
                    for (int i = random.Next(30); i > 0; i--) Disturb(world);
                    if (random.Next(3) == 0) world.ChangeView();
                }
                foreach (var call in calls) Wait(world, call);
                Assert.Contains(calls, c => c.IsCompletedSuccessfully);
            }
            var get = Counts(world, 1).GetAsync(["a0", "a1"]).AsTask();
            Wait(world, get);
            Assert.Equal([6L, 6L], Done(get).Values);
        }
    }

    [Fact]
    public void I9_7_the_state_of_one_shard_is_transferred_and_nothing_when_the_donor_is_of_the_same()
    {
        for (ulong seed = 1; seed <= (ulong)Seeds; seed++)
        {
            var world = DhtWorld.Founded(6, seed);
            for (int i = 0; i < 20; i++) Wait(world, Map(world, 0).PutAsync([new($"{i}_0", i), new($"{i}_1", i)]).AsTask());
            world.Settle();
            world.Crash(world.Members[0]);
            world.ChangeView();
            world.Settle();
            Assert.Equal(0, world.Members.Sum(m => m.Dht.Counters.StateBytesSent));
            world.Crash(world.Members[2]);
            world.ChangeView();
            world.Settle();
            Assert.Equal(2, world.Initialised(0).Count);
            Assert.InRange(world.Members.Sum(m => m.Dht.Counters.StateBytesSent), 20 * 10, 20 * 80);
        }
    }

    private static DhtMap<string, int> Map(DhtWorld world, int member) => world.Members[member].Dht.Map<string, int>("ints");

    private static DhtMap<string, long> Counts(DhtWorld world, int member) => world.Members[member].Dht.Map<string, long>("longs");

    private static T Done<T>(Task<T> task) => task.Result;

    private static void Wait(DhtWorld world, Task task)
    {
        for (int i = 0; i < 4000 && !task.IsCompleted; i++) Disturb(world);
        if (!task.IsCompleted) world.RunUntil(() => task.IsCompleted, "The call");
    }

    /// <summary>Lets some time pass, or delivers one random frame.</summary>
    private static void Disturb(DhtWorld world)
    {
        world.Poke();
        var busy = world.Busy();
        if (busy.Count == 0 || world.Random.Next(10) == 0) world.Now += world.Random.Next(300_000);
        else
        {
            var (from, to) = busy[world.Random.Next(busy.Count)];
            world.Deliver(from, to);
        }
    }
}
