using GroupCore.Groups;
using GroupCore.Membership;
using GroupCore.Runtime;
using Ida.Ordering;
using Ida.Shared;
using Ida.ViewChange;
using Ida.Wire;

namespace Ida.Tests;

/// <summary>A clock that is wrong costs its own member's calls, with an error that says so, and costs the others nothing.</summary>
public sealed class WrongClockTests
{
    private const ulong Far = (1UL << 62) - 1;

    [Fact]
    public async Task A_key_whose_clock_is_out_of_range_at_one_member_leaves_the_others_as_they_are()
    {
        var world = DhtWorld.Founded(4);
        var map = world.Members[0].Dht.Map<string, long>("longs");
        await Run(world, map.PutAsync("a1", 1L).AsTask());
        world.Settle();
        var faulty = world.Members[1].Host.Current!.Participant;
        var entries = new List<Entry>();
        for (int range = 0; range < EntryTable.Ranges; range++)
        {
            faulty.Slice.Table.Collect(range, entries);
            foreach (var entry in entries) entry.Clock = Far;
        }
        await Assert.ThrowsAsync<OperationNotExecutedException>(() => Run(world, map.PutAsync("a1", 2L).AsTask()));
        for (int i = 0; i < 3; i++)
        {
            world.ChangeView();
            await Run(world, world.Members[i].Dht.Map<string, long>("longs").MergeAsync([new KeyValuePair<string, long>("b0", i), new("b1", i)]).AsTask());
        }
        Assert.Equal(1L, (await Run(world, map.GetAsync("a1").AsTask())).Value);
    }

    [Fact]
    public async Task What_a_member_claims_to_have_heard_moves_nobody_out_of_range()
    {
        var world = DhtWorld.Founded(4);
        world.Members[1].Host.Current!.State.Clock.Commit(ulong.MaxValue);
        for (int i = 0; i < 4; i++)
        {
            world.ChangeView();
            await Run(world, world.Members[i].Dht.Map<string, long>("longs").MergeAsync([new KeyValuePair<string, long>("b0", i), new("b1", i)]).AsTask());
        }
    }

    /// <summary>
    /// One of three replicas says at a view change that a put which all of them hold was committed, or proposed at that replica, at the end of all times. The key and
    /// the members that hold it go on, at the latest with the view that they ask for.
    /// </summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task R_what_a_member_says_of_the_time_of_a_put_moves_nobody_out_of_range(bool commit)
    {
        var world = DhtWorld.Founded(6, options: new() { ShardSize = 3, TargetSize = 6, Hash = new LastByteHash(), Member = new() { Timeout = TimeSpan.FromHours(10) } });
        var map = world.Members[1].Dht.Map<string, long>("longs");
        await Run(world, map.PutAsync("a0", 1L).AsTask());
        world.Settle();
        var put = map.PutAsync("a0", 2L).AsTask();
        world.Poke();
        world.DeliverAll(static (from, _) => from == 1);
        world.Lies = (member, bytes) =>
        {
            if (member.Index != 4) return bytes;
            var said = Contribution.Read(member.Self, bytes)!;
            var one = Assert.Single(said.Unsettled);
            said.Unsettled[0] = commit ? one with { Time = HybridClock.MaxTime } : one with { Proposed = HybridClock.MaxTime };
            var into = new System.Buffers.ArrayBufferWriter<byte>();
            said.Write(into);
            return into.WrittenSpan.ToArray();
        };
        world.ChangeView();
        world.Lies = null;
        ulong far = world.Members[1].Host.Current!.State.Clock.Physical(world.Now) + (4 * HybridClock.Jump), view = world.View!.Id;
        Assert.InRange((await Run(world, put)).Versions[0], 1UL, far);
        // The key itself stands as far ahead as it may, until the next view.
        await Assert.ThrowsAsync<OperationNotExecutedException>(() => Run(world, map.PutAsync("a0", 3L).AsTask()));
        world.RunUntil(() => world.View!.Id > view, "A view");
        foreach (var member in world.Members)
        {
            var own = member.Dht.Map<string, long>("longs");
            Assert.InRange((await Run(world, own.PutAsync([new KeyValuePair<string, long>("a0", 4), new("a1", 4)]).AsTask())).Versions[0], 1UL, far);
        }
        Assert.Equal(view + 1, world.View!.Id);
        world.Settle();
        Assert.Null(world.CompareReplicas(static (_, _, _) => { }));
    }

    /// <summary>The same in twenty views in a row, each with a put of another key: none of these lies builds on the ones before.</summary>
    [Fact]
    public async Task R_what_a_member_says_in_view_after_view_of_the_times_of_puts_is_over_with_the_next_views()
    {
        var world = DhtWorld.Founded(6, options: new() { ShardSize = 3, TargetSize = 6, Hash = new LastByteHash(), Member = new() { Timeout = TimeSpan.FromHours(10) } });
        var map = world.Members[1].Dht.Map<string, long>("longs");
        world.Lies = static (member, bytes) =>
        {
            if (member.Index != 4) return bytes;
            var said = Contribution.Read(member.Self, bytes)!;
            for (int i = 0; i < said.Unsettled.Count; i++) said.Unsettled[i] = said.Unsettled[i] with { Time = HybridClock.MaxTime };
            var into = new System.Buffers.ArrayBufferWriter<byte>();
            said.Write(into);
            return into.WrittenSpan.ToArray();
        };
        for (int i = 0; i < 20; i++)
        {
            var put = map.PutAsync($"k{i}-0", 1L).AsTask();
            world.Poke();
            world.DeliverAll(static (from, _) => from == 1);
            world.ChangeView();
            await Run(world, put);
        }
        world.Lies = null;
        for (int i = 0; i < 2; i++) world.ChangeView();
        ulong view = world.View!.Id;
        foreach (var member in world.Members)
        {
            var own = member.Dht.Map<string, long>("longs");
            await Run(world, own.PutAsync([new KeyValuePair<string, long>("k19-0", 2), new("a1", 2)]).AsTask());
        }
        Assert.Equal(view, world.View!.Id);
    }

    /// <summary>A member that lies leads the others ahead of their clocks, view after view. A member that joins meanwhile, or when that is over, stands with them.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task R_a_newcomer_stands_where_the_members_were_led(bool meanwhile)
    {
        var world = DhtWorld.Founded(4);
        world.Lies = static (member, bytes) =>
        {
            if (member.Index != 1) return bytes;
            var said = Contribution.Read(member.Self, bytes)!;
            BitConverter.TryWriteBytes(bytes.AsSpan(bytes.AsSpan().IndexOf(BitConverter.GetBytes(said.Committed))), HybridClock.MaxTime);
            return bytes;
        };
        for (int i = 0; i < 20; i++) world.ChangeView();
        if (!meanwhile) world.Lies = null;
        var joiner = world.Add();
        world.ChangeView();
        joiner.Enable(world.Options, world.Declare);
        world.ChangeView();
        world.Settle();
        world.ChangeView();
        world.Lies = null;
        ulong view = world.View!.Id;
        foreach (var member in world.Members)
            await Run(world, member.Dht.Map<string, long>("longs").PutAsync([new KeyValuePair<string, long>("b0", 1), new("b1", 2)]).AsTask());
        Assert.Equal(view, world.View!.Id);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_time_that_is_far_ahead_is_not_taken_from_a_frame(bool commit)
    {
        var world = DhtWorld.Founded(4);
        var put = world.Members[0].Dht.Map<string, long>("longs").PutAsync("a1", 1L).AsTask();
        world.Poke();
        if (commit) world.DeliverAll((from, to) => from == 0);
        int target = commit ? 1 : 0;
        var body = new byte[100];
        var frame = new BodyWriter(body);
        FrameHead.Write(ref frame, world.Members[0].Rank, new(new(0, 1), 1));
        frame.U64(Far);
        frame.U8(commit ? (byte)2 : (byte)0);
        world.Members[target].Deliver(new(commit ? DhtFrame.Commit : DhtFrame.Proposed, body[..frame.Length], world.View!.Id, world.Members[commit ? 0 : 1].Rank));
        Assert.Equal(1, world.Members[target].Node.Counters.Refused(RefusalReason.Unexpected));
        Assert.InRange((await Run(world, put)).Versions[0], 1UL, Far - 1);
    }

    [Fact]
    public async Task A_coordinator_whose_clock_has_jumped_is_told_so_and_a_view_sets_it_right()
    {
        var world = DhtWorld.Founded(4);
        var jumped = world.Members[0];
        jumped.Skew = 2 * 3_600_000_000_000;
        var map = jumped.Dht.Map<string, long>("longs");
        var error = await Assert.ThrowsAsync<OperationNotExecutedException>(() => Run(world, map.PutAsync("a1", 1L).AsTask()));
        Assert.Contains("clock", error.Message);
        await Run(world, world.Members[1].Dht.Map<string, long>("longs").PutAsync([new KeyValuePair<string, long>("b0", 1), new("b1", 1)]).AsTask());
        await Run(world, map.PutAsync([new KeyValuePair<string, long>("a0", 1), new("a1", 1)]).AsTask());
        await Run(world, world.Members[1].Dht.Map<string, long>("longs").PutAsync([new KeyValuePair<string, long>("c0", 1), new("c1", 1)]).AsTask());
    }

    /// <summary>What a member proposed or read by its wrong clock stays at that member, and has no effect on what others ask of the same keys.</summary>
    [Theory]
    [InlineData("put", "z1")]
    [InlineData("put", "a1")]
    [InlineData("read", "a1")]
    public async Task R_keys_that_a_member_used_while_its_clock_was_wrong_are_written_by_others(string what, string key)
    {
        var world = DhtWorld.Founded(4);
        var (jumped, other) = (world.Members[1], world.Members[0]);
        await Run(world, other.Dht.Map<string, long>("longs").PutAsync("a1", 1L).AsTask());
        world.Settle();
        jumped.Skew = 10 * 3_600_000_000_000;
        if (what == "put") await Assert.ThrowsAsync<OperationNotExecutedException>(() => Run(world, jumped.Dht.Map<string, long>("longs").PutAsync(key, 2L).AsTask()));
        else await Run(world, jumped.Dht.Map<string, long>("longs").GetAsync([key, "z1"]).AsTask());
        world.ViewRequested = false;
        ulong view = world.View!.Id;
        for (int i = 0; i < 2; i++)
        {
            var put = other.Dht.Map<string, long>("longs").PutAsync(key, 3L).AsTask();
            world.RunUntil(() => put.IsCompleted, "A put of the same key", steps: 1_500);
            if (i == 0 && put.IsFaulted)
            {
                Assert.IsType<OperationNotExecutedException>(put.Exception!.InnerException);
                // The member has asked for a view, which sets its clock right.
                world.RunUntil(() => world.View!.Id > view, "A view", steps: 1_500);
                continue;
            }
            Assert.InRange((await put).Versions[0], 1UL, other.Host.Current!.State.Clock.Limit(world.Now));
        }
        await Run(world, jumped.Dht.Map<string, long>("longs").PutAsync([new KeyValuePair<string, long>("a0", 4), new(key, 4)]).AsTask());
        world.Settle();
        Assert.Null(DhtWorld.Difference(world.Members[1], world.Members[3]));
        ulong soon = other.Host.Current!.State.Clock.Physical(world.Now) + (HybridClock.Jump / 3_600);
        Assert.All(world.Members, member => Assert.InRange(DhtWorld.Slice(member).Entries.Max(static e => e.Version), 1UL, soon));
    }

    /// <summary>Clocks half an hour apart: one member may take a time that another may not.</summary>
    [Fact]
    public async Task R_a_commit_that_a_member_may_not_take_yet_is_brought_by_a_view()
    {
        var world = DhtWorld.Founded(4);
        await Run(world, world.Members[0].Dht.Map<string, long>("longs").PutAsync([new KeyValuePair<string, long>("a1", 1), new("b1", 1)]).AsTask());
        world.Settle();
        foreach (int ahead in new[] { 0, 3 }) world.Members[ahead].Skew = 1_800_000_000_000;
        foreach (var member in world.Members) member.Turn(static () => { });
        world.ViewRequested = false;
        var last = world.Members[3].Host.Current!;
        ulong tooFar = world.Members[1].Host.Current!.State.Clock.Limit(world.Now) + (HybridClock.Jump / 6);
        var entries = new List<Entry>();
        for (int range = 0; range < EntryTable.Ranges; range++)
        {
            last.Participant.Slice.Table.Collect(range, entries);
            foreach (var entry in entries.Where(entry => entry.Key[^1] == '1' && entry.Key[^2] == 'a')) entry.Clock = tooFar;
        }
        var map = world.Members[0].Dht.Map<string, long>("longs");
        var put = map.PutAsync("a1", 2L).AsTask();
        await Run(world, put);
        Assert.InRange((await put).Versions[0], tooFar, ulong.MaxValue);
        await Run(world, map.PutAsync("b1", 2L).AsTask());
        world.Settle();
        Assert.Null(DhtWorld.Difference(world.Members[1], world.Members[3]));
    }

    [Theory]
    [InlineData(2095)]
    [InlineData(9999)]
    public async Task R_a_time_beyond_the_range_of_the_clock_ends_nobody(int year)
    {
        var world = DhtWorld.Founded(4, options: new() { ShardSize = 2, TargetSize = 4, Hash = new LastByteHash(), Member = new() { Timeout = TimeSpan.FromHours(10), Time = new Late(year) } });
        for (int i = 0; i < 4; i++)
        {
            await Run(world, world.Members[i].Dht.Map<string, long>("longs").MergeAsync([new KeyValuePair<string, long>("b0", i), new("b1", i)]).AsTask());
            world.ChangeView();
        }
        Assert.Equal(6L, (await Run(world, world.Members[0].Dht.Map<string, long>("longs").GetAsync("b1").AsTask())).Value);
    }

    /// <summary>Only one member's clock is wrong: from its first alignment on it stands where the others do.</summary>
    [Fact]
    public void R_a_clock_that_was_beyond_its_range_is_aligned_at_once()
    {
        const ulong Aligned = HybridClock.MaxTime / 2;
        var clock = new HybridClock(long.MaxValue);
        clock.Align(Aligned, Aligned, 0, 1_000_000_000);
        Assert.Equal(Aligned >> 12, clock.Physical(1_000_000_000) >> 12);
    }

    [Fact]
    public void R_a_time_before_all_years_is_no_time_of_the_far_future()
    {
        var world = DhtWorld.Founded(1, options: new() { ShardSize = 1, TargetSize = 1, Member = new() { Time = new Early() } });
        Assert.InRange(world.Members[0].Host.Current!.State.Clock.Physical(world.Now), 0UL, 1UL << 30);
    }

    private sealed class Early : TimeProvider
    {
        public override DateTimeOffset GetUtcNow() => DateTimeOffset.MinValue;
    }

    private sealed class Late(int year) : TimeProvider
    {
        public override DateTimeOffset GetUtcNow() => new(year, 12, 31, 0, 0, 0, TimeSpan.Zero);
    }

    /// <summary>A slice may have many millions of keys, so no turn goes through them all.</summary>
    [Fact]
    public async Task R_clocks_of_many_keys_are_set_right_in_turns_of_a_bounded_size_and_of_those_that_are_used_at_once()
    {
        const int Keys = 100_000;
        var world = DhtWorld.Founded(4);
        var jumped = world.Members[1];
        var (clock, table) = (jumped.Host.Current!.State.Clock, jumped.Host.Current.Participant.Slice.Table);
        var map = world.Members[0].Dht.Map<string, long>("longs");
        for (int i = 0; i < 20; i++) await Run(world, map.PutAsync($"k{i}-1", 1L).AsTask());
        world.Settle();
        byte[] key = new byte[16];
        for (int i = 0; i < Keys; i++)
        {
            System.Buffers.Binary.BinaryPrimitives.WriteInt32LittleEndian(key, i + 1);
            // With a value: absent entries would go when they are met.
            table.FindOrAdd(key, StableHash.Of(key), 0).Value = key;
        }
        ForEach(entry => entry.Clock = Far);
        clock.Observe(Far);
        world.ChangeView();
        Assert.InRange(Wrong(), Keys / 2, Keys + 20);
        for (int i = 0; i < 20; i++)
        {
            int wrong = Wrong();
            var put = Run(world, map.PutAsync($"k{i}-1", 2L).AsTask());
            Assert.InRange((await put).Versions[0], 1UL, world.Members[0].Host.Current!.State.Clock.Limit(world.Now));
            Assert.InRange(Wrong(), 0, wrong);
        }
        world.RunUntil(() => !table.IsLimiting, "The end of it");
        Assert.Equal(0, Wrong());
        for (int i = 0; i < 20; i++) await Run(world, map.PutAsync($"k{i}-1", 3L).AsTask());
        ForEach(entry => Assert.InRange(entry.Clock, entry.Version, Far - 1));

        int Wrong()
        {
            int count = 0;
            ForEach(entry => count += entry.Clock == Far ? 1 : 0);
            return count;
        }

        void ForEach(Action<Entry> each)
        {
            var entries = new List<Entry>();
            for (int range = 0; range < EntryTable.Ranges; range++)
            {
                table.Collect(range, entries);
                entries.ForEach(each);
            }
        }
    }

    [Fact]
    public async Task A_newcomer_with_another_clock_takes_that_of_the_members()
    {
        var world = DhtWorld.Founded(3);
        var joiner = world.Add();
        joiner.Skew = 1_000 * 3_600_000_000_000;
        world.ChangeView();
        joiner.Enable(world.Options, world.Declare);
        world.ChangeView();
        world.Settle();
        for (int i = 0; i < 4; i++) await Run(world, world.Members[i].Dht.Map<string, long>("longs").MergeAsync([new KeyValuePair<string, long>("b0", i), new("b1", i)]).AsTask());
    }

    [Fact]
    public async Task A_member_ends_when_nothing_of_a_view_change_can_be_read()
    {
        var world = DhtWorld.Founded(4);
        var put = world.Members[0].Dht.Map<string, long>("longs").PutAsync("a1", 1L).AsTask();
        var member = world.Members[0];
        world.Poke();
        _ = member.Contribution();
        View next = world.View!;
        member.Turn(() => member.Host.OnInstalled(next, [.. world.Members.Select(m => new LayerContribution(m.Self, new byte[] { 1, 2, 3 }))]));
        Assert.True(put.IsCompleted && member.Dht.Completion.IsCompleted);
        await Assert.ThrowsAsync<OutcomeUnknownException>(() => put);
    }

    private static Task<T> Run<T>(DhtWorld world, Task<T> call)
    {
        world.RunUntil(() => call.IsCompleted, "The call", steps: 500);
        return call;
    }
}
