
namespace Ida.Tests;

/// <summary>Foundation, joining, loss of shards, resolvers and errors as a caller sees them.</summary>
public sealed class LifeTests
{
    [Fact]
    public void Below_one_member_per_shard_enabling_waits()
    {
        var world = new DhtWorld();
        for (int i = 0; i < 3; i++) world.Add();
        world.ChangeView();
        var first = world.Members[0].Enable(world.Options, DhtWorld.Maps);
        world.ChangeView();
        Assert.False(first.Serving.IsCompleted);
        var second = world.Members[1].Enable(world.Options, DhtWorld.Maps);
        Assert.True(world.ViewRequested);
        world.ChangeView();
        Assert.True(first.Serving.IsCompletedSuccessfully && second.Serving.IsCompletedSuccessfully);
    }

    [Fact]
    public void Enabling_below_one_member_per_shard_ends_in_time_and_says_how_many_are_missing()
    {
        var world = new DhtWorld();
        world.Options = world.Options with { ShardSize = 1, Member = world.Options.Member with { EnableTimeout = TimeSpan.FromSeconds(30) } };
        for (int i = 0; i < 4; i++) world.Add();
        world.ChangeView();
        var first = world.Members[0].Enable(world.Options, DhtWorld.Maps);
        world.ChangeView();
        world.Advance(TimeSpan.FromSeconds(29));
        Assert.False(first.Serving.IsCompleted);
        world.Advance(TimeSpan.FromSeconds(1));
        var error = Assert.IsType<DhtNotFoundedException>(first.Serving.Exception!.InnerException);
        Assert.Equal((1, 3), (error.Enabled, error.Missing));
        Assert.IsType<DhtNotFoundedException>(first.WhenInitialisedAsync(TestContext.Current.CancellationToken).Exception!.InnerException);
        // The DHT can be enabled again, and then lives past that time.
        foreach (var member in world.Members) member.Enable(world.Options, DhtWorld.Maps);
        world.ChangeView();
        world.Advance(TimeSpan.FromMinutes(1));
        Assert.All(world.Members, member => Assert.True(member.Dht.Serving.IsCompletedSuccessfully && !member.Dht.Completion.IsCompleted));
    }

    [Fact]
    public void A_member_without_a_view_does_not_wait_for_ever()
    {
        var world = new DhtWorld();
        world.Add();
        world.ChangeView();
        var dht = world.Members[0].Enable(world.Options, DhtWorld.Maps);
        world.Advance(world.Options.Member.EnableTimeout);
        Assert.IsType<ViewUnavailableException>(dht.Serving.Exception!.InnerException);
    }

    [Fact]
    public void A_member_tells_when_it_is_initialised_and_again_for_another_shard()
    {
        var world = DhtWorld.Founded(6);
        var member = world.Members[4];
        Assert.True(Initialised().IsCompletedSuccessfully);
        // Slot 5 fills the first hole, without a transfer; for the second hole slot 4, of the other shard, has to move.
        world.Crash(world.Members[1]);
        world.ChangeView();
        world.Crash(world.Members[3]);
        world.ChangeView();
        Assert.Equal((1, false), (member.Host.Current!.State.Shard, member.Host.Current.State.Initialised));
        var initialised = Initialised();
        Assert.False(initialised.IsCompleted);
        world.Settle();
        Assert.True(initialised.IsCompletedSuccessfully);
        _ = member.Dht.CloseAsync().AsTask();
        world.RunUntil(() => member.Dht.Completion.IsCompleted, "Closing");
        Assert.IsType<NotDhtMemberException>(Initialised().Exception!.InnerException);

        Task Initialised() => member.Dht.WhenInitialisedAsync(TestContext.Current.CancellationToken);
    }

    /// <summary>What a turn tells callers goes out after the turn, and on a busy machine later than the answer to a question in the next turn.</summary>
    [Fact]
    public void A_caller_that_waits_for_a_member_to_be_initialised_is_not_told_what_it_was_before()
    {
        var world = DhtWorld.Founded(4);
        var member = world.Members[0];
        ((IDhtEvents)member.Dht).OnInitialised(false);
        Task[] waiting = [member.Dht.WhenInitialisedAsync(TestContext.Current.CancellationToken), member.Dht.WhenInitialisedAsync(CancellationToken.None)];
        Assert.All(waiting, one => Assert.False(one.IsCompleted));
        ((IDhtEvents)member.Dht).OnInitialised(true);
        world.RunUntil(() => Array.TrueForAll(waiting, one => one.IsCompleted), "That it is initialised");
        Assert.All(waiting, one => Assert.True(one.IsCompletedSuccessfully));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_caller_that_asks_for_the_status_after_the_end_is_told_of_the_end(bool depopulated)
    {
        var world = DhtWorld.Founded(4);
        var member = world.Members[0];
        if (depopulated)
        {
            world.Crash(world.Members[1]);
            world.Crash(world.Members[3]);
            world.ChangeView();
        }
        else
        {
            _ = member.Dht.CloseAsync().AsTask();
        }
        world.RunUntil(() => member.Dht.Completion.IsCompleted, "The end");
        Task[] asked = [member.Dht.StatusAsync(TestContext.Current.CancellationToken), member.Dht.SnapshotAsync(TestContext.Current.CancellationToken)];
        world.RunUntil(() => Array.TrueForAll(asked, one => one.IsCompleted), "The answers");
        foreach (var one in asked)
        {
            if (depopulated) Assert.Equal(1, (await Assert.ThrowsAsync<ShardDepopulatedException>(() => one)).Shard);
            else await Assert.ThrowsAsync<NotDhtMemberException>(() => one);
        }
    }

    [Fact]
    public void Other_options_or_fewer_maps_are_refused_and_disturb_nobody()
    {
        var world = DhtWorld.Founded(4);
        foreach (bool sizes in new[] { true, false })
        {
            var late = world.Add();
            world.ChangeView();
            var dht = late.Enable(sizes ? world.Options with { TargetSize = 6 } : world.Options, sizes ? DhtWorld.Maps : static maps => maps.Map<string, int>("ints"));
            world.ChangeView();
            var error = Assert.IsType<DhtConfigurationException>(dht.Serving.Exception!.InnerException);
            Assert.Contains(sizes ? "TargetSize is 6 here and 4 there" : "the map \"bytes\" is not declared here", error.Message);
            var again = late.Enable(world.Options, DhtWorld.Maps);
            world.RunUntil(() => again.Serving.IsCompletedSuccessfully, "The second try");
        }
        Assert.All(world.Members.Take(4), m => Assert.False(m.Dht.Completion.IsCompleted));
    }

    [Theory]
    [InlineData(0, 4)]
    [InlineData(3, 4)]
    [InlineData(5, 4)]
    public void Impossible_sizes_are_refused_at_once(int shardSize, int targetSize) =>
        Assert.Throws<DhtConfigurationException>(() => new DhtOptions { ShardSize = shardSize, TargetSize = targetSize }.Validate());

    [Theory]
    [InlineData(null)]
    [InlineData("")]
    [InlineData("é", 129)]
    [InlineData("half")]
    public void R_a_hash_whose_name_no_other_member_could_read_is_refused_at_the_call(string? name, int times = 1)
    {
        // An attribute cannot hold half of a pair.
        if (name == "half") name = "half \uD83D";
        var world = DhtWorld.Founded(4);
        var member = world.Add();
        world.ChangeView();
        string? whole = name is null ? null : string.Concat(Enumerable.Repeat(name, times));
        Assert.Throws<DhtConfigurationException>(() => member.Enable(world.Options with { Hash = new NamedHash(whole!) }, DhtWorld.Maps));
    }

    [Fact]
    public void R_a_takeover_waits_at_most_a_day()
    {
        var options = new DhtOptions { ShardSize = 2, TargetSize = 4 };
        Assert.Equal(2, (options with { Member = options.Member with { TakeoverAfter = TimeSpan.FromDays(1) } }).Validate());
        foreach (var after in new[] { TimeSpan.MaxValue, TimeSpan.FromDays(1) + TimeSpan.FromTicks(1), TimeSpan.Zero, Timeout.InfiniteTimeSpan })
            Assert.Throws<DhtConfigurationException>(() => (options with { Member = options.Member with { TakeoverAfter = after } }).Validate());
    }

    [Fact]
    public void R_no_hash_at_all_is_refused() =>
        Assert.Throws<DhtConfigurationException>(() => new DhtOptions { ShardSize = 1, TargetSize = 4, Hash = null! }.Validate());

    [Fact]
    public void R_a_level_that_names_none_is_refused() =>
        Assert.Contains("Level is 5", Assert.Throws<DhtConfigurationException>(() => new DhtOptions { ShardSize = 1, TargetSize = 4, Member = new() { Level = (ConsistencyLevel)5 } }.Validate()).Message, StringComparison.Ordinal);

    private sealed class NamedHash(string name) : IStableHash
    {
        public string Name => name;

        public ulong Hash(ReadOnlySpan<byte> key) => StableHash.XxHash64.Hash(key);
    }

    [Fact]
    public void I9_9_a_shard_without_an_initialised_member_ends_every_call_and_the_dht_can_begin_again()
    {
        var world = DhtWorld.Founded(4);
        var pending = world.Members[1].Dht.Map<string, int>("ints").PutAsync("a0", 1).AsTask();
        world.Members[1].Turn(static () => { });
        world.Crash(world.Members[0]);
        world.Crash(world.Members[2]);
        world.ChangeView();
        Assert.Equal(0, Assert.IsType<ShardDepopulatedException>(pending.Exception!.InnerException).Shard);
        var later = world.Members[3].Dht.Map<string, int>("ints").GetAsync("a1").AsTask();
        world.Poke();
        Assert.IsType<ShardDepopulatedException>(later.Exception!.InnerException);
        Assert.IsType<ShardDepopulatedException>(world.Members[1].Dht.Completion.Exception!.InnerException);
        foreach (int m in new[] { 1, 3 }) world.Members[m].Enable(world.Options, DhtWorld.Maps);
        world.ChangeView();
        Assert.All(new[] { 1, 3 }, m => Assert.True(world.Members[m].Dht.Serving.IsCompletedSuccessfully));
    }

    [Fact]
    public async Task I9_20_resolvers_merge_remove_fail_alike_and_are_asked_for_before_ordering()
    {
        var world = DhtWorld.Founded(4);
        var dht = world.Members[1].Dht;
        var counts = dht.Map<string, long>("longs");
        var texts = dht.Map<string, string>("texts");
        await Run(world, dht.NewBatch().Merge(counts, "a0", 5L).Merge(texts, "b1", 7).Put(texts, "c0", "t").CommitAsync());
        Assert.Equal(11L, await Run(world, counts.MergeAsync("a0", 6L)));
        var before = await Run(world, texts.GetAsync("b1"));
        var failed = await Assert.ThrowsAsync<PartlyAppliedException>(async () => await Run(world, texts.MergeAsync<int>([new("b1", -1), new("c0", 1)])));
        Assert.Equal(("texts", "b1"), (failed.Map, failed.Key));
        Assert.Contains("negative", failed.Message, StringComparison.Ordinal);
        var unspeakable = await Assert.ThrowsAsync<ResolverException>(async () => await Run(world, texts.MergeAsync("b1", int.MinValue)));
        Assert.Contains("Unspeakable", unspeakable.Message, StringComparison.Ordinal);
        var reading = dht.NewReading();
        var (count, text, other) = (reading.Add(counts, "a0"), reading.Add(texts, "b1"), reading.Add(texts, "c0"));
        await Run(world, reading.RunAsync());
        Assert.Equal((11L, "7", "t1"), (count.Value, text.Value, other.Value));
        Assert.Equal(before, text.Entry);
        Assert.Null(await Run(world, texts.MergeAsync("c0", 0)));
        Assert.False((await Run(world, texts.GetAsync("c0"))).Found);
        await Assert.ThrowsAsync<NoResolverException>(async () => await counts.MergeAsync("a0", "text"));
        world.Settle();
        foreach (int shard in new[] { 0, 1 }) Assert.Single(world.Initialised(shard).Select(m => DhtWorld.Slice(m).Digest).Distinct());
    }

    [Fact]
    public async Task Bad_input_gets_its_exception_before_anything_is_sent()
    {
        var world = DhtWorld.Founded(4);
        var map = world.Members[0].Dht.Map<string, string>("texts");
        await Assert.ThrowsAsync<ArgumentException>(async () => await map.PutAsync([new("a", "1"), new("a", "2")]));
        await Assert.ThrowsAsync<ValueTooLargeException>(async () => await map.PutAsync("a", new string('x', 300_000)));
        await Assert.ThrowsAsync<ArgumentNullException>(async () => await map.PutAsync(null!, "x"));
        await Assert.ThrowsAsync<UnsupportedTypeException>(async () => await world.Members[0].Dht.Map<HashSet<int>, int>("sets").GetAsync([[1]]));
        await Assert.ThrowsAsync<UnsupportedTypeException>(async () => await world.Members[0].Dht.Map<double, int>("doubles").GetAsync([double.NaN]));
        Assert.Empty((await map.PutAsync([])).Versions);
        Assert.Empty(await map.GetAsync([]));
        // A retry that has lost its pairs does not learn that the put was executed.
        PutOptions retry = new() { Operation = new(1, 7) };
        await Assert.ThrowsAsync<ArgumentException>(async () => await map.PutAsync([], retry));
        await Assert.ThrowsAsync<ArgumentException>(async () => await world.Members[0].Dht.NewBatch(retry).CommitAsync());
        Assert.Equal(0, world.Members.Sum(m => m.Dht.Counters.Sent));
    }

    [Fact]
    public async Task Cancelling_tells_what_is_known_and_the_outcome_can_be_asked_for()
    {
        var world = DhtWorld.Founded(4);
        using var cancel = new CancellationTokenSource();
        var map = world.Members[1].Dht.Map<string, long>("longs");
        var put = map.MergePairAsync("a0", 5L, cancellationToken: cancel.Token).AsTask();
        var early = map.MergePairAsync("b0", 5L, cancellationToken: new(true)).AsTask();
        world.Members[1].Turn(static () => { });
        await cancel.CancelAsync();
        world.Poke();
        var unknown = Assert.IsType<OutcomeUnknownException>(put.Exception!.InnerException);
        var again = map.MergePairAsync("a0", 5L, new() { Operation = unknown.Operation }).AsTask();
        world.RunUntil(() => again.IsCompletedSuccessfully && early.IsCompleted, "The answer");
        var get = map.GetAsync("a0").AsTask();
        world.RunUntil(() => get.IsCompleted, "The read");
        Assert.Equal(5L, (await get).Value);
    }

    private static async Task<T> Run<T>(DhtWorld world, ValueTask<T> call)
    {
        var task = call.AsTask();
        world.RunUntil(() => task.IsCompleted, "The call");
        return await task;
    }

    [Fact]
    public async Task A_call_at_a_member_that_was_excluded_ends_in_time_while_user_code_elsewhere_takes_longer()
    {
        var world = DhtWorld.Founded(6);
        var (excluded, slow) = (world.Members[0], world.Members[3]);
        world.ChangeView(excluded);
        var get = excluded.Dht.Map<string, long>("longs").GetAsync("a1", new() { Timeout = TimeSpan.FromSeconds(1) }).AsTask();
        var put = excluded.Dht.Map<string, long>("longs").PutAsync("a1", 1L, new() { Timeout = TimeSpan.FromSeconds(1) }).AsTask();
        world.Poke();
        slow.Stall(TimeSpan.FromSeconds(7));
        world.ChangeView();
        Assert.True(get.IsCompleted && put.IsCompleted);
        await Assert.ThrowsAsync<ViewUnavailableException>(() => get);
        await Assert.ThrowsAsync<OutcomeUnknownException>(() => put);
    }
}
