namespace Ida.Tests;

/// <summary>What users' resolvers and hashes do inside a turn costs their own call, with the same typed answer wherever it happens, and never a node.</summary>
public sealed class UserCodeInTurnsTests
{
    [Theory]
    [InlineData(0, "What must not be")]
    [InlineData(1, nameof(Silent))]
    [InlineData(2, nameof(Spiteful))]
    [InlineData(3, nameof(Silent))]
    [InlineData(4, "at most")]
    public async Task A_resolver_that_fails_in_any_way_leaves_the_entry_and_says_so_everywhere(int way, string text)
    {
        var world = new DhtWorld();
        for (int i = 0; i < 4; i++) world.Add();
        world.ChangeView();
        foreach (var member in world.Members) member.Enable(world.Options, Declare);
        world.ChangeView();
        var map = world.Members[1].Dht.Map<string, string>("texts");
        var stored = map.PutAsync([new("a0", "x"), new("a1", "x")]).AsTask();
        world.RunUntil(() => stored.IsCompleted, "The put");
        foreach (int through in new[] { 0, 1 })
        {
            var merge = world.Members[through].Dht.Map<string, string>("texts").MergeAsync<int>([new("a0", way), new("b0", way), new("a1", way)]).AsTask();
            world.RunUntil(() => merge.IsCompleted, "The merge");
            var error = await Assert.ThrowsAsync<ResolverException>(() => merge);
            Assert.Equal("texts", error.Map);
            Assert.Contains(text, error.Message, StringComparison.Ordinal);
        }
        world.Settle();
        for (int shard = 0; shard < 2; shard++) Assert.All(world.Initialised(shard), one => Assert.Single(DhtWorld.Slice(one).Entries));
        Assert.Equal(DhtWorld.Slice(world.Members[0]).Digest, DhtWorld.Slice(world.Members[2]).Digest);

        static void Declare(DhtMaps maps) => maps.Map<string, string>("texts").OnMerge<int>((_, _, how) => how switch
        {
            0 => throw new InvalidOperationException("What must not be"),
            1 => throw new Silent(""),
            2 => throw new Spiteful(),
            3 => throw new Silent(null!),
            _ => new string('x', 300_000),
        });
    }

    /// <summary>At a participant of a put, at the only participant of a read of two keys, and at a member that is asked for one key.</summary>
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_hash_that_throws_or_errs_at_another_member_fails_the_call_and_nothing_else(bool throws)
    {
        var hash = new FickleHash();
        var world = DhtWorld.Founded(4, options: new() { ShardSize = 2, TargetSize = 4, Hash = hash, Member = new() { Timeout = TimeSpan.FromHours(10) } });
        var map = world.Members[1].Dht.Map<string, int>("ints");
        var first = map.PutAsync([new("a0", 1), new("a1", 1)]).AsTask();
        world.RunUntil(() => first.IsCompleted, "The first put");
        world.Settle();
        var calls = new List<Task>
        {
            map.PutAsync([new("a0", 2), new("a1", 2)]).AsTask(), map.GetAsync("a0").AsTask(), map.GetAsync(["a0", "b0"]).AsTask(), map.GetAsync(["a0", "a1"]).AsTask(),
        };
        hash.Fails = throws;
        hash.Errs = !throws;
        world.RunUntil(() => calls.TrueForAll(call => call.IsCompleted), "The calls");
        Assert.All(calls, call => Assert.IsType<DhtConfigurationException>(call.Exception?.InnerException));
        hash.Fails = hash.Errs = false;
        world.Settle();
        var last = map.GetAsync(["a0", "a1"]).AsTask();
        world.RunUntil(() => last.IsCompleted, "The last read");
        Assert.Equal([1, 1], (await last).Values);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public async Task A_put_that_went_on_and_was_refused_by_a_hash_is_told_so_to_its_retry(int retriedAt)
    {
        var hash = new FickleHash();
        var world = DhtWorld.Founded(4, options: new() { ShardSize = 2, TargetSize = 4, Hash = hash, Member = new() { Timeout = TimeSpan.FromHours(10) } });
        var map = world.Members[1].Dht.Map<string, long>("longs");
        using var cancellation = new CancellationTokenSource();
        var put = map.MergePairAsync("a0", 1L, cancellationToken: cancellation.Token).AsTask();
        world.Poke();
        await cancellation.CancelAsync();
        world.Poke();
        var id = Assert.IsType<OutcomeUnknownException>(put.Exception!.InnerException).Operation;
        hash.Fails = true;
        world.Settle();
        hash.Fails = false;
        // Replicas may forget the put.
        var next = map.MergePairAsync("b0", 1L).AsTask();
        world.RunUntil(() => next.IsCompleted, "A put that acknowledges");
        var retry = world.Members[retriedAt].Dht.Map<string, long>("longs").MergePairAsync("a0", 1L, new() { Operation = id }).AsTask();
        world.RunUntil(() => retry.IsCompleted, "The retry");
        Assert.Contains("A hash refused", Assert.IsType<OutcomeForgottenException>(retry.Exception!.InnerException).Message, StringComparison.Ordinal);
        var read = map.GetAsync("a0").AsTask();
        world.RunUntil(() => read.IsCompleted, "The read");
        Assert.False((await read).Found);
    }

    /// <summary>A retry waits at its member for the put that goes on, and a hash refuses that put. Meanwhile a retry through another member is under way.</summary>
    [Fact]
    public async Task A_retry_that_waited_for_a_put_which_a_hash_refused_does_not_say_that_nothing_was_executed()
    {
        var hash = new FickleHash();
        var world = DhtWorld.Founded(4, options: new() { ShardSize = 2, TargetSize = 4, Hash = hash, Member = new() { Timeout = TimeSpan.FromHours(10) } });
        world.GivenFrom = 0;
        Task<PutResult> Put(int member, OperationId? id = null, CancellationToken token = default)
        {
            var put = world.Members[member].Dht.Map<string, long>("longs").MergePairAsync("a0", 1L, new() { Operation = id }, token).AsTask();
            world.Poke();
            return put;
        }
        using var cancellation = new CancellationTokenSource();
        var put = Put(1, token: cancellation.Token);
        await cancellation.CancelAsync();
        world.Poke();
        var id = Assert.IsType<OutcomeUnknownException>(put.Exception!.InnerException).Operation;
        var waits = Put(1, id);
        var retry = Put(3, id);
        hash.Fails = true;
        world.DeliverAll((from, to) => from == 1 || to == 1);
        hash.Fails = false;
        Assert.IsType<DhtConfigurationException>(Assert.IsType<OutcomeUnknownException>(waits.Exception?.InnerException).InnerException);
        Assert.DoesNotContain("nothing was executed", $"{waits.Exception}", StringComparison.OrdinalIgnoreCase);
        world.RunUntil(() => retry.IsCompleted, "The retry");
        Assert.Single((await retry).Versions);
    }

    /// <summary>One replica's hash breaks after the put. The put is over there, and it takes no key to tell how it ended.</summary>
    [Fact]
    public async Task R_a_retry_of_an_executed_put_ends_although_a_replica_cannot_place_its_key_any_more()
    {
        var world = new DhtWorld();
        var broken = new FickleHash();
        for (int i = 0; i < 4; i++) world.Add();
        world.ChangeView();
        foreach (var member in world.Members)
            member.Enable(new() { ShardSize = 2, TargetSize = 4, Hash = member.Index == 2 ? broken : new FickleHash(), Member = new() { Timeout = TimeSpan.FromHours(10) } }, DhtWorld.Maps);
        world.ChangeView();
        world.ViewRequested = false;
        var map = world.Members[0].Dht.Map<string, long>("longs");
        var id = PooledOperationTests.Unknown(world, map.MergePairAsync("a0", 1L, new() { Timeout = TimeSpan.FromMilliseconds(5) }).AsTask());
        world.Settle();
        ulong view = world.View!.Id;
        broken.Fails = true;
        var retry = world.Members[1].Dht.Map<string, long>("longs").MergePairAsync("a0", 1L, new() { Operation = id }).AsTask();
        world.RunUntil(() => retry.IsCompleted, "The retry", steps: 500);
        Assert.Single((await retry).Versions);
        Assert.Equal(view, world.View.Id);
    }

    /// <summary>The hash broke at the member where the put is repeated. Any member that says that the put was executed proves it, but its versions are not known there.</summary>
    [Theory]
    [InlineData("b0", true)]
    [InlineData("b1", false)]
    [InlineData("b1", true)]
    public async Task R_a_retry_of_an_executed_put_ends_although_its_own_member_misplaces_a_key(string misplaced, bool later)
    {
        var broken = new FickleHash();
        var world = new DhtWorld();
        for (int i = 0; i < 4; i++) world.Add();
        world.ChangeView();
        foreach (var member in world.Members)
            member.Enable(new() { ShardSize = 2, TargetSize = 4, Hash = member.Index == 1 ? broken : new FickleHash(), Member = new() { Timeout = TimeSpan.FromHours(10) } }, DhtWorld.Maps);
        world.ChangeView();
        world.ViewRequested = false;
        // With b0, the shard that the key comes to has nothing of the put; with b1, that shard has another number of its keys.
        KeyValuePair<string, long>[] pairs = misplaced == "b0" ? [new("a0", 1L), new("b0", 1L)] : [new("a0", 1L), new("b1", 1L), new("c1", 1L)];
        var id = PooledOperationTests.Unknown(world, world.Members[0].Dht.Map<string, long>("longs").MergeAsync(pairs, new() { Timeout = TimeSpan.FromMilliseconds(5) }).AsTask());
        world.Settle();
        if (later) world.ChangeView();
        broken.Misplaces = (byte)misplaced[0];
        var retry = world.Members[1].Dht.Map<string, long>("longs").MergeAsync(pairs, new() { Operation = id }).AsTask();
        world.RunUntil(() => retry.IsCompleted, "The retry", steps: 500);
        Assert.Empty((await retry).Versions);
    }

    /// <summary>The replica holds this very attempt, which came through another member, and answers it whatever its hash says by now.</summary>
    [Fact]
    public async Task R_a_retry_that_meets_the_attempt_of_another_member_ends_although_the_hash_broke_between_them()
    {
        var hash = new FickleHash();
        var world = new DhtWorld();
        for (int i = 0; i < 4; i++) world.Add();
        world.ChangeView();
        foreach (var member in world.Members)
            member.Enable(new() { ShardSize = 2, TargetSize = 4, Hash = member.Index == 0 ? hash : new FickleHash(), Member = new() { Timeout = TimeSpan.FromHours(10), TakeoverAfter = TimeSpan.FromHours(5) } }, DhtWorld.Maps);
        world.ChangeView();
        world.ViewRequested = false;
        world.Swallows = (from, to, _) => from == 1 && to is 0 or 2;
        var id = PooledOperationTests.Unknown(world, world.Members[1].Dht.Map<string, long>("longs").MergePairAsync("a0", 1L, new() { Timeout = TimeSpan.FromMilliseconds(5) }).AsTask());
        world.Swallows = null;
        var one = world.Members[2].Dht.Map<string, long>("longs").MergePairAsync("a0", 1L, new() { Operation = id }).AsTask();
        world.Poke();
        world.DeliverAll((from, to) => (from, to) is (2, 1) or (1, 2));
        Assert.True(world.Waiting(2, 0) > 0, world.Describe());
        world.Deliver(2, 0);
        hash.Fails = true;
        var other = world.Members[3].Dht.Map<string, long>("longs").MergePairAsync("a0", 1L, new() { Operation = id }).AsTask();
        world.Poke();
        world.DeliverAll((from, to) => (from, to) is (3, 1) or (1, 3));
        Assert.True(world.Waiting(3, 0) > 0, world.Describe());
        world.DeliverAll((from, to) => (from, to) is (3, 0) or (3, 2));
        world.RunUntil(() => one.IsCompleted && other.IsCompleted, "Both retries", steps: 500);
        Assert.Equal((await one).Versions, (await other).Versions);
    }

    [Fact]
    public void A_transfer_asks_no_hash_of_the_users()
    {
        var hash = new FickleHash();
        var world = DhtWorld.Founded(4, options: new() { ShardSize = 2, TargetSize = 4, Hash = hash, Member = new() { Timeout = TimeSpan.FromHours(10) } });
        var put = world.Members[1].Dht.Map<string, int>("ints").PutAsync([new("a0", 1), new("a1", 1)]).AsTask();
        world.RunUntil(() => put.IsCompleted, "The put");
        world.Settle();
        hash.Fails = true;
        var late = world.Add();
        world.ChangeView();
        late.Enable(world.Options, DhtWorld.Maps);
        world.ChangeView();
        world.Settle();
        Assert.Single(DhtWorld.Slice(late).Entries);
    }

    private sealed class FickleHash : IStableHash
    {
        private readonly LastByteHash _inner = new();

        public bool Fails { get; set; }

        public bool Errs { get; set; }

        /// <summary>The first letter of keys that go to the other shard; 0 for none.</summary>
        public byte Misplaces { get; set; }

        public string Name => "fickle";

        public ulong Hash(ReadOnlySpan<byte> key) => Fails ? throw new InvalidOperationException("no hash today") : _inner.Hash(key) ^ (Errs || (Misplaces != 0 && key[^2] == Misplaces) ? 1UL : 0);
    }

    private sealed class Silent(string message) : Exception
    {
        public override string Message => message;
    }

    private sealed class Spiteful : Exception
    {
        public override string Message => throw new InvalidOperationException("no text either");
    }
}
