namespace Ida.Tests;

/// <summary>Conditional puts that make no sense are refused by the call, and nothing of them is executed.</summary>
public sealed class ConditionMisuseTests
{
    private readonly DhtWorld _world = DhtWorld.Founded(4);
    private readonly Dht _dht;
    private readonly DhtMap<string, string> _map;

    public ConditionMisuseTests()
    {
        _dht = _world.Members[1].Dht;
        _map = _dht.Map<string, string>("texts");
    }

    [Fact]
    public void Two_expectations_of_one_key_that_differ_are_refused()
    {
        AssertRefused(() => _dht.NewBatch().Expect(_map, "a0", 0).Expect(_map, "a0", 1).CommitAsync());
        AssertRefused(() => _dht.NewBatch().Expect(_map, "a0", 0).Put(_map, "a0", "x").Expect(_map, "a0", 1).CommitAsync());
        AssertRefused(() => _dht.NewBatch().Put(_map, "a0", "x").Expect(_map, "a0", 0).Put(_map, "a0", "y").CommitAsync());
        AssertRefused(() => _dht.NewBatch().Put(_map, "a0", "x").Remove(_map, "a0").Expect(_map, "a0", 0).CommitAsync());
        AssertNothing();
    }

    [Fact]
    public void Expectations_over_several_shards_are_refused()
    {
        AssertRefused(() => _dht.NewBatch().Expect(_map, "a0", 0).Put(_map, "a1", "x").CommitAsync());
        AssertRefused(() => _dht.NewBatch().Put(_map, "a0", "x").Put(_map, "a1", "x").Expect(_map, "a1", 0).CommitAsync());
        AssertRefused(() => _dht.NewBatch().Expect(_map, "a0", 0).Expect(_map, "a1", 0).CommitAsync());
        AssertNothing();
    }

    [Fact]
    public void A_null_value_is_no_value_to_add_or_to_replace_another()
    {
        _ = Assert.Throws<ArgumentNullException>("value", () => { _ = _map.TryAddAsync("a0", null!).AsTask(); });
        _ = Assert.Throws<ArgumentNullException>("value", () => { _ = _map.TryReplaceAsync("a0", null!, 1).AsTask(); });
        _ = Assert.Throws<ArgumentNullException>("key", () => { _ = _map.TryAddAsync(null!, "x").AsTask(); });
        _ = Assert.Throws<ArgumentNullException>("key", () => { _ = _map.TryRemoveAsync(null!, 1).AsTask(); });
        _ = Assert.Throws<ArgumentNullException>("key", () => { _ = _dht.NewBatch().Expect(_map, null!, 1); });
        _ = Assert.Throws<ArgumentNullException>("map", () => { _ = _dht.NewBatch().Expect<string, string>(null!, "a0", 1); });
        AssertNothing();
    }

    [Fact]
    public async Task An_expectation_names_a_map_of_its_own_DHT_and_a_batch_that_is_open()
    {
        var foreign = _world.Members[0].Dht.Map<string, string>("texts");
        _ = Assert.Throws<ArgumentException>("map", () => { _ = _dht.NewBatch().Expect(foreign, "a0", 1); });
        var batch = _dht.NewBatch();
        var nothing = batch.CommitAsync().AsTask();
        Assert.True(nothing.IsCompletedSuccessfully);
        Assert.True((await nothing).IsApplied);
        _ = Assert.Throws<InvalidOperationException>(() => { _ = batch.Expect(_map, "a0", 1); });
        AssertNothing();
    }

    [Fact]
    public async Task An_update_under_an_id_is_refused_before_anything_is_read()
    {
        bool called = false;
        PutOptions options = new() { Operation = new(1, 1) };
        await Assert.ThrowsAsync<ArgumentException>("options", () => _world.EndAsync(_map.UpdateAsync("a0", Change, options)));
        await Assert.ThrowsAsync<ArgumentNullException>("change", () => _world.EndAsync(_map.UpdateAsync("a0", null!)));
        Assert.False(called);
        AssertNothing();

        string Change(Entry<string> text)
        {
            called = true;
            return text.Value;
        }
    }

    private static void AssertRefused(Func<ValueTask<PutResult>> commit) => Assert.Throws<ArgumentException>("pairs", () => { _ = commit().AsTask(); });

    private void AssertNothing()
    {
        _world.Poke();
        Assert.Equal(0, _world.Members.Sum(static member => member.Dht.Counters.Sent));
        Assert.All(_world.Members, static member => Assert.Empty(DhtWorld.Slice(member).Entries));
        _world.AssertIdle();
    }
}
