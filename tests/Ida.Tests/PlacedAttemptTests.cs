namespace Ida.Tests;

/// <summary>
/// Two members repeat one put, and their hashes place one of its keys in different shards: they issue two attempts, never one attempt with two
/// sets of participants.
/// </summary>
public sealed class PlacedAttemptTests
{
    private const int Usual = 1, Other = 2;

    /// <summary>Both attempts reach the shard of the key that the members agree on, whose replicas hear of the two decisions in different order.</summary>
    [Fact]
    public void R_retries_whose_members_place_a_key_differently_leave_replicas_alike()
    {
        var world = Founded();
        world.Members[Usual].Skew = 1_000_000;
        var id = new OperationId(world.Members[3].Host.Current!.State.Session, DhtWorld.Named);
        var one = Put(world, Usual, id, "a0", "b1");
        var two = Put(world, Other, id, "a0", "b1");
        world.Poke();
        world.DeliverAll((from, to) => from == Other);
        world.DeliverAll((from, to) => from == Usual);
        world.DeliverAll((from, to) => from is not (Usual or Other));
        world.DeliverAll((from, to) => (from, to) is (Usual, 0) or (Other, 4));
        world.RunUntil(() => one.IsCompleted && two.IsCompleted, "Both retries", steps: 500);
        world.Settle();
        for (int shard = 0; shard < 4; shard++) Assert.Null(DhtWorld.Difference(world.Members[shard], world.Members[shard + 4]));
        Assert.All(world.Members, member => Assert.False(member.Host.Current!.Coordinator.HasWork));
        Assert.Equal(["a0", "b1"], Enumerable.Range(0, 4).SelectMany(shard => DhtWorld.Slice(world.Members[shard]).Of(world.Members[shard].Dht.Map<string, int>("ints"))).Select(entry => entry.Key).Order());
    }

    /// <summary>Where keys lie in other shards they come in another order, and are the pairs of the put all the same.</summary>
    [Fact]
    public async Task R_a_retry_is_not_another_put_because_its_member_places_a_key_differently()
    {
        var world = Founded();
        var put = world.Members[Usual].Dht.Map<string, int>("ints").PutAsync([new("b1", 1), new("c1", 1), new("d2", 1)]).AsTask();
        world.RunUntil(() => put.IsCompleted, "The put");
        world.Settle();
        var retry = Put(world, Other, (await put).Operation, "b1", "c1", "d2");
        world.RunUntil(() => retry.IsCompleted, "The retry", steps: 500);
        Assert.IsNotType<OperationIdReusedException>(retry.Exception?.InnerException);
    }

    /// <summary>
    /// A newcomer has executed the put, and all know that, when another put comes under its id, or the same put with a key in another shard. Nobody
    /// else of the shard is left when the view ends, so what the newcomer holds there decides.
    /// </summary>
    [Theory]
    [InlineData(false, false)]
    [InlineData(false, true)]
    [InlineData(true, false)]
    [InlineData(true, true)]
    public void R_a_newcomer_that_executed_a_put_holds_no_other_under_its_id(bool merges, bool otherPairs)
    {
        const int Old = 0;
        var world = Founded();
        world.Crash(world.Members[Old + 4], loseAll: true);
        world.ChangeView();
        var newcomer = world.Add();
        world.ChangeView();
        Enable(newcomer);
        world.ChangeView();
        Assert.Equal((Old, false), (newcomer.Host.Current!.State.Shard, newcomer.Host.Current.State.Initialised));
        world.GivenFrom = DhtWorld.Named;
        var id = new OperationId(world.Members[3].Host.Current!.State.Session, DhtWorld.Named);
        var one = Call(Usual, 1);
        for (int i = 0; i < 300; i++)
        {
            world.Poke();
            world.DeliverAll((from, to) => (from, to) != (Old, newcomer.Index));
            world.Now += 2_000_000;
        }
        Assert.True(one.IsCompletedSuccessfully, world.Describe());
        Assert.All(world.Members.FindAll(static member => member.Alive), static member => Assert.Equal(0, member.Host.Current!.Participant.Records.Count));
        Assert.False(newcomer.Host.Current.State.Initialised);
        var two = Call(Other, otherPairs ? 2 : 1);
        world.Poke();
        world.DeliverAll((from, to) => from == Other && to != Old);
        world.DeliverAll((from, to) => (from, to) == (Old, newcomer.Index) || (from, to) == (newcomer.Index, Old));
        Assert.True(newcomer.Host.Current.State.Initialised);
        world.Crash(world.Members[Old], loseAll: true);
        world.ChangeView();
        world.RunUntil(() => two.IsCompleted, "The other one");
        world.Settle();
        // By either hash, the key lies where the first call put it, and nowhere else.
        Assert.Equal([(1, "b1")], Enumerable.Range(1, 3).SelectMany(shard => DhtWorld.Slice(world.Initialised(shard)[0]).Of(world.Members[Usual].Dht.Map<string, long>("longs")).Select(entry => (shard, entry.Key))));

        Task<PutResult> Call(int through, long value)
        {
            KeyValuePair<string, long>[] pairs = [new("a0", value), new("b1", value)];
            var map = world.Members[through].Dht.Map<string, long>("longs");
            var options = new PutOptions { Operation = id };
            var task = merges ? map.MergeAsync<long>(pairs, options).AsTask() : map.PutAsync(pairs, options).AsTask();
            world.Poke();
            return task;
        }
    }

    /// <summary>Four shards of two members each. By the hash of the members of shard 2, keys with a b lie in the next shard.</summary>
    private static DhtWorld Founded()
    {
        var world = new DhtWorld();
        for (int i = 0; i < 8; i++) world.Add();
        world.ChangeView();
        foreach (var member in world.Members) Enable(member);
        world.ChangeView();
        world.ViewRequested = false;
        return world;
    }

    private static void Enable(HarnessMember member) =>
        member.Enable(new() { ShardSize = 2, TargetSize = 8, Hash = new PlacingHash(member.Index % 4 == Other ? 1UL : 0), Member = new() { Timeout = TimeSpan.FromSeconds(5) } }, DhtWorld.Maps);

    private static Task<PutResult> Put(DhtWorld world, int through, OperationId id, params string[] keys) =>
        world.Members[through].Dht.Map<string, int>("ints").PutAsync(keys.Select(key => KeyValuePair.Create(key, 1)), new() { Operation = id }).AsTask();

    private sealed class PlacingHash(ulong step) : IStableHash
    {
        private readonly LastByteHash _inner = new();

        public string Name => "placing";

        public ulong Hash(ReadOnlySpan<byte> key) => _inner.Hash(key) + (key[^2] == (byte)'b' ? step : 0);
    }
}
