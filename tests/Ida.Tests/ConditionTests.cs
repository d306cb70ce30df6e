namespace Ida.Tests;

/// <summary>Puts that are applied only if their keys have the expected versions.</summary>
public sealed class ConditionTests
{
    private readonly DhtWorld _world = DhtWorld.Founded(4);
    private readonly DhtMap<string, string> _map;

    public ConditionTests() => _map = _world.Members[1].Dht.Map<string, string>("texts");

    /// <summary>Called at a member outside of the key's shard, and at one in it.</summary>
    [Theory]
    [InlineData("a0")]
    [InlineData("a1")]
    public async Task An_added_value_does_not_replace_another(string key)
    {
        Assert.True(await End(_map.TryAddAsync(key, "first")));
        Assert.False(await End(_map.TryAddAsync(key, "second")));
        Assert.Equal("first", (await End(_map.GetAsync(key))).Value);
        Assert.True(await End(_map.RemoveAsync(key)));
        Assert.True(await End(_map.TryAddAsync(key, "third")));
        Assert.Equal("third", (await End(_map.GetAsync(key))).Value);
        _world.AssertIdle();
        _world.AssertEqualReplicas();
    }

    [Theory]
    [InlineData("a0")]
    [InlineData("a1")]
    public async Task A_value_is_replaced_or_removed_only_where_it_has_the_version_that_was_read(string key)
    {
        Assert.False(await End(_map.TryReplaceAsync(key, "x", 5)));
        Assert.False(await End(_map.TryRemoveAsync(key, 5)));
        await End(_map.PutAsync(key, "first"));
        var read = await End(_map.GetAsync(key));
        Assert.False(await End(_map.TryReplaceAsync(key, "x", read.Version - 1)));
        Assert.False(await End(_map.TryReplaceAsync(key, "x", read.Version + 1)));
        Assert.True(await End(_map.TryReplaceAsync(key, "second", read.Version)));
        Assert.False(await End(_map.TryReplaceAsync(key, "x", read.Version)));
        Assert.False(await End(_map.TryRemoveAsync(key, read.Version)));
        Assert.Equal("second", (await End(_map.GetAsync(key))).Value);
        read = await End(_map.GetAsync(key));
        Assert.True(await End(_map.TryRemoveAsync(key, read.Version)));
        Assert.False((await End(_map.GetAsync(key))).Found);
        // An absent key has no value that could be removed, even though it has the expected version.
        Assert.False(await End(_map.TryRemoveAsync(key, 0)));
        // To replace an absent key is to add it.
        Assert.True(await End(_map.TryReplaceAsync(key, "third", 0)));
        _world.AssertEqualReplicas();
    }

    [Fact]
    public async Task A_removal_tells_whether_there_was_an_entry()
    {
        await End(_map.PutAsync("a0", "x"));
        Assert.True(await End(_map.RemoveAsync("a0")));
        Assert.False(await End(_map.RemoveAsync("a0")));
        await End(_map.PutAsync("b0", "x"));
        var versions = (await End(_map.RemoveAsync(["a0", "b0", "a1"]))).Versions;
        Assert.Equal([true, false, true], versions.Select(static version => version == 0));
    }

    /// <summary>An unmet put tells the versions that its keys have, in the order of the call; 0 for a key without a value.</summary>
    [Fact]
    public async Task An_unmet_put_tells_the_versions_that_its_keys_have_and_changes_none()
    {
        await End(_map.PutAsync([new("c0", "x"), new("a0", "x")]));
        ulong a = (await End(_map.GetAsync("a0"))).Version, c = (await End(_map.GetAsync("c0"))).Version;
        var batch = _world.Members[1].Dht.NewBatch().Put(_map, "c0", "y").Put(_map, "b0", "y").Remove(_map, "a0").Expect(_map, "b0", 7);
        var result = await End(batch.CommitAsync());
        Assert.Equal((false, 3), (result.IsApplied, result.Versions.Count));
        Assert.Equal((ulong[])[c, 0, a], result.Versions);
        Assert.Equal(["x", "x"], (await End(_map.GetAsync(["a0", "b0", "c0"]))).Values);
        _world.AssertEqualReplicas();
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task An_expected_key_that_is_changed_too_is_one_key_of_the_put(bool before)
    {
        await End(_map.PutAsync("a0", "x"));
        ulong version = (await End(_map.GetAsync("a0"))).Version;
        var batch = _world.Members[1].Dht.NewBatch().Put(_map, "b0", "y");
        batch = before ? batch.Expect(_map, "a0", version).Put(_map, "a0", "y") : batch.Put(_map, "a0", "y").Expect(_map, "a0", version);
        var result = await End(batch.CommitAsync());
        Assert.Equal((true, 2), (result.IsApplied, result.Versions.Count));
        var read = await End(_map.GetAsync(["b0", "a0"]));
        Assert.Equal(("y", "y"), (read["b0"], read["a0"]));
        Assert.Equal((ulong[])[read.VersionOf("b0"), read.VersionOf("a0")], result.Versions);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_key_that_is_only_looked_at_stays_as_it_is_and_decides(bool met)
    {
        await End(_map.PutAsync("a0", "x"));
        ulong version = (await End(_map.GetAsync("a0"))).Version;
        var result = await End(_world.Members[1].Dht.NewBatch().Expect(_map, "a0", met ? version : version + 1).Put(_map, "b0", "y").CommitAsync());
        Assert.Equal((met, 2), (result.IsApplied, result.Versions.Count));
        Assert.Equal(version, result.Versions[0]);
        Assert.Equal(version, (await End(_map.GetAsync("a0"))).Version);
        Assert.Equal(met, (await End(_map.GetAsync("b0"))).Found);
        // An absent key that is looked at leaves no entry.
        result = await End(_world.Members[1].Dht.NewBatch().Expect(_map, "z0", 0).CommitAsync());
        Assert.True(result.IsApplied);
        Assert.Equal((ulong[])[0], result.Versions);
        _world.Settle();
        Assert.All(_world.Initialised(0), member => Assert.Equal(met ? 2 : 1, member.Host.Current!.Participant.Slice.Table.Count));
    }

    [Fact]
    public async Task A_merge_in_a_batch_that_is_not_met_does_not_run_its_resolver()
    {
        var batch = _world.Members[1].Dht.NewBatch().Expect(_map, "a0", 3).Merge(_map, "b0", -1);
        Assert.False((await End(batch.CommitAsync())).IsApplied);
        batch = _world.Members[1].Dht.NewBatch().Expect(_map, "a0", 0).Merge(_map, "b0", -1);
        var error = await Assert.ThrowsAsync<ResolverException>(() => End(batch.CommitAsync()));
        Assert.Equal(("texts", "b0"), (error.Map, error.Key));
        batch = _world.Members[1].Dht.NewBatch().Expect(_map, "b0", 0).Merge(_map, "b0", 3);
        var result = await End(batch.CommitAsync());
        Assert.Equal((true, 1), (result.IsApplied, result.Versions.Count));
        Assert.Equal("3", (await End(_map.GetAsync("b0"))).Value);
    }

    /// <summary>What such a call tells is known only when the put is executed, so the call waits for that at any level.</summary>
    [Theory]
    [InlineData("add")]
    [InlineData("replace")]
    [InlineData("try remove")]
    [InlineData("remove")]
    [InlineData("merge")]
    [InlineData("batch")]
    [InlineData("update")]
    [InlineData("put, which tells nothing")]
    public async Task At_level_Ordered_a_call_that_tells_what_became_of_its_put_waits_for_it(string way)
    {
        if (way != "add") await End(_map.PutAsync("a0", "x"));
        ulong version = (await End(_map.GetAsync("a0"))).Version;
        _world.Settle();
        // One replica proposes a later time than the other, so that the put has its time before it is executed.
        _world.Members[2].Skew = 300_000_000;
        var ahead = _world.Members[2].Dht.Map<string, string>("texts").GetAsync(["a0", "b0"]).AsTask();
        _world.Poke();
        Assert.True(ahead.IsCompletedSuccessfully);
        PutOptions options = new() { Level = ConsistencyLevel.Ordered };
        switch (way)
        {
            case "add": Assert.True(await End(_map.TryAddAsync("a0", "y", options))); break;
            case "replace": Assert.True(await End(_map.TryReplaceAsync("a0", "y", version, options))); break;
            case "try remove": Assert.True(await End(_map.TryRemoveAsync("a0", version, options))); break;
            case "remove": Assert.True(await End(_map.RemoveAsync("a0", options))); break;
            case "merge": Assert.Equal("x5", await End(_map.MergeAsync("a0", 5, options))); break;
            case "put, which tells nothing": Assert.Empty((await End(_map.PutAsync("a0", "y", options))).Versions); break;
            case "update": Assert.Equal("xy", await End(_map.UpdateAsync("a0", static text => text.ValueOr("") + "y", options))); break;
            default:
                var result = await End(_world.Members[1].Dht.NewBatch(options).Expect(_map, "a0", version).Put(_map, "a0", "y").CommitAsync());
                Assert.Equal((true, 1), (result.IsApplied, result.Versions.Count));
                break;
        }
        _world.AssertIdle();
    }

    private Task<T> End<T>(ValueTask<T> call) => _world.EndAsync(call);
}
