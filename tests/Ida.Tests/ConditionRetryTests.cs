using Ida.Wire;

namespace Ida.Tests;

/// <summary>
/// A retry of a put under its id is told what the put told the first time, though its keys have changed since: whether it was applied, the versions, the value that was
/// stored, the error of its resolver.
/// </summary>
public sealed class ConditionRetryTests
{
    private const int Issuer = 1, Replica = 2, Outside = 3;
    private static readonly string[] s_kinds = ["unmet", "met", "looked at", "merged", "merged away", "failed", "added", "not added", "removed", "not removed"];

    public static TheoryData<string, int, bool> Members()
    {
        var data = new TheoryData<string, int, bool>();
        foreach (string kind in s_kinds)
            foreach (int member in (int[])[Issuer, Replica, Outside])
                foreach (bool asks in (bool[])[false, true]) data.Add(kind, member, asks);
        return data;
    }

    public static TheoryData<string> Kinds() => [.. s_kinds];

    [Theory]
    [MemberData(nameof(Members))]
    public async Task A_retry_at_any_member_is_told_the_first_outcome(string kind, int member, bool asks)
    {
        var world = DhtWorld.Founded(4);
        world.GivenFrom = asks ? null : 0;
        var put = await BeginAsync(world, kind);
        Assert.Equal(put.Told, await TellAsync(world, member, kind, put));
        Assert.Equal(put.Told, await TellAsync(world, member, kind, put));
        world.AssertIdle();
        await AssertUnchangedAsync(world, member);
    }

    [Theory]
    [MemberData(nameof(Members))]
    public async Task A_retry_in_a_later_view_is_told_the_first_outcome(string kind, int member, bool lost)
    {
        var world = DhtWorld.Founded(4);
        var put = await BeginAsync(world, kind);
        if (lost)
        {
            // Now only a replica remembers.
            if (member == Issuer) member = Outside;
            world.Crash(world.Members[Issuer]);
        }
        world.ChangeView();
        world.ChangeView();
        Assert.Equal(put.Told, await TellAsync(world, member, kind, put));
        world.AssertIdle();
        await AssertUnchangedAsync(world, member);
    }

    /// <summary>All members that executed the put are gone, and so is the member that issued it.</summary>
    [Theory]
    [MemberData(nameof(Kinds))]
    public async Task A_member_that_was_given_its_state_tells_the_first_outcome(string kind)
    {
        var world = DhtWorld.Founded(4);
        var put = await BeginAsync(world, kind);
        var late = world.Add();
        world.ChangeView();
        late.Enable(world.Options, DhtWorld.Maps);
        world.ChangeView();
        world.Settle();
        Assert.Equal((0, true), (late.Host.Current!.State.Shard, late.Host.Current.State.Initialised));
        foreach (int gone in (int[])[0, Replica, Issuer]) world.Crash(world.Members[gone]);
        world.ChangeView();
        Assert.Equal(put.Told, await TellAsync(world, Outside, kind, put));
        Assert.Equal(put.Told, await TellAsync(world, late.Index, kind, put));
        await AssertUnchangedAsync(world, Outside);
    }

    /// <summary>Replicas were told that they may forget the put; the member that issued it tells how it ended.</summary>
    [Theory]
    [MemberData(nameof(Members))]
    public async Task What_replicas_have_forgotten_the_member_that_issued_it_tells(string kind, int member, bool inAnotherView)
    {
        var world = DhtWorld.Founded(4);
        var put = await BeginAsync(world, kind);
        await world.EndAsync(world.Members[Issuer].Dht.Map<string, string>("texts").PutAsync("z0", "next"));
        if (inAnotherView) world.ChangeView();
        world.Settle();
        Assert.False(world.Members[0].Host.Current!.Participant.Sessions.Find(put.Id.Session)!.TryGet(put.Id.Sequence, out _));
        long ends = world.Members[Issuer].Dht.Counters.SentOf(DhtFrame.End);
        Assert.Equal(put.Told, await TellAsync(world, member, kind, put));
        Assert.Equal(member == Issuer, world.Members[Issuer].Dht.Counters.SentOf(DhtFrame.End) == ends);
        world.AssertIdle();
        await AssertUnchangedAsync(world, member);
    }

    /// <summary>The put itself is still under way at the member where it is repeated.</summary>
    [Theory]
    [MemberData(nameof(Kinds))]
    public async Task A_retry_that_waits_for_the_put_is_told_what_the_put_tells(string kind)
    {
        var world = DhtWorld.Founded(4);
        var map = world.Members[Issuer].Dht.Map<string, string>("texts");
        await world.EndAsync(map.PutAsync([new("a0", "x"), new("b0", "x")]));
        ulong version = (await world.EndAsync(map.GetAsync("a0"))).Version;
        var id = PooledOperationTests.Unknown(world, Put(world.Members[Issuer].Dht, kind, version, new() { Timeout = TimeSpan.FromMilliseconds(5) }));
        var retry = Put(world.Members[Issuer].Dht, kind, version, new() { Operation = id });
        Assert.False(retry.IsCompleted);
        world.RunUntil(() => retry.IsCompleted, "The retry");
        string told = await retry;
        Assert.Equal(told, await TellAsync(world, Replica, kind, (id, version, told)));
        Assert.StartsWith(kind switch
        {
            "unmet" => "False ",
            "met" or "looked at" => "True ",
            "merged" => "x5",
            "failed" => "texts a0",
            "added" or "removed" => "True",
            "merged away" => "",
            _ => "False",
        }, told, StringComparison.Ordinal);
        world.AssertIdle();
        world.AssertEqualReplicas();
    }

    /// <summary>Values that a merge stored are as large as values that are read, so they too wait for room on the asker's link.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task What_merges_stored_waits_for_room_and_is_told_whole(bool again)
    {
        const int Keys = 12, Bytes = 20_000;
        var world = DhtWorld.Founded(4);
        world.GivenFrom = 0;
        var map = world.Members[Issuer].Dht.Map<string, string>("texts");
        foreach (int i in Enumerable.Range(0, Keys)) await world.EndAsync(map.PutAsync($"k{i}_0", new string((char)('a' + i), Bytes)));
        world.Settle();
        world.BulkBytes = 10_000;
        List<OperationId?> ids = [.. Enumerable.Repeat<OperationId?>(null, Keys)];
        if (again)
        {
            for (int i = 0; i < Keys; i++) ids[i] = PooledOperationTests.Unknown(world, map.MergeAsync($"k{i}_0", i, new() { Timeout = TimeSpan.FromMilliseconds(5) }).AsTask());
            world.Settle();
        }
        var at = again ? world.Members[Outside].Dht.Map<string, string>("texts") : map;
        // A merge with 0 removes the entry, so one of the answers has no value.
        var merges = ids.Select((id, i) => at.MergeAsync($"k{i}_0", i, new() { Operation = id }).AsTask()).ToList();
        world.RunUntil(() => merges.TrueForAll(static merge => merge.IsCompleted), "The merges");
        for (int i = 0; i < Keys; i++) Assert.Equal(i == 0 ? null : new string((char)('a' + i), Bytes) + i, await merges[i]);
        Assert.Null(world.Overfilled);
        world.AssertIdle();
    }

    public static TheoryData<int, bool> Reused() => new() { { Issuer, false }, { Replica, false }, { Outside, false }, { Issuer, true }, { Replica, true }, { Outside, true } };

    /// <summary>The put was executed; where it is forgotten, only the member that issued it still remembers it.</summary>
    [Theory]
    [MemberData(nameof(Reused))]
    public async Task Another_expectation_or_another_effect_is_another_put(int member, bool forgotten)
    {
        var world = DhtWorld.Founded(4);
        var map = world.Members[Issuer].Dht.Map<string, string>("texts");
        await world.EndAsync(map.PutAsync([new("a0", "x"), new("c0", "x")]));
        ulong version = (await world.EndAsync(map.GetAsync("a0"))).Version, removed = (await world.EndAsync(map.GetAsync("c0"))).Version;
        var removal = PooledOperationTests.Unknown(world, map.TryRemoveAsync("c0", removed, new() { Timeout = TimeSpan.FromMilliseconds(5) }).AsTask());
        var id = PooledOperationTests.Unknown(world, map.TryReplaceAsync("a0", "y", version, new() { Timeout = TimeSpan.FromMilliseconds(5) }).AsTask());
        world.Settle();
        if (forgotten) await world.EndAsync(map.PutAsync("z0", "next"));
        world.Settle();
        var at = world.Members[member];
        var own = at.Dht.Map<string, string>("texts");
        PutOptions again = new() { Operation = id };
        await ReusedAsync(() => own.TryReplaceAsync("a0", "y", version + 1, again));
        await ReusedAsync(() => own.TryAddAsync("a0", "y", again));
        await ReusedAsync(() => own.TryRemoveAsync("a0", version, again));
        await ReusedAsync(() => own.RemoveAsync("a0", again));
        await ReusedAsync(() => own.PutAsync("a0", "y", again));
        await ReusedAsync(() => own.MergeAsync("a0", 1, again));
        await ReusedAsync(() => at.Dht.NewBatch(again).Expect(own, "a0", version).CommitAsync());
        await ReusedAsync(() => at.Dht.NewBatch(again).Put(own, "a0", "y").Expect(own, "b0", version).CommitAsync());
        await ReusedAsync(() => at.Dht.NewBatch(new() { Operation = removal }).Expect(own, "c0", removed).CommitAsync());
        Assert.True(await world.EndAsync(own.TryRemoveAsync("c0", removed, new() { Operation = removal })));
        Assert.True(await world.EndAsync(own.TryReplaceAsync("a0", "y", version, again)));
        var result = await world.EndAsync(at.Dht.NewBatch(again).Expect(own, "a0", version).Put(own, "a0", "y").CommitAsync());
        Assert.True(result.IsApplied);
        world.AssertIdle();

        Task ReusedAsync<T>(Func<ValueTask<T>> call) => Assert.ThrowsAsync<OperationIdReusedException>(() => world.EndAsync(call()));
    }

    /// <summary>The put is executed, its caller does not know it, and then its keys change.</summary>
    private static async Task<(OperationId Id, ulong Version, string Told)> BeginAsync(DhtWorld world, string kind)
    {
        var map = world.Members[Issuer].Dht.Map<string, string>("texts");
        await world.EndAsync(map.PutAsync([new("a0", "x"), new("b0", "x")]));
        var before = await world.EndAsync(map.GetAsync(["a0", "b0"]));
        ulong a = before.VersionOf("a0"), b = before.VersionOf("b0");
        var id = PooledOperationTests.Unknown(world, Put(world.Members[Issuer].Dht, kind, a, new() { Timeout = TimeSpan.FromMilliseconds(5) }));
        world.Settle();
        // The member that issued it makes no more calls, so nobody hears that the outcome may be forgotten.
        var other = world.Members[0].Dht.Map<string, string>("texts");
        var after = await world.EndAsync(other.GetAsync(["a0", "b0", "c0", "d0"]));
        string told = kind switch
        {
            "unmet" => $"False {a} {b} 0",
            "met" => $"True {after.VersionOf("a0")} {after.VersionOf("b0")} 0",
            "looked at" => $"True {a} {after.VersionOf("c0")}",
            "merged" => "x5",
            "merged away" => "",
            "failed" => "texts a0",
            "added" or "removed" => "True",
            _ => "False",
        };
        // Another member changes all of it, so that the put would tell something else now.
        await world.EndAsync(other.PutAsync([new("a0", "z"), new("b0", "z"), new("c0", "z")]));
        await world.EndAsync(other.RemoveAsync(["d0", "a0"]));
        await world.EndAsync(other.PutAsync("a0", kind == "not added" ? null : "z"));
        if (kind == "not removed") await world.EndAsync(other.PutAsync("e0", "z"));
        world.Settle();
        return (id, a, told);
    }

    private static Task<string> Put(Dht dht, string kind, ulong version, PutOptions options)
    {
        var map = dht.Map<string, string>("texts");
        return kind switch
        {
            "unmet" => TextAsync(dht.NewBatch(options).Expect(map, "a0", version + 1).Put(map, "b0", "y").Remove(map, "d0").CommitAsync()),
            "met" => TextAsync(dht.NewBatch(options).Put(map, "a0", "y").Put(map, "b0", "y").Expect(map, "a0", version).Remove(map, "d0").CommitAsync()),
            "looked at" => TextAsync(dht.NewBatch(options).Expect(map, "a0", version).Put(map, "c0", "y").CommitAsync()),
            "merged" => ValueAsync(map.MergeAsync("a0", 5, options)),
            "merged away" => ValueAsync(map.MergeAsync("a0", 0, options)),
            "failed" => FailedAsync(map.MergeAsync("a0", -1, options)),
            "added" => BoolAsync(map.TryAddAsync("d0", "y", options)),
            "not added" => BoolAsync(map.TryAddAsync("a0", "y", options)),
            "removed" => BoolAsync(map.RemoveAsync("a0", options)),
            _ => BoolAsync(map.RemoveAsync("e0", options)),
        };

        static async Task<string> TextAsync(ValueTask<PutResult> call)
        {
            var result = await call;
            return $"{result.IsApplied} {string.Join(' ', result.Versions)}";
        }

        static async Task<string> ValueAsync(ValueTask<string?> call) => await call ?? "";

        static async Task<string> BoolAsync(ValueTask<bool> call) => $"{await call}";

        static async Task<string> FailedAsync(ValueTask<string?> call)
        {
            try
            {
                return await call ?? "";
            }
            catch (ResolverException error)
            {
                Assert.Contains("negative", error.Message, StringComparison.Ordinal);
                return $"{error.Map} {error.Key}";
            }
        }
    }

    private static async Task<string> TellAsync(DhtWorld world, int member, string kind, (OperationId Id, ulong Version, string Told) put)
    {
        var retry = Put(world.Members[member].Dht, kind, put.Version, new() { Operation = put.Id });
        world.RunUntil(() => retry.IsCompleted, "The retry");
        return await retry;
    }

    /// <summary>The put was not executed again.</summary>
    private static async Task AssertUnchangedAsync(DhtWorld world, int member)
    {
        world.AssertEqualReplicas();
        var read = await world.EndAsync(world.Members[member].Dht.Map<string, string>("texts").GetAsync(["a0", "b0", "c0", "d0", "e0"]));
        Assert.All(read.Values, static value => Assert.Equal("z", value));
        Assert.False(read.ContainsKey("d0"));
    }
}
