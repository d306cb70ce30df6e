namespace Ida.Tests;

/// <summary>
/// Two members repeat one put, and their hashes put a key of it into different shards: what they issue are two attempts, never one with two
/// sets of participants.
/// </summary>
public sealed class PlacedAttemptTests
{
    private const int Usual = 1, Other = 2;

    /// <summary>Both come to the shard of the key that they agree on, whose replicas hear of the two decisions in different order.</summary>
    [Fact]
    public void R_retries_whose_members_place_a_key_differently_leave_replicas_alike()
    {
        var world = Founded();
        world.Members[Usual].Skew = 1_000_000;
        var id = new OpId(world.Members[3].Host.Current!.State.Session, DhtWorld.Named);
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
        Assert.Equal(["a0", "b1"], Enumerable.Range(0, 4).SelectMany(shard => DhtWorld.Slice(world.Members[shard]).Of(world.Members[shard].Dht.Map<string, int>("m"))).Select(entry => entry.Key).Order());
    }

    /// <summary>The keys come in another order where they lie in other shards: they are the pairs of the put all the same.</summary>
    [Fact]
    public async Task R_a_retry_is_not_another_put_because_its_member_places_a_key_differently()
    {
        var world = Founded();
        var put = world.Members[Usual].Dht.Map<string, int>("m").OrderedPutAsync([new("b1", 1), new("c1", 1), new("d2", 1)]).AsTask();
        world.RunUntil(() => put.IsCompleted, "The put");
        world.Settle();
        var retry = Put(world, Other, (await put).Operation, "b1", "c1", "d2");
        world.RunUntil(() => retry.IsCompleted, "The retry", steps: 500);
        Assert.IsNotType<OperationIdReusedException>(retry.Exception?.InnerException);
    }

    /// <summary>Four shards of two members each; at those of shard 2 the keys with a b lie in the next shard.</summary>
    private static DhtWorld Founded()
    {
        var world = new DhtWorld();
        for (int i = 0; i < 8; i++) world.Add();
        world.ChangeView();
        foreach (var member in world.Members)
            member.Enable(new() { ShardSize = 2, TargetSize = 8, Hash = new PlacingHash(member.Index % 4 == Other ? 1UL : 0), Timeout = TimeSpan.FromSeconds(5) }, DhtWorld.Resolvers);
        world.ChangeView();
        world.ViewRequested = false;
        return world;
    }

    private static Task<PutResult> Put(DhtWorld world, int through, OpId id, params string[] keys) =>
        world.Members[through].Dht.Map<string, int>("m").OrderedPutAsync(keys.Select(key => KeyValuePair.Create(key, 1)), new() { Operation = id }).AsTask();

    private sealed class PlacingHash(ulong step) : IStableHash
    {
        private readonly LastByteHash _inner = new();

        public string Name => "placing";

        public ulong Hash(ReadOnlySpan<byte> key) => _inner.Hash(key) + (key[^2] == (byte)'b' ? step : 0);
    }
}
