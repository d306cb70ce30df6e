using Ida.Ordering;
using Ida.Testing;

namespace Ida.Tests;

/// <summary>A member that leaves is the source of its shard until another one is initialised (dht-view-change.md#a-leaver-stays-as-the-source).</summary>
public sealed class LeaveTests
{
    [Fact]
    public void Random_schedules_with_leaving_members_lose_nothing_and_never_end_the_dht()
    {
        long runs = 0, left = 0;
        SimulationRunner.ForEachSeed(200, $"*{nameof(Random_schedules_with_leaving_members_lose_nothing_and_never_end_the_dht)}", DhtScenarios.Leaves.Case(done: run =>
        {
            Assert.False(run.Lost, "the DHT ended");
            (runs, left) = (runs + 1, left + run.Left);
        }));
        Assert.True(left >= runs, $"{left} members left in {runs} schedules");
    }

    [Fact]
    public void Random_schedules_in_which_members_leave_while_others_crash_are_strictly_serializable()
    {
        int runs = 0, lost = 0;
        SimulationRunner.ForEachSeed(200, $"*{nameof(Random_schedules_in_which_members_leave_while_others_crash_are_strictly_serializable)}", DhtScenarios.LeavesAndCrashes.Case(done: run =>
        {
            runs++;
            if (run.Lost) lost++;
        }));
        Assert.True(runs < 10 || lost * 4 <= runs, $"{lost} of {runs} schedules lost a shard");
    }

    /// <summary>Seeds that failed before.</summary>
    [Theory]
    [InlineData(1956916352)] // The code was right: all members left during the last calls, and the schedule waited for a newcomer that had not heard of their table.
    public void A_seed_that_failed_passes(int seed) => Assert.Null(DhtScenarios.LeavesAndCrashes.Judge((ulong)seed));

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void The_only_holder_of_a_shard_of_size_1_hands_over_to_a_member_of_the_other_shard(bool leavesGroup)
    {
        var world = Founded(3, shardSize: 1);
        Fill(world, "1");
        var leaver = world.Members[1];
        Leave(leaver, leavesGroup);
        world.RunUntil(() => leaver.Host.Current!.IsOver && !world.ViewRequested, "The hand-over");
        Assert.Equal(leavesGroup, leaver.Left);
        Assert.True(leaver.Dht.Completion.IsCompletedSuccessfully);
        Assert.Same(world.Members[2], Assert.Single(world.Initialised(1)));
        Assert.Equal(20, DhtWorld.Slice(world.Members[2]).Entries.Count);
        Assert.False(world.Members[0].Dht.Completion.IsCompleted);
    }

    [Fact]
    public async Task A_leaver_whose_peer_is_still_loading_waits_for_it_and_serves_meanwhile()
    {
        var world = Founded(2, shardSize: 1);
        Fill(world, "1");
        var spare = world.Add();
        world.ChangeView();
        var successor = world.Add();
        world.ChangeView();
        spare.Enable(world.Options, DhtWorld.Maps);
        successor.Enable(world.Options, DhtWorld.Maps);
        world.ChangeView();
        Assert.Equal((1, false), (successor.Host.Current!.State.Shard, successor.Host.Current.State.Initialised));
        var leaver = world.Members[1];
        leaver.BeginToLeave();
        Assert.True(world.ViewRequested);
        world.ChangeView();
        Assert.False(leaver.Left);
        // The state is on its way: the leaver answers, the newcomer does not.
        var get = world.Members[0].Dht.Map<string, int>("ints").GetAsync("0_1").AsTask();
        world.Poke();
        world.DeliverAll((from, to) => (from, to) is (0, 1) or (1, 0));
        Assert.True(get.IsCompleted);
        Assert.Equal(0, (await get).Value);
        world.RunUntil(() => leaver.Left && !world.ViewRequested, "The hand-over");
        Assert.Equal(20, DhtWorld.Slice(successor).Entries.Count);
    }

    [Fact]
    public void A_successor_that_dies_is_replaced_by_another()
    {
        var world = Founded(4, shardSize: 1);
        Fill(world, "1");
        var (leaver, first) = (world.Members[1], world.Members[3]);
        world.Crash(first);
        world.ChangeView();
        leaver.BeginToLeave();
        world.ChangeView();
        Assert.False(leaver.Left);
        var loading = world.Members.Find(m => m.InView && m != leaver && m.Host.Current!.State.Shard == 1)!;
        Assert.False(loading.Host.Current!.State.Initialised);
        var late = world.Add();
        world.ChangeView();
        late.Enable(world.Options, DhtWorld.Maps);
        world.Crash(loading);
        world.ChangeView();
        world.RunUntil(() => leaver.Left && !world.ViewRequested, "The hand-over");
        Assert.Equal(20, DhtWorld.Slice(Assert.Single(world.Initialised(1))).Entries.Count);
    }

    [Fact]
    public void Two_members_of_one_shard_that_leave_at_once_do_not_rely_on_each_other()
    {
        var world = Founded(4, shardSize: 2);
        Fill(world, "1");
        world.Members[1].BeginToLeave();
        world.Members[3].BeginToLeave();
        world.RunUntil(() => world.Members[1].Left && world.Members[3].Left && !world.ViewRequested, "The hand-over");
        world.Settle();
        Assert.Equal(20, DhtWorld.Slice(Assert.Single(world.Initialised(1))).Entries.Count);
        Assert.Single(world.Initialised(0));
    }

    [Fact]
    public void Without_anybody_to_take_over_leaving_is_at_once_and_ends_the_dht_for_the_others()
    {
        var world = Founded(2, shardSize: 1);
        world.Members[1].BeginToLeave();
        world.ChangeView();
        Assert.True(world.Members[1].Left);
        Assert.True(world.Members[1].Dht.Completion.IsCompletedSuccessfully);
        Assert.Equal(1, Assert.IsType<ShardDepopulatedException>(world.Members[0].Dht.Completion.Exception!.InnerException).Shard);
    }

    [Fact]
    public void A_hand_over_that_does_not_end_is_given_up_in_time()
    {
        var world = Founded(3, shardSize: 1);
        Fill(world, "1");
        var leaver = world.Members[1];
        leaver.BeginToLeave();
        world.ChangeView();
        world.Advance(world.Options.Member.HandoverTimeout - TimeSpan.FromSeconds(1));
        Assert.False(leaver.Left);
        world.Advance(TimeSpan.FromSeconds(1));
        Assert.True(leaver.Left);
    }

    /// <summary>What was kept for the successor goes with the slice: the group holds the ended DHT for as long as it lives itself.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void R_a_member_that_has_left_keeps_nothing_of_its_slice(bool isGivenUp)
    {
        var world = Founded(3, shardSize: 1);
        Fill(world, "1");
        var leaver = world.Members[1];
        // It leaves in a later view, or when its time is over.
        world.Swallows = (from, to, _) => from == 1 && to == 2;
        Leave(leaver, group: false);
        world.ChangeView();
        var map = world.Members[0].Dht.Map<string, int>("ints");
        var puts = Enumerable.Range(0, 20).Select(i => map.PutAsync($"{i}_1", -i).AsTask()).ToList();
        for (int i = 0; i < 20; i++)
        {
            world.Poke();
            world.DeliverAll();
        }
        var layer = leaver.Host.Current!;
        var entry = EntryOf(leaver);
        if (isGivenUp) world.Advance(world.Options.Member.HandoverTimeout);
        else
        {
            world.Swallows = null;
            world.ChangeView();
            world.RunUntil(() => layer.IsOver, "The hand-over");
        }
        Assert.True(layer.IsOver);
        world.Advance(TimeSpan.FromMilliseconds(10));
        Assert.Equal(long.MaxValue, leaver.Inner.NextTimer);
        GC.Collect();
        Assert.False(entry.TryGetTarget(out _));
        GC.KeepAlive(leaver);
    }

    // So that the frame of the test does not hold the entry.
    [System.Runtime.CompilerServices.MethodImpl(System.Runtime.CompilerServices.MethodImplOptions.NoInlining)]
    private static WeakReference<Entry> EntryOf(HarnessMember member)
    {
        var entries = new List<Entry>();
        for (int range = 0; entries.Count == 0; range++) member.Host.Current!.Participant.Slice.Table.CopyRange(range, entries);
        return new(entries[0]);
    }

    /// <summary>Without a leader of the membership nobody is excluded: what the leaver holds is needed when there is a leader again.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void R_the_only_holder_that_leaves_without_contact_hands_over_when_contact_is_back(bool leavesGroup)
    {
        var world = Founded(3, shardSize: 1);
        Fill(world, "1");
        var leaver = world.Members[1];
        leaver.Block(world.Options.Member.HandoverTimeout / 2);
        Leave(leaver, leavesGroup);
        world.Advance(world.Options.Member.HandoverTimeout / 4);
        Assert.False(leaver.Host.Current!.IsOver);
        world.Advance(world.Options.Member.HandoverTimeout / 4);
        Assert.False(leaver.IsBlocked);
        world.RunUntil(() => leaver.Host.Current!.IsOver && !world.ViewRequested, "The hand-over");
        Assert.Equal(20, DhtWorld.Slice(Assert.Single(world.Initialised(1))).Entries.Count);
        Assert.False(world.Members[0].Dht.Completion.IsCompleted);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void R_a_member_that_leaves_and_has_no_contact_again_goes_in_time(bool leavesGroup)
    {
        var world = Founded(3, shardSize: 1);
        Fill(world, "1");
        var leaver = world.Members[1];
        leaver.Block(TimeSpan.FromHours(1));
        Leave(leaver, leavesGroup);
        world.Advance(world.Options.Member.HandoverTimeout - TimeSpan.FromSeconds(1));
        Assert.False(leaver.Host.Current!.IsOver);
        world.Advance(TimeSpan.FromSeconds(1));
        Assert.True(leaver.Host.Current!.IsOver);
        Assert.Equal(leavesGroup, leaver.Left);
    }

    /// <summary>
    /// The member has said that it goes on, and all decide by that: it has a slot of the new view, in which nobody answers. What it asks for during the flush is not heard.
    /// </summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task R_a_member_whose_dht_ends_during_a_flush_does_not_keep_its_slot(bool limit)
    {
        var world = DhtWorld.Founded(4, options: new() { ShardSize = 2, TargetSize = 4, Hash = new LastByteHash(), Member = new() { HandoverTimeout = TimeSpan.FromSeconds(limit ? 1 : 0) } });
        Fill(world, "1");
        var leaver = world.Members[1];
        if (limit)
        {
            // Nobody becomes initialised in its place.
            world.Swallows = static (_, to, _) => to == 1;
            world.Crash(world.Members[3]);
            Leave(leaver, group: false);
            world.ChangeView();
            Assert.False(leaver.Host.Current!.IsOver);
        }
        world.DuringFlush = () =>
        {
            world.DuringFlush = null;
            if (limit) world.Advance(TimeSpan.FromSeconds(1));
            else Leave(leaver, group: false);
            Assert.True(leaver.Host.Current!.IsOver);
        };
        world.ChangeView();
        Assert.True(world.ViewRequested);
        if (limit) return;
        world.RunUntil(() => !world.ViewRequested, "The view without it");
        var put = world.Members[0].Dht.Map<string, int>("ints").PutAsync("0_1", 7).AsTask();
        world.RunUntil(() => put.IsCompleted, "A put", steps: 100);
        Assert.Single((await put).Versions);
        // That view is asked for once.
        Assert.False(world.ViewRequested);
    }

    [Fact]
    public void R_a_dht_is_not_left_founded_with_a_member_that_has_given_up_enabling_it()
    {
        var world = new DhtWorld();
        for (int i = 0; i < 2; i++) world.Add();
        world.ChangeView();
        foreach (var member in world.Members) member.Enable(new() { ShardSize = 1, TargetSize = 2, Hash = new LastByteHash() }, DhtWorld.Maps);
        world.DuringFlush = () =>
        {
            world.DuringFlush = null;
            Leave(world.Members[1], group: false);
            Assert.True(world.Members[1].Host.Current!.IsOver);
        };
        world.ChangeView();
        world.RunUntil(() => world.Members[0].Dht.Completion.IsCompleted, "The end", steps: 100);
        Assert.IsType<ShardDepopulatedException>(world.Members[0].Dht.Completion.Exception!.InnerException);
    }

    [Fact]
    public void Without_the_rule_the_leaver_takes_the_shard_with_it()
    {
        var world = Founded(3, shardSize: 1, nameof(DhtRules.LeaverStaysAsSource));
        world.Members[1].BeginToLeave();
        var wrong = Assert.Throws<ScenarioFailedException>(() => world.RunUntil(() => world.Members[1].Left && !world.ViewRequested, "Leaving"));
        Assert.Contains($"shard 1 {DhtWorld.LostThoughHeld} m1", wrong.Message, StringComparison.Ordinal);
        Assert.IsType<ShardDepopulatedException>(world.Members[0].Dht.Completion.Exception!.InnerException);
    }

    private static DhtWorld Founded(int members, int shardSize, string? without = null) =>
        DhtWorld.Founded(members, without: without, options: new() { ShardSize = shardSize, TargetSize = 2 * shardSize, Hash = new LastByteHash() });

    private static void Fill(DhtWorld world, string shard)
    {
        var map = world.Members[0].Dht.Map<string, int>("ints");
        var puts = Enumerable.Range(0, 20).Select(i => map.PutAsync($"{i}_{shard}", i).AsTask()).ToList();
        world.RunUntil(() => puts.TrueForAll(put => put.IsCompletedSuccessfully), "The puts");
        world.Settle();
    }

    private static void Leave(HarnessMember leaver, bool group)
    {
        if (group) leaver.BeginToLeave();
        else
        {
            _ = leaver.Dht.CloseAsync().AsTask();
            leaver.Turn(static () => { });
        }
    }
}
