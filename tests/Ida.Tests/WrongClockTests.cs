using GroupCore.Groups;
using GroupCore.Membership;
using GroupCore.Runtime;
using Ida.Ordering;
using Ida.Wire;

namespace Ida.Tests;

/// <summary>A clock that is wrong costs its member's calls, with an error that says so, and nothing of the others.</summary>
public sealed class WrongClockTests
{
    private const ulong Far = (1UL << 62) - 1;

    [Fact]
    public async Task A_key_whose_clock_is_out_of_range_at_one_member_leaves_the_others_as_they_are()
    {
        var world = DhtWorld.Founded(4);
        var map = world.Members[0].Dht.Map<string, long>("m");
        await Run(world, map.OrderedPutAsync("a1", 1L).AsTask());
        world.Settle();
        var faulty = world.Members[1].Host.Current!.Participant;
        var entries = new List<Entry>();
        for (int range = 0; range < EntryTable.Ranges; range++)
        {
            faulty.Table.Collect(range, entries);
            foreach (var entry in entries) entry.Clock = Far;
        }
        await Assert.ThrowsAsync<OperationNotExecutedException>(() => Run(world, map.OrderedPutAsync("a1", 2L).AsTask()));
        for (int i = 0; i < 3; i++)
        {
            world.ChangeView();
            await Run(world, world.Members[i].Dht.Map<string, long>("m").OrderedPutAsync([new KeyValuePair<string, long>("b0", i), new("b1", i)]).AsTask());
        }
        Assert.Equal(1L, (await Run(world, map.OrderedGetAsync("a1").AsTask()))!.Value.Value);
    }

    [Fact]
    public async Task What_a_member_claims_to_have_heard_moves_nobody_out_of_range()
    {
        var world = DhtWorld.Founded(4);
        world.Members[1].Host.Current!.State.Clock.Observe(ulong.MaxValue);
        for (int i = 0; i < 4; i++)
        {
            world.ChangeView();
            await Run(world, world.Members[i].Dht.Map<string, long>("m").OrderedPutAsync([new KeyValuePair<string, long>("b0", i), new("b1", i)]).AsTask());
        }
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_time_that_is_far_ahead_is_not_taken_from_a_frame(bool commit)
    {
        var world = DhtWorld.Founded(4);
        var put = world.Members[0].Dht.Map<string, long>("m").OrderedPutAsync("a1", 1L).AsTask();
        world.Poke();
        if (commit) world.DeliverAll((from, to) => from == 0);
        int target = commit ? 1 : 0;
        var body = new byte[100];
        var frame = new BodyWriter(body);
        frame.U16((ushort)world.Members[0].Rank);
        frame.Var(1);
        frame.Var(1 << 1);
        frame.U64(Far);
        frame.U8(commit ? (byte)2 : (byte)0);
        world.Members[target].Deliver(new(commit ? DhtFrame.Commit : DhtFrame.Proposed, body[..frame.Length], world.View!.Id, world.Members[commit ? 0 : 1].Rank));
        Assert.Equal(1, world.Members[target].Node.Counters.Refused(RefusalReason.Malformed));
        Assert.InRange((await Run(world, put)).Versions[0], 1UL, Far - 1);
    }

    [Fact]
    public async Task A_coordinator_whose_clock_has_jumped_is_told_so_until_the_next_view_sets_it_right()
    {
        var world = DhtWorld.Founded(4);
        var jumped = world.Members[0];
        jumped.Skew = 2 * 3_600_000_000_000;
        var map = jumped.Dht.Map<string, long>("m");
        var error = await Assert.ThrowsAsync<OperationNotExecutedException>(() => Run(world, map.OrderedPutAsync("a1", 1L).AsTask()));
        Assert.Contains("clock", error.Message);
        await Run(world, world.Members[1].Dht.Map<string, long>("m").OrderedPutAsync([new KeyValuePair<string, long>("b0", 1), new("b1", 1)]).AsTask());
        // It proposes the wrong time itself.
        await Assert.ThrowsAsync<OperationNotExecutedException>(() => Run(world, map.OrderedPutAsync("a0", 1L).AsTask()));
        world.ChangeView();
        await Run(world, map.OrderedPutAsync([new KeyValuePair<string, long>("a0", 1), new("a1", 1)]).AsTask());
        await Run(world, world.Members[1].Dht.Map<string, long>("m").OrderedPutAsync([new KeyValuePair<string, long>("c0", 1), new("c1", 1)]).AsTask());
    }

    [Fact]
    public async Task A_newcomer_with_another_clock_takes_that_of_the_members()
    {
        var world = DhtWorld.Founded(3);
        var joiner = world.Add();
        joiner.Skew = 1_000 * 3_600_000_000_000;
        world.ChangeView();
        joiner.Enable(world.Options, world.Register);
        world.ChangeView();
        world.Settle();
        for (int i = 0; i < 4; i++) await Run(world, world.Members[i].Dht.Map<string, long>("m").OrderedPutAsync([new KeyValuePair<string, long>("b0", i), new("b1", i)]).AsTask());
    }

    [Fact]
    public async Task A_member_ends_when_nothing_of_a_boundary_can_be_read()
    {
        var world = DhtWorld.Founded(4);
        var put = world.Members[0].Dht.Map<string, long>("m").OrderedPutAsync("a1", 1L).AsTask();
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
