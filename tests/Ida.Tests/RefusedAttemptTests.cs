using Ida.Ordering;
using Ida.Wire;

namespace Ida.Tests;

/// <summary>A participant that refuses an attempt at a put says nothing of another attempt at it: no caller is told "not executed" of a put that was executed.</summary>
public sealed class RefusedAttemptTests
{
    private const int Newcomer = 4;

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_put_that_another_member_has_committed_is_not_said_to_be_refused(bool clock)
    {
        var world = DhtWorld.Founded(4, options: Options());
        var put = world.Members[0].Dht.Map<string, long>("longs").MergeAsync([new KeyValuePair<string, long>("a0", 1), new("a1", 1)]).AsTask();
        // Member 1 gets its part from another member, and is through with it when the proposal of the coordinator comes.
        for (int i = 0; i < 200 && (i == 0 || world.Members.Exists(member => member.Host.Current!.Participant.Records.Count > 0)); i++)
        {
            world.Poke();
            world.DeliverAll((from, to) => (from, to) is not (0, 1));
            world.Advance(TimeSpan.FromMilliseconds(20));
        }
        Assert.Equal((false, 0), (put.IsCompleted, world.Members.Sum(member => member.Host.Current!.Participant.Records.Count)));
        Assert.True(world.Waiting(0, 1) > 0, world.Describe());
        Task other = Task.CompletedTask;
        if (clock) SetFar(world, 2);
        else other = Crowd(world, through: 2);
        world.DeliverAll((from, to) => (from, to) is (0, 1) or (1, 0));
        // The next attempt.
        world.Advance(TimeSpan.FromMilliseconds(5));
        Assert.False(put.IsCompleted);
        world.RunUntil(() => put.IsCompleted && other.IsCompleted, "The puts");
        Assert.Equal(2, (await put).Versions.Count);
        await AssertOnceAsync(world, clock ? 1 : 2);
    }

    /// <summary>There the merge waits for the value that the key had at the view change, and its record has left the table.</summary>
    [Fact]
    public async Task A_put_that_a_newcomer_has_executed_is_not_said_to_be_refused()
    {
        var world = DhtWorld.Founded(4, options: Options());
        var late = world.Add();
        world.ChangeView();
        late.Enable(world.Options, DhtWorld.Maps);
        // Its state does not arrive.
        world.Swallows = (_, to, type) => to == Newcomer && (type == DhtFrame.Chunk || type == DhtFrame.StateEnd || type == DhtFrame.Fetched);
        world.ChangeView();
        world.ViewRequested = false;
        var newcomer = late.Host.Current!;
        Assert.Equal((0, false), (newcomer.State.Shard, newcomer.State.Initialised));
        var put = world.Members[1].Dht.Map<string, long>("longs").MergePairAsync("a0", 1L).AsTask();
        for (int i = 0; i < 200 && (i == 0 || world.Members.Exists(member => member.Host.Current!.Participant.Records.Count > 0)); i++)
        {
            world.Poke();
            world.DeliverAll((from, to) => (from, to) is not (1, Newcomer));
            world.Advance(TimeSpan.FromMilliseconds(20));
        }
        Assert.Equal((false, 0), (put.IsCompleted, world.Members.Sum(member => member.Host.Current!.Participant.Records.Count)));
        Assert.True(world.Waiting(1, Newcomer) > 0, world.Describe());
        var other = Crowd(world, through: 3);
        world.DeliverAll((from, to) => (from, to) is (1, Newcomer) or (Newcomer, 1));
        Assert.False(put.IsCompleted);
        world.DeliverAll((from, to) => from == 1 || to == 1);
        world.RunUntil(() => put.IsCompleted && other.IsCompleted, "The puts");
        Assert.Single((await put).Versions);
        await AssertOnceAsync(world, 2);
    }

    /// <summary>Nothing more happens in this view that would make room, or bring the clocks together.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_put_that_was_executed_in_this_view_is_done_for_a_retry_that_replicas_would_refuse(bool clock)
    {
        var world = DhtWorld.Founded(4, options: Options() with { Member = Options().Member with { MaxOutcomeBytes = 4_096 } });
        var map = world.Members[0].Dht.Map<string, long>("longs");
        // While a member's oldest put is open, nothing that is remembered of the member goes.
        var stuck = map.PutAsync("a1", 1L).AsTask();
        world.Poke();
        PutResult? executed = null;
        for (bool refused = false; !refused;)
        {
            var put = map.MergePairAsync("a0", 1L).AsTask();
            for (int i = 0; i < 20 && !put.IsCompleted; i++)
            {
                world.Poke();
                world.DeliverAll((from, to) => from is 0 or 2 && to is 0 or 2);
            }
            refused = !put.IsCompletedSuccessfully;
            if (refused) Assert.IsType<OverloadedException>(put.Exception!.InnerException);
            else executed = await put;
            refused |= clock;
        }
        world.RunUntil(() => stuck.IsCompleted, "The put that was stuck");
        world.Settle();
        Assert.Equal(0, world.Members.Sum(member => member.Host.Current!.Participant.Records.Count));
        if (clock)
        {
            SetFar(world, 0);
            SetFar(world, 2);
        }
        var view = world.View!.Id;
        var retry = world.Members[1].Dht.Map<string, long>("longs").MergePairAsync("a0", 1L, new() { Operation = executed!.Value.Operation }).AsTask();
        world.RunUntil(() => retry.IsCompleted, "The retry");
        Assert.Equal(executed.Value.Versions, (await retry).Versions);
        Assert.Equal(view, world.View!.Id);
    }

    /// <summary>One replica refuses a put, and is lost. The other still holds it, as do all that are left of its participants, so it is committed.</summary>
    [Fact]
    public async Task A_caller_hears_that_nothing_was_executed_only_when_every_replica_has_refused()
    {
        var world = DhtWorld.Founded(4, options: Options());
        var other = Crowd(world, through: 3, at: 0);
        var put = world.Members[1].Dht.Map<string, long>("longs").MergePairAsync("a0", 1L).AsTask();
        world.Poke();
        world.DeliverAll(static (from, to) => (from, to) is (1, 0) or (1, 2));
        world.DeliverAll(static (_, to) => to == 1);
        Assert.False(put.IsCompleted);
        world.Crash(world.Members[0], loseAll: true);
        world.ChangeView();
        world.RunUntil(() => put.IsCompleted && other.IsCompleted, "The puts");
        Assert.Single((await put).Versions);
        await AssertOnceAsync(world, 2);
    }

    /// <summary>The put that the retry repeats may be executed. A call that repeats none is told that nothing was executed.</summary>
    [Theory]
    [InlineData("links")]
    [InlineData("queue")]
    [InlineData("clock")]
    public async Task A_retry_that_is_refused_is_not_told_that_nothing_was_executed(string by)
    {
        var world = DhtWorld.Founded(4, options: Options());
        world.GivenFrom = 0;
        var map = world.Members[1].Dht.Map<string, long>("longs");
        await world.EndAsync(map.PutAsync("a0", 1L));
        world.Settle();
        var id = PooledOperationTests.Unknown(world, world.Members[3].Dht.Map<string, long>("longs").PutAsync("a0", 2L, new() { Timeout = TimeSpan.FromMilliseconds(5) }).AsTask());
        world.Crash(world.Members[3], loseAll: true);
        if (by == "links") ((NoLinks)world.Members[1].Inner.Links).IsFull = true;
        else if (by == "queue") _ = Crowd(world, through: 2);
        else foreach (int replica in (int[])[0, 2]) SetFar(world, replica);
        var plain = map.PutAsync("a0", 3L).AsTask();
        var retry = map.PutAsync("a0", 2L, new() { Operation = id }).AsTask();
        world.Poke();
        world.DeliverAll(static (from, to) => from == 1 || to == 1);
        Assert.EndsWith(" Nothing was executed.", plain.Exception!.InnerException!.Message, StringComparison.Ordinal);
        var told = Assert.IsType<OutcomeUnknownException>(retry.Exception!.InnerException);
        Assert.IsType(plain.Exception.InnerException.GetType(), told.InnerException);
        Assert.StartsWith("The retry was not executed: ", told.Message, StringComparison.Ordinal);
        Assert.DoesNotContain("nothing was executed", told.ToString(), StringComparison.OrdinalIgnoreCase);
    }

    /// <summary>The attempts at one put pile up at a replica. One more is to come again later: "not executed" would be wrong, since an earlier attempt may be executed.</summary>
    [Fact]
    public async Task A_replica_holds_so_many_attempts_of_a_put_and_no_more()
    {
        var world = DhtWorld.Founded(4);
        var (target, issuer) = (world.Members[0], world.Members[1]);
        byte[]? proposed = null;
        RejectReason? refused = null;
        world.AtSend = (from, to, frame) =>
        {
            if (frame.Type == DhtFrame.Propose && to == target) proposed ??= frame.Body;
            if (frame.Type == DhtFrame.Rejected && from == target) refused = (RejectReason)frame.Body[^1];
        };
        var put = issuer.Dht.Map<string, long>("longs").MergePairAsync("a0", 1L).AsTask();
        issuer.Turn(static () => { });
        // The attempt follows rank and number; no hash follows it.
        const int Attempt = 3;
        Assert.Equal(1 << 1, proposed![Attempt]);
        for (int attempt = 1; attempt <= RecordTable.MostAttempts + 1; attempt++)
        {
            Assert.Null(refused);
            byte[] frame = [.. proposed];
            frame[Attempt] = (byte)(attempt << 1);
            target.Deliver(new(DhtFrame.Propose, frame, world.View!.Id, issuer.Rank));
        }
        Assert.Equal((RecordTable.MostAttempts, (RejectReason?)RejectReason.NotInitialised), (target.Host.Current!.Participant.Records.Count, refused));
        world.RunUntil(() => put.IsCompleted, "The put");
        Assert.Single((await put).Versions);
        await AssertOnceAsync(world, 1);
    }

    /// <summary>Another put on the same key, beside which no further one finds room; at both replicas, or at one.</summary>
    private static Task<PutResult> Crowd(DhtWorld world, int through, int at = -1)
    {
        var put = world.Members[through].Dht.Map<string, long>("longs").MergePairAsync("a0", 1L).AsTask();
        world.Poke();
        world.DeliverAll((from, to) => from == through && to is 0 or 2 && (at < 0 || to == at));
        Assert.False(put.IsCompleted);
        return put;
    }

    private static void SetFar(DhtWorld world, int member)
    {
        var entries = new List<Entry>();
        for (int range = 0; range < EntryTable.Ranges; range++)
        {
            world.Members[member].Host.Current!.Participant.Slice.Table.Collect(range, entries);
            foreach (var entry in entries) entry.Clock = (1UL << 62) - 1;
        }
    }

    private static async Task AssertOnceAsync(DhtWorld world, long sum)
    {
        world.Swallows = null;
        world.ChangeView();
        var read = world.Members[3].Dht.Map<string, long>("longs").GetAsync("a0").AsTask();
        world.RunUntil(() => read.IsCompleted, "The read");
        Assert.Equal(sum, (await read).Value);
    }

    private static DhtOptions Options() => new()
    {
        ShardSize = 2, TargetSize = 4, Hash = new LastByteHash(),
        Member = new()
        {
            Timeout = TimeSpan.FromHours(10), TakeoverAfter = TimeSpan.FromMilliseconds(20), MaxQueuePerKey = 1,
        },
    };
}
