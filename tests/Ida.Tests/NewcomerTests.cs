using Ida.Wire;

namespace Ida.Tests;

/// <summary>Writers go on while a newcomer is given the state of its shard, however long the transfer takes.</summary>
public sealed class NewcomerTests
{
    /// <summary>A member that loads cannot tell about a session that ended before it came. Retries of that session's puts ask it again, ever more rarely, until it can.</summary>
    [Fact]
    public async Task R_retries_that_wait_for_a_newcomers_state_are_few_and_end_when_it_has_come()
    {
        const int Retries = 100;
        var world = DhtWorld.Founded(5);
        var lost = world.Members[4].Host.Current!.State.Session;
        world.Crash(world.Members[4], loseAll: true);
        world.ChangeView();
        var late = world.Add();
        world.ChangeView();
        late.Enable(world.Options, DhtWorld.Maps);
        world.ChangeView();
        Assert.Equal((0, false), (late.Host.Current!.State.Shard, late.Host.Current.State.Initialised));
        ulong view = world.View!.Id;
        var map = world.Members[1].Dht.Map<string, long>("longs");
        var retries = Enumerable.Range(1, Retries).Select(i => map.MergePairAsync($"k{i}_0", 1L, new() { Operation = new(lost, (ulong)i) }).AsTask()).ToList();
        long bytes = 0;
        world.Swallows = (from, to, type) =>
        {
            if (from == 1 && type == Ida.Wire.DhtFrame.Propose) bytes++;
            return false;
        };
        // The state takes ten seconds to come.
        for (int i = 0; i < 2_000; i++)
        {
            world.Advance(TimeSpan.FromMilliseconds(5));
            world.DeliverAll((from, to) => from == 1 || to == 1);
        }
        Assert.DoesNotContain(retries, retry => retry.IsCompleted);
        Assert.False(late.Host.Current.State.Initialised);
        Assert.InRange(bytes, Retries, Retries * 3 * 40);
        long before = world.Now;
        world.RunUntil(() => retries.TrueForAll(retry => retry.IsCompleted), "The retries");
        Assert.InRange(world.Now - before, 0, 200_000_000);
        foreach (var retry in retries) Assert.Single((await retry).Versions);
        Assert.Equal(view, world.View.Id);
        world.Settle();
        Assert.Equal(DhtWorld.Slice(world.Members[0]).Digest, DhtWorld.Slice(late).Digest);
    }

    private const int Source = 0, Newcomer = 4;

    /// <summary>The transfer does not move at all, and meanwhile more is written than any bound on what may be put aside.</summary>
    [Fact]
    public void F24_a_transfer_that_stands_still_keeps_nobody_from_writing()
    {
        var world = Filled(40, 10_000);
        Join(world);
        var map = world.Members[1].Dht.Map<string, byte[]>("bytes");
        var held = new byte[200_000];
        for (int round = 0; round < 20; round++)
        {
            var puts = Enumerable.Range(0, 20).Select(i => map.PutAsync($"{i % 7}_0", held).AsTask()).ToList();
            Deliver(world, puts, stall: true);
            Assert.All(puts, put => Assert.True(put.IsCompletedSuccessfully, put.Exception?.ToString()));
        }
        Assert.False(world.Members[Newcomer].Host.Current!.State.Initialised);
        world.Settle();
        AssertEqual(world);
    }

    /// <summary>Entries are removed that the newcomer has not heard of: nothing is refused for that, or kept for good.</summary>
    [Fact]
    public void F24_what_is_removed_during_a_transfer_does_not_come_back_and_leaves_nothing()
    {
        var world = Filled(200, 2_000);
        Join(world);
        var map = world.Members[1].Dht.Map<string, string>("texts");
        var calls = new List<Task<PutResult>>();
        for (int i = 0; i < 100; i++)
        {
            calls.Add(map.RemoveAsync([$"{i}_0"]).AsTask());
            calls.Add(map.PutAsync($"n{i}_0", "new").AsTask());
        }
        Deliver(world, calls, stall: true);
        calls.AddRange(Enumerable.Range(0, 100).Select(i => map.RemoveAsync([$"n{i}_0"]).AsTask()));
        Deliver(world, calls, stall: true);
        Assert.All(calls, put => Assert.True(put.IsCompletedSuccessfully, put.Exception?.ToString()));
        world.Settle();
        AssertEqual(world);
        Assert.Equal(100, DhtWorld.Slice(world.Members[Newcomer]).Entries.Count);
        Assert.Equal(100, world.Members[Newcomer].Host.Current!.Participant.Slice.Table.Count);
    }

    /// <summary>What a newcomer has to ask for is bounded by the number of keys, not by how often they are written.</summary>
    [Fact]
    public void R_a_key_that_is_put_and_removed_in_turns_during_a_transfer_is_asked_for_once()
    {
        var world = Filled(200, 2_000);
        Join(world);
        var map = world.Members[1].Dht.Map<string, string>("texts");
        var newcomer = world.Members[Newcomer].Host.Current!;
        for (int round = 0; round < 300; round++)
        {
            Deliver(world, [map.RemoveAsync(["7_0"]).AsTask()], stall: true);
            Deliver(world, [map.PutAsync("7_0", "again").AsTask()], stall: true);
        }
        Deliver(world, [map.RemoveAsync(["7_0"]).AsTask()], stall: true);
        Assert.InRange(newcomer.Sink.WantedCount, 1, 2);
        world.Settle();
        Assert.Equal(0, newcomer.Sink.WantedCount);
        AssertEqual(world);
        Assert.Equal(199, DhtWorld.Slice(world.Members[Newcomer]).Entries.Count);
    }

    /// <summary>The source has said that the key was absent, while the key had a value again: the next removal needs no mark, and nothing is asked.</summary>
    [Fact]
    public void A_key_that_was_absent_at_the_view_change_is_asked_for_once()
    {
        var world = Filled(200, 2_000);
        // No chunk is acknowledged, so all ranges but the first four stay away.
        world.Swallows = static (_, _, type) => type == DhtFrame.ChunkAck;
        Join(world);
        world.DeliverAll();
        var map = world.Members[1].Dht.Map<string, string>("texts");
        var newcomer = world.Members[Newcomer].Host.Current!.Participant;
        var sink = world.Members[Newcomer].Host.Current!.Sink;
        int before = newcomer.Slice.Table.Count;
        Deliver(world, [map.PutAsync("n_0", "new").AsTask()], stall: true);
        Deliver(world, [map.RemoveAsync(["n_0"]).AsTask()], stall: true);
        Assert.Equal((1, before + 1), (sink.WantedCount, newcomer.Slice.Table.Count));
        Deliver(world, [map.PutAsync("n_0", "again").AsTask()], stall: true);
        world.DeliverAll();
        Assert.Equal((0, before + 1), (sink.WantedCount, newcomer.Slice.Table.Count));
        Deliver(world, [map.RemoveAsync(["n_0"]).AsTask()], stall: true);
        for (int i = 0; i < 10; i++) world.Advance(TimeSpan.FromMilliseconds(2));
        world.DeliverAll(static (from, to) => (from, to) is not ((Source, Newcomer) or (Newcomer, Source)));
        Assert.Equal((0, before, 0), (sink.WantedCount, newcomer.Slice.Table.Count, newcomer.KeysInUse));
        world.Swallows = null;
        world.ChangeView();
        world.Settle();
        AssertEqual(world);
    }

    /// <summary>The base of a merge is asked for out of turn, so the merge waits for one round trip and not for the transfer.</summary>
    [Fact]
    public void F24_merges_wait_for_their_bases_and_not_for_the_transfer()
    {
        var world = Filled(400, 2_000);
        // No chunk is acknowledged, so all ranges but the first four stay away.
        world.Swallows = (_, _, type) => type == DhtFrame.ChunkAck;
        Join(world);
        var map = world.Members[1].Dht.Map<string, string>("texts");
        var newcomer = world.Members[Newcomer];
        for (int round = 0; round < 4; round++)
        {
            var merges = Enumerable.Range(0, 400).Select(i => map.MergePairAsync($"{i}_0", 1 + i).AsTask()).ToList();
            Deliver(world, merges, stall: false);
            Assert.All(merges, put => Assert.True(put.IsCompletedSuccessfully, put.Exception?.ToString()));
        }
        Assert.False(newcomer.Host.Current!.State.Initialised);
        Assert.True(world.Members[Source].Dht.Counters.SentOf(DhtFrame.Fetched) > 0);
        Assert.Equal(400, DhtWorld.Slice(newcomer).Entries.Count);
        Assert.Equal(Texts(world.Members[Source]), Texts(newcomer));
        world.Swallows = null;
        world.ChangeView();
        world.Settle();
        AssertEqual(world);
    }

    [Fact]
    public void F24_ranges_that_a_newcomer_has_are_not_sent_again_though_they_were_written_since()
    {
        var world = Filled(400, 2_000);
        Join(world);
        var map = world.Members[1].Dht.Map<string, string>("texts");
        var newcomer = world.Members[Newcomer];
        int acknowledged = 0;
        world.Swallows = (_, _, type) => type == DhtFrame.ChunkAck && ++acknowledged > 180;
        world.RunUntil(() => acknowledged > 180, "Most of the state");
        Assert.False(newcomer.Host.Current!.State.Initialised);
        var puts = Enumerable.Range(0, 400).Select(i => map.PutAsync($"{i}_0", new string('y', 2_000)).AsTask()).ToList();
        Deliver(world, puts, stall: true);
        Assert.All(puts, put => Assert.True(put.IsCompletedSuccessfully, put.Exception?.ToString()));
        world.Swallows = null;
        long before = world.Members[Source].Dht.Counters.StateBytesSent;
        world.ChangeView();
        world.Settle();
        AssertEqual(world);
        Assert.InRange(world.Members[Source].Dht.Counters.StateBytesSent - before, 0, 400_000);
    }

    /// <summary>Puts, removes, merges of one and many keys and puts with expectations in all orders, with view changes and the death of the source.</summary>
    [Fact]
    public async Task F24_whatever_is_written_during_a_transfer_replicas_end_equal()
    {
        int during = 0, merged = 0, unmet = 0;
        for (ulong seed = 1; seed <= 150; seed++)
        {
            var world = Filled(60, 1_500, seed);
            var random = world.Random;
            Join(world);
            var first = DhtWorld.Slice(world.Members[Source]).Of(world.Members[Source].Dht.Map<string, string>("texts")).ToDictionary(e => e.Key, e => e.Value.Version);
            var calls = new List<(Task<PutResult> Put, string[] Keys, long Element)>();
            var told = new List<(Task<PutResult> Put, string[] Keys)>();
            long element = 0;
            int changes = random.Next(3), initialised = 0;
            for (int step = 0; step < 600; step++)
            {
                if (random.Next(6) == 0 && calls.Count(c => !c.Put.IsCompleted) < 20) Write(1 + (2 * random.Next(2)));
                var busy = world.Busy();
                if (busy.Count == 0 || random.Next(12) == 0) world.Advance(TimeSpan.FromMicroseconds(400));
                else
                {
                    var (from, to) = busy[random.Next(busy.Count)];
                    world.Deliver(from, to);
                }
                if (!world.Members[Newcomer].Host.Current!.State.Initialised) initialised = step;
                if (changes > 0 && random.Next(150) == 0)
                {
                    changes--;
                    if (random.Next(3) == 0 && world.Members[Source].Alive) world.Crash(world.Members[Source]);
                    world.ChangeView();
                }
            }
            during += initialised > 100 ? 1 : 0;
            world.RunUntil(() => calls.TrueForAll(c => c.Put.IsCompleted), "The puts", steps: 20_000);
            world.Settle();
            AssertEqual(world);
            // Every merge that was reported done is in each of its lists once.
            foreach (var member in world.Initialised(0).Concat(world.Initialised(1)))
            {
                var lists = DhtWorld.Slice(member).Of(member.Dht.Map<string, List<long>>("lists")).ToDictionary(e => e.Key, e => e.Value.Value);
                foreach (var (put, keys, number) in calls)
                {
                    Assert.True(put.IsCompletedSuccessfully || put.Exception!.InnerException is ResolverException or PartlyAppliedException, put.Exception?.ToString());
                    int times = put.IsCompletedSuccessfully && !(await put).IsApplied ? 0 : 1;
                    foreach (string key in keys.Where(k => k[^1] - '0' == member.Host.Current!.State.Shard)) Assert.Equal(times, lists.GetValueOrDefault(key, []).Count(one => one == number));
                    merged += number > 0 ? 1 : 0;
                    unmet += 1 - times;
                }
            }

            void Write(int through)
            {
                var dht = world.Members[through].Dht;
                string[] keys = [.. Enumerable.Range(0, 1 + random.Next(3)).Select(_ => $"{random.Next(60)}_{random.Next(2)}").Distinct()];
                long number = ++element;
                switch (random.Next(7))
                {
                    case 0:
                        calls.Add((dht.Map<string, string>("texts").RemoveAsync(keys).AsTask(), [], 0));
                        break;
                    case 1:
                        calls.Add((dht.Map<string, string>("texts").PutAsync(keys.Select(k => KeyValuePair.Create(k, (string?)$"{number}"))).AsTask(), [], 0));
                        told.Add((calls[^1].Put, keys));
                        break;
                    case 2: calls.Add((dht.Map<string, string>("texts").MergeAsync(keys.Select(k => KeyValuePair.Create(k, random.Next(4) - 1))).AsTask(), [], 0)); break;
                    case 3 or 4: Expect(dht, keys, number); break;
                    default: calls.Add((dht.Map<string, List<long>>("lists").MergeAsync(keys.Select(k => KeyValuePair.Create(k, number))).AsTask(), keys, number)); break;
                }
                world.Poke();
            }

            // Of one shard: an entry that is looked at, one that is changed or removed, and a list.
            void Expect(Dht dht, string[] keys, long number)
            {
                char shard = keys[0][^1];
                string list = $"{random.Next(60)}_{shard}";
                var map = dht.Map<string, string>("texts");
                var batch = dht.NewBatch().Merge(dht.Map<string, List<long>>("lists"), list, number);
                foreach (var (i, key) in keys.Where(k => k[^1] == shard).Index())
                {
                    if (i < 2) batch.Expect(map, key, VersionOf(key));
                    if (random.Next(3) == 0) batch.Put(map, key, $"{number}");
                    else if (random.Next(2) == 0 || i == 2) batch.Remove(map, key);
                }
                calls.Add((batch.CommitAsync().AsTask(), [list], number));
            }

            // Mostly the version that was told last.
            ulong VersionOf(string key)
            {
                if (random.Next(6) == 0) return 0;
                return LastTold(told, key) ?? first.GetValueOrDefault(key);
            }
        }
        Assert.True(during > 50 && merged > 1000 && unmet > 300 && merged - unmet > 1000, $"{during} runs with a transfer under way, {merged} merges, {unmet} that were not met");
    }

    /// <summary>What is remembered of puts costs the install nothing. A newcomer gets it in pieces, as it acknowledges them.</summary>
    [Fact]
    public void R_outcomes_are_written_for_a_newcomer_in_pieces_and_not_at_the_install()
    {
        var world = DhtWorld.Founded(4);
        var map = world.Members[0].Dht.Map<string, long>("longs");
        var stuck = map.MergePairAsync("a1", 1L).AsTask();
        world.Poke();
        KeyValuePair<string, long>[] pairs = [.. Enumerable.Range(0, 1_000).Select(i => KeyValuePair.Create($"{i}_0", 1L))];
        for (int i = 0; i < 80; i++)
        {
            var put = map.MergeAsync(pairs).AsTask();
            for (int step = 0; step < 20 && !put.IsCompleted; step++)
            {
                world.Poke();
                world.DeliverAll((from, to) => from is 0 or 2 && to is 0 or 2);
            }
            Assert.True(put.IsCompletedSuccessfully);
        }
        var source = world.Members[Source].Host.Current!.Source;
        long before = GC.GetAllocatedBytesForCurrentThread();
        source.Open(1);
        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, 20_000);
        source.Close();
        int pieces = 0;
        world.Swallows = (_, _, type) =>
        {
            if (type == DhtFrame.StateEnd) pieces++;
            return type == DhtFrame.ChunkAck && pieces > 0 && !stuck.IsCompleted;
        };
        Join(world);
        var next = new List<Task<PutResult>>();
        for (int i = 0; i < 50; i++)
        {
            next.Add(map.MergeAsync([KeyValuePair.Create($"{i}_0", 1L), new("z1", 1L)]).AsTask());
            Deliver(world, next, stall: i % 2 == 0);
        }
        Assert.All(next, put => Assert.True(put.IsCompletedSuccessfully, put.Exception?.ToString()));
        Assert.True(stuck.IsCompletedSuccessfully);
        world.Swallows = (_, _, type) =>
        {
            if (type == DhtFrame.StateEnd) pieces++;
            return false;
        };
        if (!world.Members[Newcomer].Host.Current!.State.Initialised) world.ChangeView();
        world.Settle();
        Assert.InRange(pieces, 2, 100);
        AssertEqual(world);
    }

    /// <summary>A newcomer asks for single values while its link has no room: once, as it may, or again and again, like one that lies.</summary>
    [Theory]
    [InlineData(1)]
    [InlineData(20)]
    public void R_values_that_a_newcomer_asks_for_wait_for_room(int questions)
    {
        const int Keys = 20, Room = 5_000;
        var world = Filled(400, 2_000);
        var wanted = DhtWorld.Slice(world.Members[Source]).Entries.Take(Keys).Select(static entry => entry.Key.ToArray()).ToList();
        Join(world);
        world.BulkBytes = Room;
        var (source, newcomer) = (world.Members[Source], world.Members[Newcomer]);
        // It is sent as much as there is room for, and takes none of it.
        world.DeliverAll(static (_, to) => to == Source);
        var to = new BodyWriter(new byte[Keys * 100]);
        to.Var(Keys);
        foreach (byte[] key in wanted)
        {
            to.U8(1);
            to.Blob(key);
        }
        for (int i = 0; i < questions; i++) source.Deliver(new(DhtFrame.Fetch, to.Written.ToArray(), world.View!.Id, newcomer.Rank));
        Assert.Equal(0, source.Dht.Counters.SentOf(DhtFrame.Fetched));
        Assert.Equal(questions - 1, source.Node.Counters.Refused(GroupCore.Runtime.RefusalReason.Unexpected));
        Assert.Null(world.Overfilled);
        world.Settle();
        Assert.Equal(1, source.Dht.Counters.SentOf(DhtFrame.Fetched));
        AssertEqual(world);
    }

    /// <summary>Callers' puts, answers to the newcomer's reads, and its state share one link, and each always has more to send than the link takes.</summary>
    [Theory]
    [InlineData(true, false)]
    [InlineData(false, true)]
    [InlineData(true, true)]
    public void R_state_operations_and_answers_share_a_link_that_is_always_full(bool puts, bool reads)
    {
        const int AtOnce = 20, Most = 20_000;
        var world = Filled(400, 2_000);
        Join(world);
        world.BulkBytes = 5_000;
        var (source, newcomer) = (world.Members[Source], world.Members[Newcomer]);
        var writing = source.Dht.Map<string, string>("texts");
        var reading = newcomer.Dht.Map<string, string>("texts");
        var calls = new Task?[2 * AtOnce];
        int put = 0, read = 0;
        for (int round = 0; round < Most && !(newcomer.Host.Current!.State.Initialised && (put > 500 || !puts) && (read > 500 || !reads)); round++)
        {
            for (int i = 0; i < AtOnce; i++)
            {
                if (puts && calls[i] is null or { IsCompletedSuccessfully: true }) (calls[i], put) = (writing.PutAsync($"w{put % 50}_0", new string('y', 2_000)).AsTask(), put + 1);
                if (reads && calls[AtOnce + i] is null or { IsCompletedSuccessfully: true }) (calls[AtOnce + i], read) = (reading.GetAsync($"{read % 400}_0").AsTask(), read + 1);
            }
            if (round % 2 == 0) world.Advance(TimeSpan.FromMilliseconds(1));
            world.DeliverAll((from, to) => (from, to) != (Source, Newcomer));
            world.Deliver(Source, Newcomer);
        }
        Assert.True(newcomer.Host.Current!.State.Initialised, $"{put} puts and {read} reads began, and the state is not there");
        Assert.True((put > 500 || !puts) && (read > 500 || !reads), $"{put} puts, {read} reads");
        Assert.Null(world.Overfilled);
    }

    private static ulong? LastTold(List<(Task<PutResult> Put, string[] Keys)> told, string key)
    {
        int last = told.FindLastIndex(one => one.Put.IsCompletedSuccessfully && one.Keys.Contains(key));
        return last < 0 ? null : told[last].Put.Result.Versions[Array.IndexOf(told[last].Keys, key)];
    }

    private static DhtWorld Filled(int keys, int bytes, ulong seed = 1)
    {
        var world = DhtWorld.Founded(4, seed);
        var map = world.Members[0].Dht.Map<string, string>("texts");
        var lists = world.Members[0].Dht.Map<string, List<long>>("lists");
        var puts = Enumerable.Range(0, keys).Select(i => map.PutAsync($"{i}_0", new string('x', bytes)).AsTask()).ToList();
        if (keys == 60) puts.AddRange(Enumerable.Range(0, keys).Select(i => lists.MergePairAsync($"{i}_0", -1L).AsTask()));
        world.RunUntil(() => puts.TrueForAll(put => put.IsCompletedSuccessfully), "The puts");
        world.Settle();
        return world;
    }

    private static void Join(DhtWorld world)
    {
        var late = world.Add();
        world.ChangeView();
        late.Enable(world.Options, DhtWorld.Maps);
        world.ChangeView();
        Assert.False(late.Host.Current!.State.Initialised);
        Assert.Equal(0, late.Host.Current.State.Shard);
    }

    /// <summary>Runs the calls to their end while nothing passes between source and newcomer, or everything does.</summary>
    private static void Deliver(DhtWorld world, List<Task<PutResult>> calls, bool stall)
    {
        for (int i = 0; i < 2_000 && !calls.TrueForAll(c => c.IsCompleted); i++)
        {
            world.Poke();
            world.DeliverAll((from, to) => !stall || (from, to) is not ((Source, Newcomer) or (Newcomer, Source)));
            world.Now += 500_000;
        }
    }

    private static void AssertEqual(DhtWorld world)
    {
        for (int shard = 0; shard < 2; shard++)
        {
            var initialised = world.Initialised(shard);
            Assert.All(initialised, one => Assert.Equal(DhtWorld.Slice(initialised[0]).Digest, DhtWorld.Slice(one).Digest));
        }
    }

    private static SortedDictionary<string, string> Texts(HarnessMember member) =>
        new(DhtWorld.Slice(member).Of(member.Dht.Map<string, string>("texts")).ToDictionary(e => e.Key, e => $"{e.Value.Version} {e.Value.Value}"), StringComparer.Ordinal);
}
