using GroupCore.Groups;
using GroupCore.Membership;
using GroupCore.Runtime;
using Ida.Placement;
using Ida.ViewChange;

namespace Ida.Tests;

public sealed class SlotAssignmentTests
{
    [Fact]
    public void I9_7_of_20_members_in_5_shards_the_loss_of_slot_5_moves_at_most_one_member_and_no_data()
    {
        var slots = Slots(20);
        slots[5] = SlotState.Hole;
        var before = slots.ToList();
        SlotAssignment.Assign(slots, 5, []);
        Assert.InRange(Moved(before, slots).Count, 0, 1);
        Assert.Equal(0, Transfers(before, slots, 5));
        Assert.Equal(new SlotState(Id(15), true), slots[5]);
    }

    [Fact]
    public void A_shard_two_short_gets_a_member_of_another_by_one_transfer()
    {
        var slots = Slots(8);
        slots[1] = slots[3] = slots[5] = SlotState.Hole;
        var before = slots.ToList();
        SlotAssignment.Assign(slots, 2, []);
        Assert.Equal(1, Transfers(before, slots, 2));
        Assert.True(slots.Where((s, i) => i % 2 == 0 && s.Taken && s.Initialised).Any());
    }

    [Fact]
    public void Newcomers_fill_the_poorest_shards_and_then_append()
    {
        var slots = Slots(6);
        slots[1] = slots[3] = slots[2] = SlotState.Hole;
        SlotAssignment.Assign(slots, 2, [Id(100), Id(101), Id(102), Id(103)]);
        Assert.Equal([Id(100), Id(101), Id(102), Id(103)], new[] { slots[1].Member, slots[2].Member, slots[3].Member, slots[6].Member });
        Assert.DoesNotContain(slots, s => !s.Taken);
    }

    [Fact]
    public void Assign_never_loses_an_initialised_shard_keeps_every_survivor_once_and_moves_little()
    {
        var random = new Prng(7);
        for (int run = 0; run < 20_000; run++)
        {
            int shards = 1 + random.Next(6), count = shards + random.Next(20);
            var slots = new List<SlotState>();
            for (int i = 0; i < count; i++)
                slots.Add(random.Next(4) == 0 ? SlotState.Hole : new(Id((ulong)i + 1), random.Next(3) != 0));
            var newcomers = Enumerable.Range(0, random.Next(4)).Select(i => Id(1000 + (ulong)i)).ToList();
            var before = slots.ToList();
            var initialisedBefore = Initialised(before, shards);
            int holes = before.Count(s => !s.Taken);
            SlotAssignment.Assign(slots, shards, newcomers);
            Assert.Equal(before.Where(s => s.Taken).Select(s => s.Member).Concat(newcomers).Order(), slots.Where(s => s.Taken).Select(s => s.Member).Order());
            for (int shard = 0; shard < shards; shard++) Assert.True(!initialisedBefore[shard] || Initialised(slots, shards)[shard]);
            Assert.True(Moved(before, slots).Count <= holes * 6, $"{Moved(before, slots).Count} moves for {holes} holes.");
            Assert.True(slots.Count == 0 || slots[^1].Taken);
            for (int i = 0; i < slots.Count; i++)
                if (i < before.Count && slots[i].Taken && slots[i].Member == before[i].Member) Assert.Equal(before[i].Initialised, slots[i].Initialised);
            if (holes == 0) Assert.Empty(Moved(before, slots));
        }
    }

    [Fact]
    public void A_shard_with_leavers_keeps_an_initialised_member_whenever_there_are_newcomers_to_take_over()
    {
        var random = new Prng(8);
        int kept = 0, free = 0;
        for (int run = 0; run < 20_000; run++)
        {
            int shards = 1 + random.Next(4), count = shards + random.Next(10);
            var slots = new List<SlotState>();
            for (int i = 0; i < count; i++)
                slots.Add(random.Next(4) == 0 ? SlotState.Hole : new(Id((ulong)i + 1), random.Next(3) != 0, Leaving: random.Next(3) == 0));
            var newcomers = Enumerable.Range(0, shards).Select(i => Id(1000 + (ulong)i)).ToList();
            var before = slots.ToList();
            var initialisedBefore = Initialised(before, shards);
            SlotAssignment.Assign(slots, shards, newcomers);
            Assert.Equal(before.Where(s => s is { Taken: true, Leaving: false }).Select(s => s.Member).Concat(newcomers).Order(),
                slots.Where(s => s is { Taken: true, Leaving: false }).Select(s => s.Member).Order());
            for (int shard = 0; shard < shards; shard++)
            {
                var members = slots.Where((s, i) => i % shards == shard && s.Taken).ToList();
                Assert.True(!initialisedBefore[shard] || members.Exists(s => s.Initialised));
                bool stays = members.Exists(s => s is { Initialised: true, Leaving: false });
                Assert.All(members.Where(s => s.Leaving), s => Assert.True(s.Initialised && !stays));
                kept += members.Count(s => s.Leaving);
            }
            free += before.Count(s => s.Leaving && !slots.Contains(s));
        }
        Assert.True(kept > 1000 && free > 1000, $"{kept} leavers kept, {free} let go");
    }

    /// <summary>All members assign slots within one turn, and what one of them says must not make that long.</summary>
    [Fact]
    public void R_a_member_that_says_it_has_the_last_slot_makes_nobody_look_long()
    {
        const int Members = 20, Shards = 5;
        var slots = Slots(Members);
        slots[3] = SlotState.Hole;
        while (slots.Count < ushort.MaxValue) slots.Add(SlotState.Hole);
        slots.Add(new(Id(3), true));
        int all = slots.Count;
        long looks = SlotAssignment.Assign(slots, Shards, [Id(100)]);
        Assert.InRange(looks, 1, 10 * all);
        Assert.Equal(Members + 1, slots.Count);
        Assert.DoesNotContain(slots, slot => !slot.Taken);
    }

    /// <summary>The same with a member that says that there are very many shards: with more shards than members, some are lost in any case.</summary>
    [Fact]
    public void R_shards_that_nobody_can_hold_are_lost()
    {
        var world = DhtWorld.Founded(4);
        var contributions = world.Members.ConvertAll(m => new LayerContribution(m.Self, m.Contribution()));
        var good = Contribution.Read(world.Members[3].Self, contributions[3].Bytes.Span)!;
        var lie = new Contribution
        {
            Config = good.Config with { ShardSize = 1, TargetSize = ushort.MaxValue }, Maps = good.Maps, Enabled = true, Session = good.Session, Incarnation = good.Incarnation, Admitted = 1, Slot = 3, Initialised = true,
            Physical = good.Physical, Committed = good.Committed,
        };
        var bytes = new System.Buffers.ArrayBufferWriter<byte>();
        lie.Write(bytes);
        contributions[3] = new(world.Members[3].Self, bytes.WrittenMemory);
        // A new member that agrees with the liar gets no slot any more.
        var comer = world.Add();
        world.ChangeView();
        bytes = new();
        new Contribution { Config = lie.Config, Maps = lie.Maps, Enabled = true, Session = 1, Physical = good.Physical, Committed = good.Committed }.Write(bytes);
        contributions.Add(new(comer.Self, bytes.WrittenMemory));
        var decision = Decision.Decide(contributions, world.View!);
        Assert.Equal((DecisionKind.Depopulated, 4), (decision.Kind, decision.DepopulatedShard));
        Assert.Equal(4, decision.Slots.Count);
    }

    private static bool[] Initialised(List<SlotState> slots, int shards)
    {
        var initialised = new bool[shards];
        for (int i = 0; i < slots.Count; i++) initialised[i % shards] |= slots[i].Taken && slots[i].Initialised;
        return initialised;
    }

    private static List<ProcessId> Moved(List<SlotState> before, List<SlotState> after) =>
        [.. before.Select((s, i) => (s, i)).Where(p => p.s.Taken && (p.i >= after.Count || after[p.i].Member != p.s.Member)).Select(p => p.s.Member)];

    private static int Transfers(List<SlotState> before, List<SlotState> after, int shards) =>
        before.Select((s, i) => (s, i)).Count(p => p.s.Taken && after.FindIndex(a => a.Taken && a.Member == p.s.Member) % shards != p.i % shards);

    private static List<SlotState> Slots(int count) => [.. Enumerable.Range(0, count).Select(i => new SlotState(Id((ulong)i), true))];

    private static ProcessId Id(ulong n) => new(n, n);
}
