using GroupCore.Groups;
using Ida.Wire;

namespace Ida.Tests;

/// <summary>
/// The schedules that the rules of the order are for (dht-order.md#rules). Each is run with the full protocol and with one rule left out, and returns whether the caller saw
/// something wrong.
/// </summary>
public sealed class ScheduleTests
{
    private const long Ahead = 300_000_000;

    [Theory]
    [InlineData(nameof(DhtRules.PutWaitsForSeal))]
    [InlineData(nameof(DhtRules.FastPathEqual))]
    public void A1_a_read_after_a_returned_put_sees_it(string rule) => Directed(rule, without =>
    {
        var world = DhtWorld.Founded(4, 1, without);
        RaiseClock(world, 2, "a0", "b0");
        var put = Append(world, 1, 7, "a0");
        world.DeliverAll((from, to) => (from, to) is (1, 0) or (1, 2));
        world.DeliverAll((from, to) => to == 1);
        bool returned = put.IsCompleted;
        var get = Get(world, 0, "a0", "b0");
        world.RunUntil(() => put.IsCompleted && get.IsCompleted, "Both");
        return returned && !Has(get, "a0", 7);
    });

    [Fact]
    public void A2_a_value_read_at_one_replica_is_not_missed_at_the_other() => Directed(nameof(DhtRules.ReadWaitsForStable), without =>
    {
        var world = DhtWorld.Founded(4, 1, without);
        RaiseClock(world, 0, "a0", "b0");
        var put = Append(world, 1, 7, "a0");
        world.DeliverAll((from, to) => (from, to) is (1, 0) or (1, 2));
        world.DeliverAll((from, to) => to == 1);
        world.DeliverAll((from, to) => (from, to) is (1, 0));
        var first = GetOne(world, 0, "a0");
        bool read = first.IsCompleted && HasOne(first, 7);
        var second = Get(world, 2, "a0", "b0");
        world.RunUntil(() => put.IsCompleted && first.IsCompleted && second.IsCompleted, "All");
        return read && !Has(second, "a0", 7);
    });

    [Fact]
    public void A3_a_value_read_in_one_shard_is_not_missed_in_another() => Directed(nameof(DhtRules.ReadWaitsForStable), without =>
    {
        var world = Four(without);
        RaiseClock(world, 0, "a0", "b0");
        var put = Append(world, 2, 7, "a0", "a1");
        world.DeliverAll((from, to) => from == 2);
        world.DeliverAll((from, to) => to == 2);
        world.DeliverAll((from, to) => (from, to) is (2, 0));
        var first = GetOne(world, 0, "a0");
        bool read = first.IsCompleted && HasOne(first, 7);
        var second = Get(world, 1, "a1", "b1");
        world.RunUntil(() => put.IsCompleted && first.IsCompleted && second.IsCompleted, "All");
        return read && !Has(second, "a1", 7);
    });

    [Fact]
    public void A4_a_put_returns_only_when_what_it_follows_is_stable() => Directed(nameof(DhtRules.QuiescentIncludesPredecessors), without =>
    {
        var world = Four(without);
        RaiseClock(world, 1, "a1", "b1");
        var b = Append(world, 2, 1, "a0", "a1");
        world.DeliverAll((from, to) => from == 2);
        world.DeliverAll((from, to) => to == 2);
        world.DeliverAll((from, to) => (from, to) is (2, 1));
        var c = Append(world, 1, 2, "a1");
        bool returned = c.IsCompleted;
        var a = Get(world, 0, "a0", "b0");
        world.RunUntil(() => a.IsCompleted && b.IsCompleted && c.IsCompleted, "All");
        return returned && !Has(a, "a0", 1);
    });

    [Fact]
    public void A5_reads_count_as_predecessors() => Directed(nameof(DhtRules.QuiescentIncludesReads), without =>
    {
        var world = Four(without);
        RaiseClock(world, 1, "a1", "b1");
        var b = Get(world, 2, "a0", "a1");
        world.DeliverAll((from, to) => from == 2);
        world.DeliverAll((from, to) => to == 2);
        world.DeliverAll((from, to) => (from, to) is (2, 1));
        var c = Append(world, 1, 2, "a1");
        bool returned = c.IsCompleted;
        var a = Append(world, 0, 1, "a0");
        world.RunUntil(() => a.IsCompleted && b.IsCompleted && c.IsCompleted, "All");
        return returned && Has(b, "a0", 1) && !Has(b, "a1", 2);
    });

    [Fact]
    public void A6_an_acknowledged_put_survives_its_coordinator() => Directed(nameof(DhtRules.FlushCommitsHeld), without =>
    {
        var world = DhtWorld.Founded(4, 1, without);
        var put = Append(world, 1, 7, "a0");
        world.DeliverAll((from, to) => from == 1);
        world.DeliverAll((from, to) => to == 1 && !put.IsCompleted);
        Assert.True(put.IsCompleted);
        world.Crash(world.Members[1], loseAll: true);
        world.ChangeView();
        return !ReadLater(world, 3, "a0", 7);
    });

    [Fact]
    public void A7_a_value_that_was_read_survives_coordinator_and_reader() => Directed(nameof(DhtRules.FlushCommitsHeld), without =>
    {
        var world = DhtWorld.Founded(4, 1, without);
        var put = Append(world, 1, 7, "a0");
        world.DeliverUntil(1, 0, DhtFrame.Propose);
        world.DeliverUntil(1, 2, DhtFrame.Propose);
        world.DeliverAll((from, to) => to == 1);
        Assert.True(put.IsCompleted);
        world.DeliverUntil(1, 0, DhtFrame.Commit);
        var get = GetOne(world, 0, "a0");
        Assert.True(HasOne(get, 7));
        world.Crash(world.Members[0], loseAll: true);
        world.Crash(world.Members[1], loseAll: true);
        world.ChangeView();
        return !ReadLater(world, 3, "a0", 7);
    });

    [Fact]
    public void A8_the_time_is_the_maximum_over_all_participants() => Directed(nameof(DhtRules.TimeOverAll), without =>
    {
        var world = DhtWorld.Founded(4, 1, without);
        var c = Append(world, 1, 1, "a0");
        world.DeliverUntil(1, 2, DhtFrame.Propose);
        world.DeliverAll((from, to) => (from, to) is (2, 1) or (1, 2));
        world.Advance(TimeSpan.FromMilliseconds(1));
        var y = Append(world, 3, 2, "a0");
        world.DeliverAll((from, to) => from == 3 || to == 3);
        world.RunUntil(() => c.IsCompleted && y.IsCompleted, "Both");
        world.Settle();
        return DhtWorld.Slice(world.Members[0]).Digest != DhtWorld.Slice(world.Members[2]).Digest;
    });

    [Fact]
    public void A9_what_is_acknowledged_during_a_flush_is_not_lost_by_it() => Directed(nameof(DhtRules.WedgeFreezes), without =>
    {
        var world = DhtWorld.Founded(4, 1, without);
        var put = Append(world, 1, 7, "a0");
        bool returned = false;
        world.DuringFlush = () =>
        {
            world.DeliverUntil(1, 0, DhtFrame.Propose);
            world.DeliverUntil(1, 2, DhtFrame.Propose);
            world.DeliverAll((from, to) => to == 1);
            returned = put.IsCompleted;
            world.Crash(world.Members[1], loseAll: true);
        };
        world.ChangeView();
        world.DuringFlush = null;
        world.ChangeView();
        return returned && !ReadLater(world, 3, "a0", 7);
    });

    [Fact]
    public void A10_a_straggler_of_the_old_view_changes_nothing() => Directed(nameof(GroupRules.OldViewRefused), without =>
    {
        var world = DhtWorld.Founded(4, 1, without);
        var c = Append(world, 1, 1, "a0");
        world.DeliverUntil(1, 0, DhtFrame.Propose);
        world.ChangeView();
        world.Deliver(1, 2);
        Assert.False(c.IsCompleted);
        return world.Members[2].Host.Current!.Participant.Records.Oldest is { Key.Attempt: 1 };
    });

    [Fact]
    public void A11_an_excluded_member_answers_nothing() => Directed(nameof(DhtRules.Fence), without =>
    {
        var world = DhtWorld.Founded(4, 1, without);
        var excluded = world.Members[0];
        world.ChangeView(excluded);
        var put = Append(world, 2, 7, "a0");
        world.RunUntil(() => put.IsCompleted, "The put");
        var stale = GetOne(world, 0, "a0");
        bool wrong = stale.IsCompleted && !HasOne(stale, 7);
        world.Exclude(excluded);
        Assert.True(wrong || stale.Exception?.InnerException is NotDhtMemberException);
        return wrong;
    });

    [Fact]
    public void A12_a_newcomer_without_its_state_answers_nothing() => Directed(nameof(DhtRules.OnlyInitialisedAnswers), without =>
    {
        var world = DhtWorld.Founded(4, 1, without);
        var put = Append(world, 1, 7, "a0");
        world.RunUntil(() => put.IsCompleted, "The put");
        world.Settle();
        Join(world);
        var get = GetOne(world, 1, "a0");
        world.DeliverAll((from, to) => (from is 1 or 4 || to is 1) && (from, to) is not (_, 4) || (from, to) is (1, 4));
        world.RunUntil(() => get.IsCompleted, "The read");
        return !HasOne(get, 7);
    });

    [Fact]
    public void A12_a_swap_leaves_an_initialised_member_behind() => Directed(nameof(DhtRules.SwapKeepsInitialised), without =>
    {
        // Shard 1 keeps one initialised member and two newcomers; a hole in shard 0 must not take the initialised one. Slots 0..6; shard 1 = 1, 3, 5.
        var slots = new List<Placement.SlotState>
        {
            Placement.SlotState.Hole, new(Id(1), false), Placement.SlotState.Hole, new(Id(3), false), new(Id(4), true), new(Id(5), true), Placement.SlotState.Hole,
        };
        Placement.SlotAssignment.Assign(slots, 2, [], DhtRules.Without(without));
        return !slots.Where((s, i) => i % 2 == 1 && s.Taken && s.Initialised).Any();
    });

    [Fact]
    public void A13_a_retried_put_is_applied_once() => Directed(nameof(DhtRules.OutcomeTable), without =>
    {
        var world = DhtWorld.Founded(4, 1, without);
        RaiseClock(world, 2, "a0", "b0");
        var put = Append(world, 1, 7, "a0");
        world.DeliverAll((from, to) => from == 1);
        world.DeliverAll((from, to) => to == 1);
        world.DeliverAll((from, to) => from == 1);
        Assert.False(put.IsCompleted);
        world.ChangeView();
        world.RunUntil(() => put.IsCompleted, "The put");
        return Count(world, 0, "a0", 7) != 1;
    });

    [Fact]
    public void A13_outcomes_travel_with_the_state() => Directed(nameof(DhtRules.OutcomeInTransfer), without =>
    {
        var world = DhtWorld.Founded(4, 1, without);
        var id = new OperationId(world.Members[1].Host.Current!.State.Session, DhtWorld.Named);
        var put = Append(world, 1, 7, id, "a0");
        world.RunUntil(() => put.IsCompleted, "The put");
        Join(world);
        world.Settle();
        foreach (int dead in new[] { 0, 2 })
        {
            world.Crash(world.Members[dead]);
            world.ChangeView();
            world.Settle();
        }
        var again = Append(world, 3, 7, id, "a0");
        world.RunUntil(() => again.IsCompleted, "The retry");
        Assert.Equal(id, again.Result.Operation);
        return Count(world, world.Initialised(0)[0].Index, "a0", 7) != 1;
    });

    [Fact]
    public void A15_reads_of_two_keys_at_two_replicas_agree_on_the_order_of_puts() => Directed(nameof(DhtRules.ShardReadTakesTime), without =>
    {
        var world = DhtWorld.Founded(4, 1, without);
        var x = Append(world, 1, 1, "a0");
        var y = Append(world, 3, 2, "b0");
        world.DeliverUntil(1, 0, DhtFrame.Propose);
        var first = Get(world, 0, "a0", "b0");
        world.DeliverUntil(3, 0, DhtFrame.Propose);
        world.DeliverUntil(3, 2, DhtFrame.Propose);
        var second = Get(world, 2, "a0", "b0");
        world.DeliverUntil(1, 2, DhtFrame.Propose);
        world.RunUntil(() => x.IsCompleted && y.IsCompleted && first.IsCompleted && second.IsCompleted, "All");
        return Has(first, "a0", 1) && !Has(first, "b0", 2) && Has(second, "b0", 2) && !Has(second, "a0", 1);
    });

    [Fact]
    public void A16_a_takeover_aborts_nothing_that_no_participant_has_rejected() => Directed(nameof(DhtRules.AbortNeedsRejection), without =>
    {
        var world = DhtWorld.Founded(4, 1, without);
        var put = Append(world, 1, 7, "a0");
        world.DeliverUntil(1, 0, DhtFrame.Propose);
        world.DeliverUntil(0, 1, DhtFrame.Proposed);
        // Long enough for a takeover.
        world.Advance(TimeSpan.FromSeconds(3));
        world.DeliverUntil(0, 2, DhtFrame.Recover);
        world.DeliverUntil(2, 0, DhtFrame.NotHeld);
        world.DeliverUntil(1, 2, DhtFrame.Propose);
        world.DeliverUntil(2, 1, DhtFrame.Proposed);
        bool returned = put.IsCompleted;
        world.DeliverAll((from, to) => from == 1);
        return returned && !ReadLater(world, 0, "a0", 7);
    });

    private static void Directed(string rule, Func<string?, bool> schedule)
    {
        Assert.False(schedule(null), "The full protocol shows the anomaly.");
        Assert.True(schedule(rule), $"The schedule does not show that {rule} is missing.");
    }

    private static GroupCore.Membership.ProcessId Id(ulong n) => new(n, n);

    /// <summary>Four shards of one member each: the last character of a key is its member.</summary>
    private static DhtWorld Four(string? without) =>
        DhtWorld.Founded(4, 1, without, new() { ShardSize = 1, TargetSize = 4, Hash = new LastByteHash(), Member = new() { Timeout = TimeSpan.FromHours(10) } });

    /// <summary>A member whose clock is ahead reads two of its own keys, which raises the clocks of these keys at that member and nowhere else.</summary>
    private static void RaiseClock(DhtWorld world, int member, params string[] keys)
    {
        world.Members[member].Skew = Ahead;
        var get = Get(world, member, keys);
        Assert.True(get.IsCompleted);
    }

    private static void Join(DhtWorld world)
    {
        var joiner = world.Add();
        world.ChangeView();
        joiner.Enable(world.Options, DhtWorld.Maps);
        world.ChangeView();
        world.ViewRequested = false;
    }

    private static DhtMap<string, List<long>> Map(DhtWorld world, int member) => world.Members[member].Dht.Map<string, List<long>>("lists");

    private static Task<PutResult> Append(DhtWorld world, int member, long element, params string[] keys) => Append(world, member, element, null, keys);

    private static Task<PutResult> Append(DhtWorld world, int member, long element, OperationId? id, params string[] keys)
    {
        var task = Map(world, member).MergeAsync(keys.Select(k => KeyValuePair.Create(k, element)), new() { Operation = id }).AsTask();
        world.Members[member].Turn(static () => { });
        return task;
    }

    private static Task<EntryDictionary<string, List<long>>> Get(DhtWorld world, int member, params string[] keys)
    {
        var task = Map(world, member).GetAsync(keys).AsTask();
        world.Members[member].Turn(static () => { });
        return task;
    }

    private static Task<Entry<List<long>>> GetOne(DhtWorld world, int member, string key)
    {
        var task = Map(world, member).GetAsync(key).AsTask();
        world.Members[member].Turn(static () => { });
        return task;
    }

    private static bool Has(Task<EntryDictionary<string, List<long>>> get, string key, long element) =>
        get.Result.TryGetValue(key, out var list) && list.Contains(element);

    private static bool HasOne(Task<Entry<List<long>>> get, long element) => get.Result.Found && get.Result.Value.Contains(element);

    private static bool ReadLater(DhtWorld world, int member, string key, long element)
    {
        var get = GetOne(world, member, key);
        world.RunUntil(() => get.IsCompleted, "The read");
        return HasOne(get, element);
    }

    private static int Count(DhtWorld world, int member, string key, long element)
    {
        var get = GetOne(world, member, key);
        world.RunUntil(() => get.IsCompleted, "The read");
        return get.Result.Value.Count(e => e == element);
    }
}
