using System.Buffers;
using System.Text;
using GroupCore.Diagnostics;
using GroupCore.Groups;
using GroupCore.Runtime;
using Ida.Maps;
using Ida.ViewChange;
using Ida.Wire;

namespace Ida.Tests;

/// <summary>Members that declare different maps: what all declare is used; what some lack is refused, by all alike.</summary>
public sealed class MapAgreementTests
{
    /// <summary>As during the upgrade of a program, one member after the other: what is new can be used as soon as the last old member is gone.</summary>
    [Fact]
    public async Task Maps_and_resolvers_that_only_new_members_have_are_used_when_all_members_are_new()
    {
        var world = DhtWorld.Founded(4);
        await world.EndAsync(world.Members[0].Dht.Map<string, int>("ints").PutAsync([new("a0", 1), new("a1", 1)]));
        for (int old = 0; old < 4; old++)
        {
            var fresh = Join(world, WithExtras);
            Assert.True(fresh.Dht.Serving.IsCompletedSuccessfully, fresh.Dht.Serving.Exception?.ToString());
            world.Settle();
            await AssertNotAgreedAsync(world, fresh);
            Assert.Throws<UndeclaredMapException>(() => world.Members[3].Dht.Map<string, string>("extra"));
            var gone = world.Members[old];
            _ = gone.Dht.CloseAsync().AsTask();
            world.RunUntil(() => gone.Dht.Completion.IsCompleted && !world.ViewRequested, "The end of an old member");
            world.Settle();
        }
        foreach (var member in world.Members.Skip(4))
        {
            Assert.True((await world.EndAsync(member.Dht.NewBatch().Put(member.Dht.Map<string, string>("extra"), "b0", "x").Merge(member.Dht.Map<string, int>("ints"), "a0", 2).CommitAsync())).IsApplied);
            Assert.Equal("x", (await world.EndAsync(member.Dht.Map<string, string>("extra").GetAsync("b0"))).Value);
        }
        Assert.Equal(9, (await world.EndAsync(world.Members[5].Dht.Map<string, int>("ints").GetAsync("a0"))).Value);
        // Every new member must declare what is in use.
        var late = Join(world, DhtWorld.Maps);
        Assert.Contains("\"extra\" is not declared here", Assert.IsType<DhtConfigurationException>(late.Dht.Serving.Exception?.InnerException).Message, StringComparison.Ordinal);
        world.RunUntil(() => !world.ViewRequested, "The view without it");
        world.AssertEqualReplicas();
    }

    /// <summary>One of the founders lacks a map, which the others cannot use until it is gone.</summary>
    [Fact]
    public async Task What_a_founder_lacks_is_refused_until_it_has_gone()
    {
        var world = new DhtWorld();
        for (int i = 0; i < 4; i++) world.Add();
        world.ChangeView();
        foreach (var member in world.Members) member.Enable(world.Options, member.Index == 2 ? DhtWorld.Maps : WithExtras);
        world.ChangeView();
        world.ViewRequested = false;
        await AssertNotAgreedAsync(world, world.Members[0]);
        var status = await world.EndAsync(world.Members[0].Dht.StatusAsync());
        Assert.Equal(world.Members[0].Dht.Maps.Names, status.Maps.Select(static one => one.Name));
        Assert.Equal([("extra", world.Members[2].Self)], status.Maps.Where(static one => !one.IsAgreed).Select(static one => (one.Name, one.LackedBy!.Value)));
        Assert.Equal([("ints", "System.Int32", world.Members[2].Self)], status.Maps.SelectMany(static map => map.Resolvers.Where(static one => !one.IsAgreed).Select(one => (map.Name, one.Incoming, one.LackedBy!.Value))));
        Assert.Contains("cannot be used: 2", Described(world.Members[0]), StringComparison.Ordinal);
        Assert.Contains("the resolver for System.Int32 of the map \"ints\": not declared at ", Described(world.Members[0]), StringComparison.Ordinal);
        // A call that was made while there was no view.
        Task<PutResult>? early = null;
        world.DuringFlush = () => early = world.Members[0].Dht.Map<string, string>("extra").PutAsync("a0", "early").AsTask();
        world.ChangeView();
        world.DuringFlush = null;
        world.Poke();
        Assert.Equal(world.Members[2].Self, (await Assert.ThrowsAsync<MapNotAgreedException>(() => early!)).Member);
        world.Crash(world.Members[2]);
        var waits = world.Members[0].Dht.Map<string, int>("ints").MergeAsync("a0", 5).AsTask();
        world.Poke();
        await Assert.ThrowsAsync<MapNotAgreedException>(() => waits);
        world.ChangeView();
        Assert.Equal(5, await world.EndAsync(world.Members[0].Dht.Map<string, int>("ints").MergeAsync("a0", 5)));
        await world.EndAsync(world.Members[1].Dht.Map<string, string>("extra").PutAsync("a0", "late"));
        Assert.All((await world.EndAsync(world.Members[0].Dht.StatusAsync())).Maps, static map => Assert.True(map.IsAgreed && map.Resolvers.All(static one => one.IsAgreed)));
        Assert.Contains("all can be used", Described(world.Members[0]), StringComparison.Ordinal);
        world.AssertIdle();
        world.AssertEqualReplicas();
    }

    /// <summary>The refusal of a retry says nothing about the put that it repeats.</summary>
    [Fact]
    public async Task A_retry_that_uses_what_a_member_lacks_does_not_know_what_became_of_its_put()
    {
        var world = DhtWorld.Founded(4);
        var fresh = Join(world, WithExtras);
        world.Settle();
        var put = fresh.Dht.Map<string, string>("extra").PutAsync("a0", "x", new() { Operation = new(fresh.Host.Current!.State.Session, DhtWorld.Named) });
        AssertSaysNothing(await Assert.ThrowsAsync<OutcomeUnknownException>(() => world.EndAsync(put)));
        world.AssertIdle();
    }

    /// <summary>
    /// A member that lies, or an old one that comes back, takes a map out of use while a put of it is on its way. The participants know how the put ended, so it ends, whether anybody
    /// waits for it or not: otherwise all later puts would have to be remembered for its sake.
    /// </summary>
    [Theory]
    [InlineData("a0", false)]
    [InlineData("a0", true)]
    [InlineData("a1", false)]
    [InlineData("a1", true)]
    public async Task R_a_put_whose_caller_has_gone_ends_though_its_map_cannot_be_used_any_more(string key, bool executed)
    {
        var world = DhtWorld.Founded(4);
        var dht = world.Members[0].Dht;
        var ints = dht.Map<string, int>("ints");
        var id = PooledOperationTests.Unknown(world, ints.PutAsync(key, 1, new() { Timeout = TimeSpan.FromMilliseconds(5) }).AsTask());
        var follower = ints.PutAsync(key, 1, new() { Operation = id }).AsTask();
        world.Poke();
        if (executed) world.DeliverAll(static (from, _) => from == 0);
        TakeOutOfUse(world);
        var coordinator = world.Members[0].Host.Current!.Coordinator;
        world.RunUntil(() => !coordinator.HasWork && follower.IsCompleted, "The end of the put");
        if (executed) Assert.Single((await follower).Versions);
        else AssertSaysNothing(await Assert.ThrowsAsync<OutcomeUnknownException>(() => follower));
        for (int i = 0; i < 3; i++) await world.EndAsync(dht.Map<string, long>("longs").PutAsync([new("b0", i), new("b1", i)]));
        world.Settle();
        Assert.All(world.Members, one => Assert.Equal(1, one.Host.Current!.Participant.Sessions.Find(id.Session)!.OutcomeCount));
        world.Lies = null;
        world.ChangeView();
        var retry = world.EndAsync(ints.PutAsync(key, 1, new() { Operation = id }));
        if (executed) Assert.Single((await retry).Versions);
        else await Assert.ThrowsAsync<OutcomeForgottenException>(() => retry);
        Assert.Equal(executed, (await world.EndAsync(ints.GetAsync(key))).Found);
        world.AssertIdle();
        world.AssertEqualReplicas();
    }

    /// <summary>The caller need not wait for a view in which the map can be used again.</summary>
    [Theory]
    [InlineData("a0", false)]
    [InlineData("a0", true)]
    [InlineData("a1", false)]
    [InlineData("a1", true)]
    public async Task R_a_put_that_was_sent_is_told_how_it_ended_though_its_map_cannot_be_used_any_more(string key, bool executed)
    {
        var world = DhtWorld.Founded(4);
        var put = world.Members[0].Dht.Map<string, int>("ints").PutAsync(key, 1).AsTask();
        var read = world.Members[0].Dht.Map<string, int>("ints").GetAsync(["a0", "a1"]).AsTask();
        world.Poke();
        if (executed) world.DeliverAll(static (from, _) => from == 0);
        TakeOutOfUse(world);
        if (executed) Assert.Single((await world.EndAsync(put)).Versions);
        else Assert.Contains("Nothing was executed", (await Assert.ThrowsAsync<MapNotAgreedException>(() => world.EndAsync(put))).Message, StringComparison.Ordinal);
        await Assert.ThrowsAsync<MapNotAgreedException>(() => world.EndAsync(read));
        world.Lies = null;
        world.ChangeView();
        Assert.Equal(executed, (await world.EndAsync(world.Members[1].Dht.Map<string, int>("ints").GetAsync(key))).Found);
        world.AssertIdle();
        world.AssertEqualReplicas();
    }

    private static void AssertSaysNothing(OutcomeUnknownException error)
    {
        foreach (string said in new[] { error.Message, Assert.IsType<MapNotAgreedException>(error.InnerException).Message })
            Assert.DoesNotContain("Nothing was executed", said, StringComparison.Ordinal);
    }

    private static void TakeOutOfUse(DhtWorld world)
    {
        world.Lies = static (member, bytes) => member.Index == 3 ? Forged(member, bytes, static all => [.. all.Where(static map => map.Name != "ints")]) : bytes;
        world.ChangeView();
    }

    [Theory]
    [InlineData("map", "the map \"bytes\" is not declared here")]
    [InlineData("resolver", "the map \"longs\" has no resolver for System.Int64 here")]
    [InlineData("key", "the map \"ints\" has keys of System.Int32 here and of System.String there")]
    [InlineData("value", "the map \"ints\" has values of System.Int64 here and of System.Int32 there")]
    [InlineData("placement", "the keys of the map \"ints\" are placed by ShardBy<System.Int32> here and by all of their bytes there")]
    [InlineData("hash", "same hash")]
    public void A_member_that_lacks_or_contradicts_what_is_in_use_is_refused(string what, string said)
    {
        var world = new DhtWorld
        {
            Declare = static maps =>
            {
                DhtWorld.Maps(maps);
                maps.Map<string, int>("orders of Europe");
            },
        };
        world.Found(4);
        var late = Join(world, maps =>
        {
            if (what == "key") maps.Map<int, int>("ints");
            else if (what == "value") maps.Map<string, long>("ints");
            else if (what == "placement") maps.Map<string, int>("ints").ShardBy(static key => key.Length);
            else maps.Map<string, int>("ints");
            if (what == "hash") maps.Map<string, int>("drpoywycdT%X2M3z");
            else maps.Map<string, int>("orders of Europe");
            var longs = maps.Map<string, long>("longs");
            if (what != "resolver") longs.OnMerge<long>(static (_, stored, incoming) => stored + incoming);
            maps.Map<string, string>("texts").OnMerge<int>(static (_, stored, _) => stored);
            if (what != "map") maps.Map<string, byte[]>("bytes");
            maps.Map<string, List<long>>("lists").OnMerge<long>(static (_, stored, _) => stored);
            maps.Map<int, int>("numbers");
            maps.Map<double, int>("doubles");
            maps.Map<HashSet<int>, int>("sets");
        });
        Assert.Contains(said, Assert.IsType<DhtConfigurationException>(late.Dht.Serving.Exception?.InnerException).Message, StringComparison.Ordinal);
        world.RunUntil(() => !world.ViewRequested, "The view without it");
        Assert.All(world.Members.Take(4), static member => Assert.False(member.Dht.Completion.IsCompleted));
        Assert.All(world.Members.Take(4), static member => Assert.True(member.Host.Current!.State.Maps.AllAgreed));
    }

    /// <summary>Of two members that come together the first is taken: its extra maps count against the other's, though nobody can use them yet.</summary>
    [Fact]
    public void Extras_of_a_member_count_against_those_who_come_after_it()
    {
        var world = DhtWorld.Founded(4);
        HarnessMember[] comers = [world.Add(), world.Add()];
        world.ChangeView();
        comers[0].Enable(world.Options, WithExtras);
        comers[1].Enable(world.Options, Contradicting);
        world.ChangeView();
        Assert.True(comers[0].Dht.Serving.IsCompletedSuccessfully);
        Assert.Contains("\"extra\" has values of System.Int32 here and of System.String there", Assert.IsType<DhtConfigurationException>(comers[1].Dht.Serving.Exception?.InnerException).Message, StringComparison.Ordinal);
        var third = Join(world, Contradicting);
        Assert.IsType<DhtConfigurationException>(third.Dht.Serving.Exception?.InnerException);

        static void Contradicting(DhtMaps maps)
        {
            DhtWorld.Maps(maps);
            maps.Map<string, int>("extra");
        }
    }

    /// <summary>Some replicas lack the put's resolver: unless all refuse the put, one applies it and the others do not.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Without_the_rule_replicas_part(bool without)
    {
        var world = DhtWorld.Founded(4, without: without ? nameof(DhtRules.OnlyAgreedMaps) : null);
        var fresh = Join(world, WithExtras);
        world.Settle();
        Assert.Equal(0, fresh.Host.Current!.State.Shard);
        var merge = fresh.Dht.Map<string, int>("ints").MergeAsync("a0", 5).AsTask();
        world.RunUntil(() => merge.IsCompleted, "The merge");
        world.Settle();
        Assert.Equal(without, DhtWorld.Difference(world.Members[0], fresh) is not null);
        if (!without) await Assert.ThrowsAsync<MapNotAgreedException>(() => merge);
    }

    /// <summary>The liar is a member, so the others all decide by its word, and use the map again when it no longer says so.</summary>
    [Fact]
    public async Task A_member_that_says_that_it_lacks_a_map_keeps_it_from_use_for_a_view()
    {
        const int Liar = 3;
        var world = DhtWorld.Founded(4);
        var ints = world.Members[0].Dht.Map<string, int>("ints");
        await world.EndAsync(ints.PutAsync("a0", 1));
        world.Lies = static (member, bytes) => member.Index == Liar ? Forged(member, bytes, static all => [.. all.Where(static map => map.Name != "ints")]) : bytes;
        world.ChangeView();
        var refused = await Assert.ThrowsAsync<MapNotAgreedException>(() => world.EndAsync(ints.PutAsync("a0", 2)));
        Assert.Equal(("ints", (string?)null, world.Members[Liar].Self), (refused.Map, refused.Resolver, refused.Member));
        Assert.Equal((world.Members[Liar].Self, world.View!.Id), (refused.Peer!.Value, refused.View!.Value));
        await Assert.ThrowsAsync<MapNotAgreedException>(() => world.EndAsync(ints.GetAsync("a0")));
        await world.EndAsync(world.Members[0].Dht.Map<string, long>("longs").PutAsync([new("a0", 2L), new("a1", 2L)]));
        world.Lies = null;
        world.ChangeView();
        Assert.Equal(1, (await world.EndAsync(ints.GetAsync("a0"))).Value);
        world.AssertIdle();
        world.AssertEqualReplicas();
    }

    /// <summary>The liar is not the oldest, so its word does not count: it ends, and the others go on with all maps.</summary>
    [Fact]
    public async Task A_member_that_contradicts_the_others_ends_alone()
    {
        const int Liar = 3;
        var world = DhtWorld.Founded(4);
        world.Lies = static (member, bytes) => member.Index == Liar ? Forged(member, bytes, static all => [.. all.Select(static map => map with { Value = "System.Guid" })]) : bytes;
        world.ChangeView();
        world.Lies = null;
        Assert.IsType<DhtConfigurationException>(world.Members[Liar].Host.Current!.Ended);
        Assert.All(world.Members.Take(3), static member => Assert.True(member.Host.Current!.State.Maps.AllAgreed));
        await world.EndAsync(world.Members[0].Dht.Map<string, int>("ints").PutAsync([new("a0", 2), new("a1", 2)]));
    }

    public static TheoryData<string, bool> Absurd() => new()
    {
        { "none", true }, { "one", true }, { "as many as may be", true }, { "all types alike", true },
        { "too many", false }, { "twice", false }, { "out of order", false }, { "no name", false }, { "long name", false }, { "no text", false }, { "half a character", false },
        { "resolvers twice", false }, { "resolvers out of order", false }, { "too many resolvers", false }, { "names with one hash", false }, { "more than all", false }, { "count alone", false }, { "cut", false }, { "bytes behind", false },
    };

    /// <summary>No count or length makes anybody allocate or throw, and declarations that nobody can have made are no contribution.</summary>
    [Theory]
    [MemberData(nameof(Absurd))]
    public void Absurd_declarations_are_left_out_of_the_decision(string what, bool taken)
    {
        byte[] bytes = Declarations(what);
        Assert.Equal(taken, MapSet.Read(bytes) is not null);
        var world = DhtWorld.Founded(4);
        var contributions = world.Members.ConvertAll(static member => new LayerContribution(member.Self, member.Contribution()));
        contributions[3] = new(contributions[3].Member, Replace(contributions[3].Bytes.ToArray(), world.Members[3].Host.Current!.State.Maps.Set.Bytes.ToArray(), bytes));
        long before = GC.GetAllocatedBytesForCurrentThread();
        var decision = Decision.Decide(contributions, world.View!);
        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, 4 << 20);
        Assert.Equal(DecisionKind.Serving, decision.Kind);
        Assert.Equal(taken ? 4 : 3, decision.Slots.Count(static slot => slot.Taken));
        // The member that says so is refused, or does not count; nobody else is refused.
        Assert.All(world.Members.Take(3), member => Assert.Null(decision.Refusal(member.Self)));
    }

    [Fact]
    public void Bytes_at_random_never_throw()
    {
        var random = new Prng(7);
        byte[][] good = [Declarations("one"), Declarations("all types alike"), DhtWorld.Founded(2, options: new() { ShardSize = 1, TargetSize = 2 }).Members[0].Host.Current!.State.Maps.Set.Bytes.ToArray()];
        for (int i = 0; i < 20_000; i++)
        {
            byte[] bytes = [.. good[random.Next(good.Length)]];
            for (int k = random.Next(6); k > 0; k--) bytes[random.Next(bytes.Length)] = (byte)random.Next(256);
            if (random.Next(4) == 0) bytes = bytes[..random.Next(bytes.Length)];
            if (MapSet.Read(bytes) is { } set) Assert.NotNull(MapSet.Read(MapSet.Of(set.All).Bytes));
        }
    }

    /// <summary>What another member declares may be as long as a contribution, and appears in errors and log lines of this one.</summary>
    [Theory]
    [InlineData("key")]
    [InlineData("value")]
    [InlineData("placement")]
    [InlineData("resolver")]
    public void R_texts_of_other_members_are_cut_and_do_not_look_like_several_lines(string what)
    {
        string far = "t\n" + new string('t', 4_998);
        var agreement = new MapAgreement();
        Assert.Null(agreement.Take(MapSet.Of([new("m", what == "key" ? far : "k", what == "value" ? far : "v", what == "placement" ? far : "", what == "resolver" ? [far] : [])])));
        agreement.Settle();
        string said = agreement.Take(MapSet.Of([new("m", "k", "v", "", [])]))!;
        Assert.InRange(said.Length, 200, 400);
        Assert.Contains("(5000 characters)", said, StringComparison.Ordinal);
        Assert.DoesNotContain('\n', said);
    }

    /// <summary>As during the upgrade of a program: old and new members stand in the view in the order in which they came.</summary>
    [Fact]
    public void R_what_two_programs_declare_is_read_once_for_each()
    {
        const int Maps = 400;
        var world = DhtWorld.Founded(12);
        byte[] own = world.Members[0].Host.Current!.State.Maps.Set.Bytes.ToArray();
        byte[][] sets = [.. new[] { "old", "new" }.Select(static name => Set(Maps, [.. Enumerable.Range(0, Maps).Select(i => Map($"{i:000} {name}"))]))];
        long one = Allocated(static _ => 0), two = Allocated(static i => i % 2);
        Assert.InRange(two, one, 3 * one);

        long Allocated(Func<int, int> program)
        {
            var contributions = world.Members.ConvertAll(member => new LayerContribution(member.Self, Replace(member.Contribution(), own, sets[program(member.Index)])));
            long before = GC.GetAllocatedBytesForCurrentThread();
            Assert.Equal(DecisionKind.Serving, Decision.Decide(contributions, world.View!).Kind);
            return GC.GetAllocatedBytesForCurrentThread() - before;
        }
    }

    private static string Described(HarnessMember member)
    {
        var text = new Description();
        member.Host.Current!.Describe(text);
        return text.ToString();
    }

    private static byte[] Declarations(string what)
    {
        const string One = "drpoywycdT%X2M3z", Other = "orders of Europe";
        return what switch
        {
            "none" => Set(0),
            "one" => Set(1, Map("a", ["x", "y"])),
            "as many as may be" => Set(1024, [.. Enumerable.Range(0, 1024).Select(static i => Map($"{i:0000}"))]),
            "all types alike" => Set(2, Map("a"), Map("ints")),
            "too many" => Set(1025, [.. Enumerable.Range(0, 1025).Select(static i => Map($"{i:0000}"))]),
            "twice" => Set(2, Map("a"), Map("a")),
            "out of order" => Set(2, Map("b"), Map("a")),
            "no name" => Set(1, Map("")),
            "long name" => Set(1, Map(new('n', 257))),
            "no text" => [1, 1, 0xFF, 1, (byte)'k', 1, (byte)'v', 0, 0],
            "half a character" => [1, 3, 0xED, 0xA0, 0x80, 1, (byte)'k', 1, (byte)'v', 0, 0],
            "resolvers twice" => Set(1, Map("a", ["x", "x"])),
            "resolvers out of order" => Set(1, Map("a", ["y", "x"])),
            "too many resolvers" => Set(1, Map("a", [.. Enumerable.Range(0, 257).Select(static i => $"{i:000}")])),
            "names with one hash" => Set(2, Map(One), Map(Other)),
            "more than all" => Set(200, [.. Enumerable.Range(0, 200).Select(static i => Map($"{i:000}".PadRight(250, 'n')))]),
            "count alone" => [0xFF, 0xFF, 0xFF, 0xFF, 0x0F],
            "cut" => Set(2, Map("a"), Map("b"))[..^2],
            _ => [.. Set(1, Map("a")), 0],
        };
    }

    private static byte[] Set(int count, params byte[][] maps)
    {
        var to = new BodyWriter(new byte[1 << 17]);
        to.Var((ulong)count);
        foreach (byte[] map in maps) to.Raw(map);
        return to.Written.ToArray();
    }

    private static byte[] Map(string name, string[]? resolvers = null)
    {
        var to = new BodyWriter(new byte[1 << 13]);
        foreach (string text in new[] { name, "k", "v", "" }) to.Blob(Encoding.UTF8.GetBytes(text));
        to.Var((ulong)(resolvers?.Length ?? 0));
        foreach (string resolver in resolvers ?? []) to.Blob(Encoding.UTF8.GetBytes(resolver));
        return to.Written.ToArray();
    }

    // With the length of the declarations, which stands before them.
    private static byte[] Replace(byte[] contribution, byte[] declared, byte[] other)
    {
        int at = contribution.AsSpan().IndexOf(declared);
        byte[] length = Length(declared), lie = Length(other);
        return [.. contribution[..(at - length.Length)], .. lie, .. other, .. contribution[(at + declared.Length)..]];

        static byte[] Length(byte[] of)
        {
            var to = new BodyWriter(new byte[10]);
            to.Var((ulong)of.Length);
            return to.Written.ToArray();
        }
    }

    private static void WithExtras(DhtMaps maps)
    {
        maps.Map<string, string>("extra");
        maps.Map<string, int>("ints").OnMerge<int>(static (_, stored, incoming) => stored + incoming);
        maps.Map<string, long>("longs").OnMerge<long>(static (_, stored, incoming) => stored + incoming);
        maps.Map<string, string>("texts").OnMerge<int>(static (_, stored, incoming) => stored + incoming);
        maps.Map<string, byte[]>("bytes");
        maps.Map<string, List<long>>("lists").OnMerge<long>(static (_, stored, incoming) => [.. stored ?? [], incoming]);
        maps.Map<int, int>("numbers");
        maps.Map<double, int>("doubles");
        maps.Map<HashSet<int>, int>("sets");
    }

    private static HarnessMember Join(DhtWorld world, Action<DhtMaps> declare)
    {
        var late = world.Add();
        world.ChangeView();
        late.Enable(world.Options, declare);
        world.ChangeView();
        return late;
    }

    private static async Task AssertNotAgreedAsync(DhtWorld world, HarnessMember member)
    {
        long sent = world.Members.Sum(static one => one.Dht.Counters.SentOf(DhtFrame.Propose) + one.Dht.Counters.SentOf(DhtFrame.Get));
        var (extra, ints) = (member.Dht.Map<string, string>("extra"), member.Dht.Map<string, int>("ints"));
        var map = await Assert.ThrowsAsync<MapNotAgreedException>(() => world.EndAsync(extra.PutAsync("a0", "x")));
        Assert.Equal(("extra", (string?)null), (map.Map, map.Resolver));
        Assert.Contains("\"extra\"", map.Message, StringComparison.Ordinal);
        var resolver = await Assert.ThrowsAsync<MapNotAgreedException>(() => world.EndAsync(ints.MergeAsync("a0", 1)));
        Assert.Equal(("ints", "System.Int32"), (resolver.Map, resolver.Resolver));
        Assert.NotEqual(member.Self, resolver.Member);
        foreach (string key in new[] { "a0", "a1" }) await Assert.ThrowsAsync<MapNotAgreedException>(() => world.EndAsync(extra.GetAsync(key)));
        await Assert.ThrowsAsync<MapNotAgreedException>(() => world.EndAsync(extra.GetAsync(["a0", "a1"])));
        await Assert.ThrowsAsync<MapNotAgreedException>(() => world.EndAsync(member.Dht.NewBatch().Put(ints, "a0", 100).Put(extra, "a0", "x").CommitAsync()));
        Assert.Equal(sent, world.Members.Sum(static one => one.Dht.Counters.SentOf(DhtFrame.Propose) + one.Dht.Counters.SentOf(DhtFrame.Get)));
    }

    /// <summary>What a member says, with other declarations.</summary>
    private static byte[] Forged(HarnessMember member, byte[] bytes, Func<IReadOnlyList<MapShape>, IReadOnlyList<MapShape>> other)
    {
        var said = Contribution.Read(member.Self, bytes)!;
        var lie = new Contribution
        {
            Config = said.Config, Maps = MapSet.Of(other(said.Maps.All)), Enabled = true, Session = said.Session, Incarnation = said.Incarnation, Admitted = said.Admitted, Slot = said.Slot,
            Initialised = said.Initialised, Physical = said.Physical, Committed = said.Committed,
        };
        lie.Unsettled.AddRange(said.Unsettled);
        var into = new ArrayBufferWriter<byte>();
        lie.Write(into);
        return into.WrittenSpan.ToArray();
    }
}
