using Ida.Coordination;

namespace Ida.Tests;

/// <summary>Only a member gives ids to its puts: an id that a caller makes up in advance is refused, and never takes the place of a later put.</summary>
public sealed class NeverGivenIdTests
{
    // Questions of one member in a second.
    private const int MostAsked = 3_000;

    [Theory]
    [InlineData(0, 1UL)]
    [InlineData(0, 2UL)]
    [InlineData(0, 1_000_000UL)]
    [InlineData(1, 1UL)]
    [InlineData(2, 1UL)]
    [InlineData(2, 2UL)]
    [InlineData(2, 1_000_000UL)]
    public async Task R_an_id_that_no_put_was_given_is_refused_and_later_puts_are_executed(int through, ulong ahead)
    {
        var world = DhtWorld.Founded(4);
        var map = world.Members[0].Dht.Map<string, long>("longs");
        var first = map.MergePairAsync("a0", 1L).AsTask();
        world.RunUntil(() => first.IsCompleted, "The first put");
        var last = (await first).Operation;
        var made = world.Members[through].Dht.Map<string, long>("longs").MergePairAsync("a0", 1L, new() { Operation = last with { Sequence = last.Sequence + ahead } }).AsTask();
        world.RunUntil(() => made.IsCompleted, "The put with an id of its own");
        Assert.Contains(nameof(PutOptions.Operation), Assert.IsType<ArgumentException>(made.Exception?.InnerException).Message, StringComparison.Ordinal);
        for (int i = 0; i < 3; i++)
        {
            var next = map.MergePairAsync("a0", 1L).AsTask();
            world.RunUntil(() => next.IsCompleted, "A later put");
            Assert.Single((await next).Versions);
        }
        var read = map.GetAsync("a0").AsTask();
        world.RunUntil(() => read.IsCompleted, "The read");
        Assert.Equal(4L, (await read).Value);
        world.Settle();
        Assert.All(world.Initialised(0), one => Assert.Equal(1, one.Host.Current!.Participant.Sessions.Find(last.Session)!.OutcomeCount));
    }

    /// <summary>A later put of the issuer must not end with an error about ids, which a caller that has named none could not understand.</summary>
    [Theory]
    [InlineData(0)]
    [InlineData(2)]
    public async Task R_an_id_made_up_for_other_pairs_refuses_no_put_that_names_none(int through)
    {
        var world = DhtWorld.Founded(4);
        var map = world.Members[0].Dht.Map<string, long>("longs");
        var first = map.MergePairAsync("a0", 1L).AsTask();
        world.RunUntil(() => first.IsCompleted, "The first put");
        var last = (await first).Operation;
        var made = world.Members[through].Dht.Map<string, long>("longs").MergePairAsync("a0", 7L, new() { Operation = last with { Sequence = last.Sequence + 2 } }).AsTask();
        world.RunUntil(() => made.IsCompleted, "The put with an id of its own");
        var next = map.MergePairAsync("a0", 1L).AsTask();
        world.RunUntil(() => next.IsCompleted, "The next put");
        Assert.Single((await next).Versions);
        Assert.IsType<ArgumentException>(made.Exception?.InnerException);
    }

    /// <summary>No number stands for "any".</summary>
    [Theory]
    [InlineData(0)]
    [InlineData(2)]
    public void R_the_highest_number_is_given_to_no_put_either(int through)
    {
        var world = DhtWorld.Founded(4);
        world.GivenFrom = null;
        var made = world.Members[through].Dht.Map<string, long>("longs").MergePairAsync("a0", 1L, new() { Operation = new(world.Members[0].Host.Current!.State.Session, ulong.MaxValue) }).AsTask();
        world.RunUntil(() => made.IsCompleted, "The put with an id of its own");
        Assert.IsType<ArgumentException>(made.Exception?.InnerException);
    }

    /// <summary>
    /// Reads have numbers too, and participants hold records of them. No put is given the number of a read. If one comes under such a number all the
    /// same, every replica does the same with it, whether it holds the read or not.
    /// </summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task R_a_put_under_the_number_of_a_running_read_leaves_replicas_alike(bool named)
    {
        var world = DhtWorld.Founded(4);
        var map = world.Members[0].Dht.Map<string, long>("longs");
        var first = map.MergePairAsync("a0", 1L).AsTask();
        world.RunUntil(() => first.IsCompleted, "The first put");
        world.Settle();
        if (named) world.GivenFrom = 0;
        // At the other shard something stands before the read, so the read is executed at member 0 and not stable.
        var before = world.Members[1].Dht.Map<string, long>("longs").MergePairAsync("a1", 1L).AsTask();
        world.Poke();
        world.DeliverAll((from, to) => (from, to) is (1, 3));
        var read = map.GetAsync(["a0", "a1"]).AsTask();
        world.Poke();
        world.DeliverAll((from, to) => (from, to) is (0, 1) or (1, 0) or (0, 3) or (3, 0));
        var held = world.Members[0].Host.Current!.Participant.Records.Oldest!;
        Assert.True(held is { Kind.Changes: false, Executed: true, Stable: false }, world.Describe());
        var made = world.Members[2].Dht.Map<string, long>("longs").MergePairAsync("a0", 7L, new() { Operation = held.Key.Id }).AsTask();
        world.Poke();
        world.DeliverAll((from, to) => (from, to) is (0, 2) or (2, 0));
        world.RunUntil(() => made.IsCompleted && before.IsCompleted && read.IsCompleted, "All calls");
        world.Settle();
        Assert.Null(DhtWorld.Difference(world.Members[0], world.Members[2]));
        Assert.Equal(named, made.IsCompletedSuccessfully);
        Assert.Equal(1L, (await read)["a0"]);
        if (!named) Assert.IsType<ArgumentException>(made.Exception?.InnerException);
    }

    /// <summary>The issuer is asked again until it answers, and nothing is sent before.</summary>
    [Fact]
    public async Task A_retry_through_another_member_waits_for_the_member_that_issued_the_put()
    {
        var world = DhtWorld.Founded(4);
        var map = world.Members[0].Dht.Map<string, long>("longs");
        var id = PooledOperationTests.Unknown(world, map.MergePairAsync("a1", 1L, new() { Timeout = TimeSpan.FromMilliseconds(5) }).AsTask());
        var retry = world.Members[2].Dht.Map<string, long>("longs").MergePairAsync("a1", 1L, new() { Operation = id }).AsTask();
        world.Poke();
        for (int i = 0; i < 5; i++)
        {
            world.DeliverAll((from, to) => from != 0 && to != 0);
            world.Advance(TimeSpan.FromMilliseconds(100));
        }
        Assert.Equal(OperationPhase.Admitted, Assert.Single(world.Members[2].Host.Current!.Coordinator.Standing()).Place);
        world.RunUntil(() => retry.IsCompleted, "The retry");
        Assert.Single((await retry).Versions);
    }

    /// <summary>Retries that wait for the issuer's word keep nobody else from a place in flight, and get a place again when the word comes.</summary>
    [Fact]
    public async Task R_puts_go_on_beside_retries_that_wait_for_a_member_that_stalls()
    {
        var world = DhtWorld.Founded(4, options: new() { ShardSize = 2, TargetSize = 4, Hash = new LastByteHash(), Member = new() { Timeout = TimeSpan.FromHours(10), MaxInFlight = 2 } });
        var map = world.Members[0].Dht.Map<string, long>("longs");
        var ids = new List<OperationId>();
        for (int i = 0; i < 3; i++)
        {
            ids.Add(PooledOperationTests.Unknown(world, map.MergePairAsync($"{(char)('a' + i)}1", 1L, new() { Timeout = TimeSpan.FromMilliseconds(5) }).AsTask()));
            world.Settle();
        }
        var other = world.Members[3].Dht.Map<string, long>("longs");
        var retries = ids.Select((id, i) => other.MergePairAsync($"{(char)('a' + i)}1", 1L, new() { Operation = id }).AsTask()).ToList();
        var puts = Enumerable.Range(0, 5).Select(i => other.MergePairAsync("d1", 1L).AsTask()).ToList();
        for (int i = 0; i < 20; i++)
        {
            world.Poke();
            world.DeliverAll((from, to) => from != 0 && to != 0);
            world.Advance(TimeSpan.FromMilliseconds(20));
        }
        Assert.All(retries, retry => Assert.False(retry.IsCompleted));
        Assert.All(puts, put => Assert.True(put.IsCompletedSuccessfully, world.Describe()));
        world.RunUntil(() => retries.TrueForAll(retry => retry.IsCompleted), "The retries");
        foreach (var retry in retries) Assert.Single((await retry).Versions);
        world.Settle();
        Assert.False(world.Members[3].Host.Current!.Coordinator.HasWork);
    }

    /// <summary>The member that stalled answers all retries at once, while others have the places. Each goes on as a place becomes free; never are more on the way than there are places.</summary>
    [Fact]
    public async Task R_retries_whose_answer_comes_wait_for_a_place_again()
    {
        const int Places = 2, Retries = 12;
        var world = DhtWorld.Founded(4, options: new() { ShardSize = 2, TargetSize = 4, Hash = new LastByteHash(), Member = new() { Timeout = TimeSpan.FromHours(10), MaxInFlight = Places } });
        var map = world.Members[0].Dht.Map<string, long>("longs");
        var ids = new List<OperationId>();
        for (int i = 0; i < Retries; i++)
        {
            ids.Add(PooledOperationTests.Unknown(world, map.MergePairAsync($"{(char)('a' + i)}1", 1L, new() { Timeout = TimeSpan.FromMilliseconds(5) }).AsTask()));
            world.Settle();
        }
        var coordinator = world.Members[3].Host.Current!.Coordinator;
        var other = world.Members[3].Dht.Map<string, long>("longs");
        var retries = ids.Select((id, i) => other.MergePairAsync($"{(char)('a' + i)}1", 1L, new() { Operation = id }).AsTask()).ToList();
        var puts = Enumerable.Range(0, 5).Select(i => other.MergePairAsync($"{i}z1", 1L).AsTask()).ToList();
        world.Poke();
        Assert.Equal(Places, Sent());
        int most = 0;
        world.Swallows = (from, _, _) =>
        {
            if (from == 3) most = Math.Max(most, Sent());
            return false;
        };
        world.DeliverAll(static (from, to) => (from, to) is (0, 3) or (3, 0));
        Assert.Equal(Places, Sent());
        world.RunUntil(() => retries.TrueForAll(static retry => retry.IsCompleted) && puts.TrueForAll(static put => put.IsCompleted), "All calls");
        Assert.Equal(Places, most);
        foreach (var call in retries.Concat(puts)) Assert.Single((await call).Versions);
        world.Settle();
        Assert.False(coordinator.HasWork);

        int Sent() => coordinator.Standing().Count(static one => one.Place == OperationPhase.Sent && !one.Op.IsParked);
    }

    /// <summary>As many as may wait are waiting for a place. Of the retries, only so many may wait for the issuer's word that enough is left for everything else.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void R_a_crowd_of_retries_of_a_member_that_stalls_leaves_others_their_places(bool answers)
    {
        const int Places = 16, Retries = 130;
        var world = DhtWorld.Founded(4, options: new() { ShardSize = 2, TargetSize = 4, Hash = new LastByteHash(), Member = new() { Timeout = TimeSpan.FromHours(10), MaxInFlight = Places } });
        var session = world.Members[0].Host.Current!.State.Session;
        world.GivenFrom = null;
        var map = world.Members[3].Dht.Map<string, long>("longs");
        var others = Enumerable.Range(0, Places).Select(_ => map.MergePairAsync("d1", 1L).AsTask()).ToList();
        var retries = Enumerable.Range(0, Retries).Select(i => map.MergePairAsync("a1", 1L, new() { Operation = new(session, (2UL * (ulong)i) + 1) }).AsTask()).ToList();
        others.AddRange(Enumerable.Range(0, (16 * Places) - Retries - 2).Select(_ => map.MergePairAsync("d1", 1L).AsTask()));
        for (int i = 0; i < 200; i++)
        {
            world.Poke();
            world.DeliverAll((from, to) => answers || (from != 0 && to != 0));
            world.Advance(TimeSpan.FromMilliseconds(20));
        }
        Assert.All(others, put => Assert.True(put.IsCompletedSuccessfully, world.Describe()));
        if (!answers) Assert.Contains(retries, static retry => !retry.IsCompleted);
        world.RunUntil(() => retries.TrueForAll(static retry => retry.IsCompleted), "The retries");
        Assert.All(retries, retry => Assert.True(retry.Exception?.InnerException is ArgumentException || (!answers && retry.Exception?.InnerException is OutcomeUnknownException { InnerException: OverloadedException }), retry.Exception?.ToString()));
    }

    /// <summary>Each retry asks until it is answered, and the more retries there are, the less often.</summary>
    [Fact]
    public void R_many_retries_that_wait_for_a_member_that_stalls_ask_it_little()
    {
        const int Retries = 2_000;
        var world = DhtWorld.Founded(4);
        var session = world.Members[0].Host.Current!.State.Session;
        world.GivenFrom = null;
        var map = world.Members[3].Dht.Map<string, long>("longs");
        var retries = Enumerable.Range(0, Retries).Select(i => map.MergePairAsync("a1", 1L, new() { Operation = new(session, (2UL * (ulong)i) + 1) }).AsTask()).ToList();
        world.Poke();
        world.Poke();
        int asked = world.Waiting(3, 0);
        for (int i = 0; i < 1_000; i++)
        {
            world.DeliverAll(static (from, to) => from != 0 && to != 0);
            world.Advance(TimeSpan.FromMilliseconds(10));
        }
        Assert.Equal(Retries, asked);
        Assert.InRange(world.Waiting(3, 0) - asked, 5 * Retries, 10 * MostAsked);
        world.RunUntil(() => retries.TrueForAll(static retry => retry.IsCompleted), "The retries");
    }

    /// <summary>Nobody gives ids of its session any more: the members that hold what was under way resolve it.</summary>
    [Fact]
    public async Task A_retry_that_waits_for_a_member_that_is_gone_goes_on()
    {
        var world = DhtWorld.Founded(4);
        var map = world.Members[0].Dht.Map<string, long>("longs");
        var id = PooledOperationTests.Unknown(world, map.MergePairAsync("a1", 1L, new() { Timeout = TimeSpan.FromMilliseconds(5) }).AsTask());
        world.DeliverAll((from, to) => from == 0 && to is 1 or 3);
        var retry = world.Members[2].Dht.Map<string, long>("longs").MergePairAsync("a1", 1L, new() { Operation = id }).AsTask();
        world.Poke();
        world.Crash(world.Members[0], loseAll: true);
        world.ChangeView();
        world.RunUntil(() => retry.IsCompleted, "The retry");
        Assert.Single((await retry).Versions);
        var read = world.Members[1].Dht.Map<string, long>("longs").GetAsync("a1").AsTask();
        world.RunUntil(() => read.IsCompleted, "The read");
        Assert.Equal(1L, (await read).Value);
    }
}
