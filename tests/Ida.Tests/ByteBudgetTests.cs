using Ida.Messages;
using Ida.Wire;

namespace Ida.Tests;

/// <summary>No member has more on the way to another than the link has room for, and operations that wait for room go on.</summary>
public sealed class ByteBudgetTests
{
    private const long Budget = 200_000;

    [Fact]
    public void F21_answers_wait_with_their_question_until_there_is_room()
    {
        // The askers' own limit of bytes in flight is too high to bound the answers.
        var world = DhtWorld.Founded(4, options: Options() with { Member = Options().Member with { MaxInFlightBytes = 1L << 30 } });
        world.BulkBytes = Budget;
        var map = world.Members[0].Dht.Map<string, byte[]>("bytes");
        var keys = Enumerable.Range(0, 40).Select(i => $"{(char)('a' + (i % 26))}{i % 10}").Distinct().ToList();
        var puts = keys.ConvertAll(key => map.PutAsync(key, new byte[9_000]).AsTask());
        world.RunUntil(() => puts.TrueForAll(put => put.IsCompleted), "Puts");
        Assert.All(puts, put => Assert.True(put.IsCompletedSuccessfully));
        var many = Enumerable.Range(0, 20).Select(i => map.GetAsync(keys).AsTask()).ToList();
        var single = keys.ConvertAll(key => map.GetAsync(key).AsTask());
        world.RunUntil(() => many.TrueForAll(get => get.IsCompleted) && single.TrueForAll(get => get.IsCompleted), "Gets");
        Assert.All(many, get => Assert.Equal(keys.Count, get.Result.Count(found => found.Value.Length == 9_000)));
        Assert.All(single, get => Assert.Equal(9_000, get.Result.Value.Length));
        Assert.InRange(world.MostQueued, Budget, Budget + (40 * 9_200) + 20_000);
    }

    [Fact]
    public void F21_what_a_view_change_issues_again_goes_out_as_there_is_room()
    {
        var world = DhtWorld.Founded(4, options: Options());
        world.BulkBytes = Budget;
        var map = world.Members[0].Dht.Map<string, byte[]>("bytes");
        var puts = Enumerable.Range(0, 100).Select(i => map.PutAsync($"{(char)('a' + (i % 26))}{i % 10}", new byte[50_000]).AsTask()).ToList();
        world.Poke();
        Assert.DoesNotContain(puts, put => put.IsCompleted);
        world.ChangeView();
        world.RunUntil(() => puts.TrueForAll(put => put.IsCompleted), "Puts");
        Assert.All(puts, put => Assert.True(put.IsCompletedSuccessfully));
        Assert.InRange(world.MostQueued, Budget, Budget + 60_000 + 20_000);
    }

    [Fact]
    public void F21_a_receiver_that_takes_nothing_does_not_stop_operations_on_others()
    {
        var world = DhtWorld.Founded(4, options: Options() with { Member = Options().Member with { MaxInFlight = 64 } });
        world.BulkBytes = Budget;
        var map = world.Members[0].Dht.Map<string, byte[]>("bytes");
        var stopped = world.Members.Single(m => m.Index != 0 && m.Host.Current!.State.Shard == ShardOf(world, "a0") && m.Host.Current.State.Slot == m.Host.Current.State.Map!.Members(m.Host.Current.State.Shard)[^1]);
        int shard = stopped.Host.Current!.State.Shard;
        string there = Enumerable.Range(0, 26).Select(i => $"{(char)('a' + i)}").First(key => ShardOf(world, key) == shard);
        string elsewhere = Enumerable.Range(0, 26).Select(i => $"{(char)('a' + i)}").First(key => ShardOf(world, key) != shard);
        var blocked = Enumerable.Range(0, 200).Select(i => map.PutAsync(there, new byte[20_000]).AsTask()).ToList();
        world.Poke();
        var others = Enumerable.Range(0, 200).Select(i => map.PutAsync(elsewhere, new byte[100]).AsTask()).ToList();
        for (int i = 0; i < 400 && !others.TrueForAll(put => put.IsCompleted); i++)
        {
            world.Poke();
            world.DeliverAll((from, to) => to != stopped.Index);
            world.Now += 2_000_000;
        }
        Assert.All(others, put => Assert.True(put.IsCompletedSuccessfully));
        Assert.DoesNotContain(blocked, put => put.IsCompletedSuccessfully);
        world.RunUntil(() => blocked.TrueForAll(put => put.IsCompleted), "Puts on the member that stood still");
        Assert.All(blocked, put => Assert.True(put.IsCompletedSuccessfully));
    }

    [Fact]
    public void R_a_put_of_more_bytes_than_may_wait_has_its_turn_beside_others_that_go_on()
    {
        var world = DhtWorld.Founded(4, options: Options() with { Member = Options().Member with { MaxInFlightBytes = 1 << 20 } });
        var map = world.Members[0].Dht.Map<string, byte[]>("bytes");
        var small = new Task?[4];
        Task? large = null;
        int ended = 0;
        for (int round = 0; round < 1_000 && large?.IsCompleted != true; round++)
        {
            for (int i = 0; i < small.Length; i++)
            {
                if (small[i] is { IsCompleted: false }) continue;
                ended += small[i] is { IsCompletedSuccessfully: true } ? 1 : 0;
                small[i] = map.PutAsync($"{(char)('a' + i)}{round % 2}", new byte[10]).AsTask();
            }
            if (round == 10) large = map.PutAsync(new[] { "u0", "v1", "w0", "x1", "y0", "z1" }.Select(static key => KeyValuePair.Create(key, (byte[]?)new byte[200_000]))).AsTask();
            world.Poke();
            // One of the small puts is always on the way.
            world.DeliverAll((from, to) => (from + to + round) % 2 == 0);
            world.Advance(TimeSpan.FromMilliseconds(1));
        }
        Assert.True(large!.IsCompletedSuccessfully, $"{ended} small ones ended: {large.Exception?.Message}");
        Assert.True(ended > 10);
    }

    /// <summary>Puts on the same member fill its link, and some always wait for it.</summary>
    [Fact]
    public void R_a_put_of_about_as_many_bytes_as_may_be_in_flight_has_its_turn_where_others_wait_for_the_link()
    {
        var world = DhtWorld.Founded(2, options: Options() with { ShardSize = 1, TargetSize = 2, Member = Options().Member with { MaxInFlightBytes = 1 << 20 } });
        world.BulkBytes = 20_000;
        var map = world.Members[0].Dht.Map<string, byte[]>("bytes");
        char last = (char)('0' + world.Members[1].Host.Current!.State.Shard);
        var small = new Task?[30];
        Task? large = null;
        int ended = 0;
        for (int round = 0; round < 1_000 && large?.IsCompleted != true; round++)
        {
            for (int i = 0; i < small.Length; i++)
            {
                if (small[i] is { IsCompleted: false }) continue;
                if (small[i] is { } before) Assert.True(before.IsCompletedSuccessfully, before.Exception?.InnerException?.Message);
                ended += small[i] is null ? 0 : 1;
                small[i] = map.PutAsync($"{i}_{last}", new byte[2_000]).AsTask();
            }
            world.Poke();
            if (round == 10) large = map.PutAsync(Enumerable.Range(0, 4).Select(i => KeyValuePair.Create($"large{i}_{last}", (byte[]?)new byte[210_000]))).AsTask();
            world.Poke();
            for (int i = 0; i < 4; i++) world.Deliver(0, 1);
            world.DeliverAll(static (from, _) => from != 0);
            world.Advance(TimeSpan.FromMilliseconds(1));
        }
        Assert.True(large!.IsCompletedSuccessfully, $"{ended} small ones ended: {large.Exception?.InnerException?.Message}");
        Assert.True(ended > 10);
        Assert.Null(world.Overfilled);
    }

    [Fact]
    public void R_reads_of_keys_that_are_absent_at_another_member_count_little_after_a_while()
    {
        var world = DhtWorld.Founded(2, options: Options() with { ShardSize = 1, TargetSize = 2, Member = Options().Member with { MaxInFlightBytes = 1 << 20 } });
        var map = world.Members[0].Dht.Map<string, byte[]>("bytes");
        char last = (char)('0' + world.Members[1].Host.Current!.State.Shard);
        for (int i = 0; i < 60; i++)
        {
            var read = map.GetAsync($"a{last}").AsTask();
            world.RunUntil(() => read.IsCompleted, "A read");
            Assert.True(read.IsCompletedSuccessfully);
        }
        var reads = Enumerable.Range(0, 100).Select(i => map.GetAsync($"{i}_{last}").AsTask()).ToList();
        world.Poke();
        Assert.Equal(reads.Count, world.Members[0].Host.Current!.Coordinator.Standing().Count(static one => one.Place == Coordination.OperationPhase.Sent));
        world.RunUntil(() => reads.TrueForAll(static read => read.IsCompletedSuccessfully), "The reads");
    }

    [Fact]
    public void R_reads_of_the_own_slice_count_little_after_a_while()
    {
        var world = DhtWorld.Founded(2, options: Options() with { ShardSize = 2, TargetSize = 2, Member = Options().Member with { MaxInFlightBytes = 1 << 20 } });
        var map = world.Members[0].Dht.Map<string, byte[]>("bytes");
        for (int i = 0; i < 60; i++)
        {
            var read = map.GetAsync(["a", "b"]).AsTask();
            world.RunUntil(() => read.IsCompleted, "A read");
            Assert.True(read.IsCompletedSuccessfully);
        }
        var put = map.PutAsync("a", new byte[10]).AsTask();
        var reads = Enumerable.Range(0, 100).Select(_ => map.GetAsync(["a", "b"]).AsTask()).ToList();
        world.Poke();
        Assert.False(put.IsCompleted);
        Assert.Equal(reads.Count + 1, world.Members[0].Host.Current!.Coordinator.Standing().Count(static one => one.Place == Coordination.OperationPhase.Sent));
        world.RunUntil(() => reads.TrueForAll(static read => read.IsCompletedSuccessfully), "The reads");
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void R_an_asker_that_takes_no_answers_does_not_cost_others_theirs(bool many)
    {
        var world = DhtWorld.Founded(4, options: Options() with { ShardSize = 1, Member = Options().Member with { MaxOperations = 64, MaxInFlightBytes = 1L << 30 } });
        world.BulkBytes = Budget;
        // The keys lie at one member. Of the others, the first asks and takes no answers.
        string[] keys = [.. Enumerable.Range(0, 10).Select(i => $"{(char)('a' + i)}0")];
        var put = world.Members[0].Dht.Map<string, byte[]>("bytes").PutAsync(keys.Select(key => KeyValuePair.Create(key, (byte[]?)new byte[9_000]))).AsTask();
        world.RunUntil(() => put.IsCompletedSuccessfully, "The put");
        world.Settle();
        var holder = world.Members.Single(m => m.Host.Current!.State.Shard == ShardOf(world, keys[0]));
        var slow = world.Members.First(m => m != holder);
        var other = world.Members.Last(m => m != holder);
        var stuck = Enumerable.Range(0, 300).Select(_ => Get(slow)).ToList();
        Deliver(stuck);
        Assert.Contains(stuck, get => !get.IsCompleted);
        for (int i = 0; i < 20; i++)
        {
            var get = Get(other);
            Deliver([get]);
            Assert.True(get.IsCompletedSuccessfully, get.Exception?.ToString());
        }
        world.RunUntil(() => stuck.TrueForAll(get => get.IsCompleted), "Gets of the asker that took nothing");
        Assert.All(stuck, get => Assert.True(get.IsCompletedSuccessfully || get.Exception!.InnerException is OverloadedException, get.Exception?.ToString()));
        Assert.Contains(stuck, get => get.IsCompletedSuccessfully);

        Task Get(HarnessMember member) => many ? member.Dht.Map<string, byte[]>("bytes").GetAsync(keys).AsTask() : member.Dht.Map<string, byte[]>("bytes").GetAsync(keys[0]).AsTask();

        void Deliver(List<Task> gets)
        {
            for (int i = 0; i < 50 && !gets.TrueForAll(get => get.IsCompleted); i++)
            {
                world.Poke();
                world.DeliverAll((_, to) => to != slow.Index);
                world.Now += 1_000_000;
            }
        }
    }

    [Fact]
    public void R_an_answer_to_an_attempt_that_another_one_replaced_is_not_kept()
    {
        var due = new AnswersDue(Options().Member);
        due.Add(2, Answer(7, 1, 100));
        due.Add(2, Answer(8, 1, 200));
        due.Add(2, Answer(7, 1, 300));
        due.Add(2, Answer(7, 2, 400));
        due.Add(3, Answer(7, 1, 500));
        Assert.True(due.TryTake(2, out var first));
        Assert.True(due.TryTake(2, out var second));
        Assert.Equal((new OperationId(1, 8), new OperationId(1, 7)), (first.Question.Id, second.Question.Id));
        Assert.False(due.HasAny(2));
        // Other issuers number their attempts by themselves.
        due.Add(2, new(DhtFrame.Quiescent, new(new(1, 7), 2), [1], []));
        due.Add(2, new(DhtFrame.Quiescent, new(new(1, 7), 1, 77), [1], []));
        Assert.True(due.TryTake(2, out _) && due.TryTake(2, out _));
        // So do members that retry a put, even with the same payload: an asker may wait for each of these attempts.
        foreach (uint attempt in (uint[])[1, 2, 1]) due.Add(2, new(DhtFrame.Quiescent, new(new(1, 7), attempt, 77), [1], []));
        Assert.True(due.TryTake(2, out var one) && due.TryTake(2, out var two) && (one.Attempt, two.Attempt) is (1, 2));
        Assert.False(due.HasAny(2));
        // An answer to an older attempt comes too late for anybody, and the newer answer stays.
        due.Add(2, Answer(9, 4, 100));
        due.Add(2, Answer(9, 3, 100));
        Assert.True(due.TryTake(2, out var newest));
        Assert.Equal(4u, newest.Attempt);
        Assert.False(due.HasAny(2));
        Assert.True(due.TryTake(3, out _));
        Assert.Equal((0, 0L), (due.Count, due.Bytes));

        static DueAnswer Answer(ulong request, uint attempt, int bytes) => new(DhtFrame.Value, new(new(1, request), attempt), [1, 2], [(new byte[bytes], 1)]);
    }

    /// <summary>Answers that come only when their shard is quiescent are refused beyond the bound, as answers that come at once are.</summary>
    [Fact]
    public void R_answers_that_wait_for_others_to_be_quiescent_are_bounded_too()
    {
        const int Reader = 1, Writer = 3;
        var world = DhtWorld.Founded(4, options: Options() with { Member = Options().Member with { MaxInFlightBytes = 1 << 20, TakeoverAfter = TimeSpan.FromHours(1) } });
        var map = world.Members[Reader].Dht.Map<string, byte[]>("bytes");
        string[] large = [.. Enumerable.Range(0, 8).Select(i => $"{(char)('a' + i)}0")];
        foreach (string key in large) Run(map.PutAsync(key, new byte[100_000]).AsTask());
        // Recent reads have brought little.
        for (int i = 0; i < 80; i++) Run(map.GetAsync(["y0", "z0", "large"]).AsTask());
        world.Settle();
        // In each of the two shards a put does not have its time yet.
        var first = world.Members[0].Dht.Map<string, byte[]>("bytes").PutAsync("v0", [1]).AsTask();
        var second = world.Members[Writer].Dht.Map<string, byte[]>("bytes").PutAsync("v1", [1]).AsTask();
        world.Poke();
        world.DeliverAll((from, to) => (from, to) is (0, 2) or (Writer, Reader));
        var reads = Enumerable.Range(0, 10).Select(_ => map.GetAsync([.. large, "v0", "v1"]).AsTask()).ToList();
        world.Poke();
        world.DeliverAll((from, to) => (from, to) is not (2, 0) and not (Reader, Writer));
        Assert.DoesNotContain(reads, read => read.IsCompleted);
        world.DeliverAll((from, to) => (from, to) is not (Reader, Writer));
        Assert.True(first.IsCompletedSuccessfully && !second.IsCompleted);
        Assert.Equal(2, reads.Count(read => !read.IsCompleted));
        Assert.All(reads.Where(read => read.IsCompleted), read => Assert.IsType<OverloadedException>(read.Exception!.InnerException));
        world.DeliverAll();
        Assert.Equal(2, reads.Count(read => read.IsCompletedSuccessfully));

        void Run(Task call)
        {
            world.RunUntil(() => call.IsCompleted, "A call");
            Assert.True(call.IsCompletedSuccessfully, call.Exception?.ToString());
        }
    }

    private static int ShardOf(DhtWorld world, string key)
    {
        var layer = world.Members[0].Host.Current!;
        var bytes = new System.Buffers.ArrayBufferWriter<byte>();
        GroupCore.Wire.CanonicalKey.Write(bytes, key);
        return layer.Places.ShardOf(layer.Places.Hash(bytes.WrittenSpan));
    }

    private static DhtOptions Options() => new() { ShardSize = 2, TargetSize = 4, Hash = new LastByteHash(), Member = new() { Timeout = TimeSpan.FromHours(10) } };
}
