using System.Globalization;

namespace Ida.Tests;

/// <summary>
/// The hot path allocates only what it keeps or returns. Measured at each member by itself, in a DHT of two shards with two members each on one thread: at the caller
/// in its call, at all members in their turns. Besides stored values, only the rare growth of a pool remains, below one byte per operation.
/// </summary>
[Collection(Alone)]
public sealed class AllocationTests(ITestOutputHelper output)
{
    public const string Alone = "allocation of the DHT";
    private const int Batches = 300;

    /// <summary>An array of up to 8 bytes: a stored value.</summary>
    private const int Value = 32;

    /// <summary>What is told of a put besides its versions.</summary>
    private const int Report = 40;

    /// <summary>What a merge brings, what is stored, what the call of the resolver takes, and the report.</summary>
    private const int Executing = (3 * Value) + Report;

    /// <summary>The same, where the key is no object.</summary>
    private const int ExecutingByNumber = (2 * Value) + Report;

    private readonly LoopbackDht _world = new(4, new() { ShardSize = 2, TargetSize = 4 }, static maps =>
    {
        maps.Map<string, int>("ints").OnMerge<int>(static (_, stored, incoming) => stored + incoming);
        maps.Map<long, int>("placed").ShardBy(static key => key / 8).OnMerge<int>(static (_, stored, incoming) => stored + incoming);
    });

    [Theory]
    [InlineData(0, 1)]
    [InlineData(0, 32)]
    [InlineData(1, 1)]
    [InlineData(1, 32)]
    public void A_put_of_one_key_allocates_the_stored_value_at_each_participant(int shard, int batch)
    {
        var map = MapOf(0);
        string key = _world.KeyOf(shard);
        int next = 0;
        Check("Put", batch, () => map.PutAsync(key, ++next), static result => result.Versions.Count == 1, rank => _world.ShardOf(rank) == shard ? Value : 0);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(32)]
    public void A_put_of_three_keys_over_two_shards_allocates_the_stored_values_at_each_participant(int batch)
    {
        var map = MapOf(0);
        var pairs = ThreePairs(map);
        Check("Put of 3 keys", batch, () => map.PutAsync(pairs), static result => result.Versions.Count == 3, KeptOfThree);
    }

    /// <summary>All members put the same keys at once. Their proposals differ, so times are fixed and told in a second round.</summary>
    [Theory]
    [InlineData(4)]
    [InlineData(32)]
    public void Puts_in_conflict_allocate_the_stored_values_at_each_participant(int batch)
    {
        DhtMap<string, int>[] maps = [.. Enumerable.Range(0, 4).Select(MapOf)];
        var pairs = ThreePairs(maps[0]);
        int next = 0;
        Check("Puts in conflict", batch, () => maps[next++ % 4].PutAsync(pairs), static result => result.Versions.Count == 3, KeptOfThree);
        Assert.True(_world.Dhts.Sum(d => d.Counters.SlowPaths) > 0);
    }

    [Theory]
    [InlineData(0, 1)]
    [InlineData(0, 32)]
    [InlineData(1, 1)]
    [InlineData(1, 32)]
    public void A_get_of_one_key_allocates_nothing(int shard, int batch)
    {
        var map = MapOf(0);
        string key = Stored(map, shard);
        Check("Get", batch, () => map.GetAsync(key), static found => found is { Value: 17 }, static _ => 0);
        Assert.Equal(shard == _world.ShardOf(0), _world.Dhts[0].Counters.LocalReads > 0);
    }

    [Theory]
    [InlineData(0, 1)]
    [InlineData(0, 32)]
    [InlineData(1, 1)]
    [InlineData(1, 32)]
    public void A_put_whose_expectation_is_not_met_allocates_what_it_brings_and_its_reports(int shard, int batch)
    {
        var map = MapOf(0);
        string key = Stored(map, shard);
        Check("Unmet replace", batch, () => map.TryReplaceAsync(key, 5, ulong.MaxValue), static applied => !applied, rank => Kept(rank, shard, Value + Report, Report), rank => KeptAtMost(rank, shard, Value + Report, Report));
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    public void A_put_whose_expectation_is_met_allocates_no_more_than_one_without(int shard)
    {
        var map = MapOf(0);
        string key = Stored(map, shard);
        var bytes = new System.Buffers.ArrayBufferWriter<byte>();
        System.Buffers.BuffersExtensions.Write(bytes, map.Identity);
        GroupCore.Wire.CanonicalKey.Write(bytes, key);
        byte[] stored = bytes.WrittenSpan.ToArray();
        ulong place = KeyIdentity.PlaceOf(stored);
        var table = _world.Dhts[Enumerable.Range(0, 4).First(rank => _world.ShardOf(rank) == shard)].Layer.Participant.Slice.Table;
        Check("Replace", 1, () => map.TryReplaceAsync(key, 5, table.Find(stored, place)!.Version), static applied => applied, rank => _world.ShardOf(rank) == shard ? Value : 0);
    }

    [Theory]
    [InlineData(0, 1)]
    [InlineData(0, 32)]
    [InlineData(1, 1)]
    [InlineData(1, 32)]
    public void A_merge_of_one_key_allocates_what_it_brings_and_what_is_stored(int shard, int batch)
    {
        var map = MapOf(0);
        string key = Stored(map, shard);
        Check("Merge", batch, () => map.MergeAsync(key, 1), static _ => true, rank => Kept(rank, shard, Executing, Report + Value), rank => KeptAtMost(rank, shard, Executing, Report + Value));
    }

    [Fact]
    public void A_call_that_can_be_cancelled_allocates_no_more()
    {
        using var cancellation = new CancellationTokenSource();
        var map = MapOf(0);
        string key = Stored(map, 1);
        Check("Get with a token", 32, () => map.GetAsync(key, null, cancellation.Token), static found => found is { Value: 17 }, static _ => 0);
    }

    /// <summary>User code runs under the invariant culture, at the caller and at each replica. For this, a process in English allocates no more than one without a culture.</summary>
    [Theory]
    [InlineData("get", 0)]
    [InlineData("get", 1)]
    [InlineData("put", 0)]
    [InlineData("put", 1)]
    [InlineData("merge", 0)]
    [InlineData("merge", 1)]
    public void A_key_with_a_shard_key_allocates_no_more_under_another_culture(string call, int shard)
    {
        var culture = CultureInfo.CurrentCulture;
        CultureInfo.CurrentCulture = (CultureInfo)CultureInfo.InvariantCulture.Clone();
        try
        {
            var map = _world.Dhts[0].Map<long, int>("placed");
            long key = Placed(shard);
            var stored = map.PutAsync(key, 17).AsTask();
            _world.Group.Run();
            Assert.True(stored.IsCompletedSuccessfully);
            if (call == "get") Check("Placed get", 1, () => map.GetAsync(key), static found => found is { Value: 17 }, static _ => 0);
            else if (call == "put") Check("Placed put", 1, () => map.PutAsync(key, 3), static result => result.Versions.Count == 1, rank => _world.ShardOf(rank) == shard ? Value : 0);
            else Check("Placed merge", 1, () => map.MergeAsync(key, 1), static _ => true, rank => Kept(rank, shard, ExecutingByNumber, Report + Value), rank => KeptAtMost(rank, shard, ExecutingByNumber, Report + Value));
        }
        finally
        {
            CultureInfo.CurrentCulture = culture;
        }
    }

    /// <summary>A key of the map with a shard key, in the given shard.</summary>
    private long Placed(int shard)
    {
        var layer = _world.Dhts[0].Layer;
        var map = layer.State.Maps.Named("placed")!;
        for (long key = 0; ; key += 8)
        {
            var bytes = new System.Buffers.ArrayBufferWriter<byte>();
            GroupCore.Wire.CanonicalKey.Write(bytes, key);
            if (layer.Places.ShardOf(layer.Places.Hash(map, bytes.WrittenSpan)) == shard) return key;
        }
    }

    private int KeptOfThree(int rank) => _world.ShardOf(rank) == 0 ? 2 * Value : Value;

    /// <summary>What a participant keeps; or what the caller's member, where it is no participant, reads of the first answer with a report.</summary>
    private int Kept(int rank, int shard, int executed, int told) => _world.ShardOf(rank) == shard ? executed : rank == 0 ? told : 0;

    /// <summary>The caller's member reads each of the others' answers if the first was computed for another time.</summary>
    private int KeptAtMost(int rank, int shard, int executed, int told) =>
        (_world.ShardOf(rank) == shard ? executed : 0) + (rank != 0 ? 0 : told * Enumerable.Range(1, 3).Count(other => _world.ShardOf(other) == shard));

    private DhtMap<string, int> MapOf(int rank) => _world.Dhts[rank].Map<string, int>("ints");

    private KeyValuePair<string, int>[] ThreePairs(DhtMap<string, int> map) => [new(_world.KeyOf(0), 1), new(_world.KeyOf(1), 2), new(_world.KeyOf(0, 1), 3)];

    /// <summary>A key of a shard, with the value 17.</summary>
    private string Stored(DhtMap<string, int> map, int shard)
    {
        string key = _world.KeyOf(shard);
        var put = map.PutAsync(key, 17).AsTask();
        _world.Group.Run();
        Assert.True(put.IsCompletedSuccessfully);
        return key;
    }

    /// <summary>Begins a batch, lets all members come to rest and takes the results, again and again. Each member allocates what it keeps, and no more.</summary>
    private void Check<T>(string what, int batch, Func<ValueTask<T>> begin, Func<T, bool> right, Func<int, int> kept, Func<int, int>? atMost = null)
    {
        var calls = new List<ValueTask<T>>(batch);
        int members = _world.Dhts.Count;
        // At the members by rank, then in the calls. The least of a few runs after a first one, since the runtime allocates for itself now and then.
        double[] least = new double[members + 1];
        Array.Fill(least, double.MaxValue);
        for (int run = 0; run < 4; run++)
        {
            long[] bytes = [.. _world.Group.Members.Select(m => -m.Allocated), 0];
            for (int k = 0; k < Batches; k++)
            {
                bytes[members] -= GC.GetAllocatedBytesForCurrentThread();
                for (int i = 0; i < batch; i++) Keep(begin());
                bytes[members] += GC.GetAllocatedBytesForCurrentThread();
                _world.Group.Run();
                bytes[members] -= GC.GetAllocatedBytesForCurrentThread();
                foreach (var call in calls)
                {
                    Assert.True(call.IsCompletedSuccessfully);
                    Assert.True(right(call.GetAwaiter().GetResult()));
                }
                bytes[members] += GC.GetAllocatedBytesForCurrentThread();
                calls.Clear();
            }
            for (int rank = 0; rank < members; rank++) bytes[rank] += _world.Group.Members[rank].Allocated;
            for (int i = 0; i <= members && run > 0; i++) least[i] = Math.Min(least[i], (double)bytes[i] / Batches / batch);
        }
        output.WriteLine($"{what}, {batch} at once: {string.Join(", ", least[..members].Select(b => $"{b:0.00}"))} B by rank, {least[members]:0.00} B in the call");
        for (int rank = 0; rank < members; rank++) Assert.InRange(least[rank], kept(rank), (atMost ?? kept)(rank) + 0.99);
        Assert.InRange(least[members], 0, 0.99);

        void Keep(ValueTask<T> call) => calls.Add(call);
    }
}
