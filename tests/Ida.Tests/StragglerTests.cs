using Ida.Ordering;
using Ida.Wire;

namespace Ida.Tests;

/// <summary>Frames of an operation that come when it is over, and attempts that only repeat an executed one, keep nobody waiting and tell nothing wrong.</summary>
public sealed class StragglerTests
{
    private const int Newcomer = 4;

    /// <summary>Merges leave the table of a newcomer before they are applied there.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_proposal_that_is_forwarded_to_a_newcomer_where_its_put_is_over_blocks_no_key(bool merges)
    {
        var world = Joined();
        Task<PutResult> Put(int member, long value)
        {
            var map = world.Members[member].Dht.Map<string, long>("longs");
            return merges ? map.MergePairAsync("a0", value).AsTask() : map.PutAsync("a0", value).AsTask();
        }
        var put = Put(1, 1);
        world.Poke();
        world.DeliverAll((from, to) => from == 1 && to != Newcomer);
        // Member 0 takes over, is told that the newcomer does not hold the put, and has member 2 hand it on.
        bool asked = false;
        world.Swallows = (from, to, type) =>
        {
            asked |= (from, to, type) == (0, Newcomer, DhtFrame.Recover);
            return false;
        };
        for (int i = 0; i < 100 && !asked; i++) world.Advance(TimeSpan.FromMilliseconds(20));
        Assert.True(asked, world.Describe());
        world.DeliverUntil(0, Newcomer, DhtFrame.Recover);
        world.DeliverAll((from, to) => (from, to) is (Newcomer, 0) or (0, 2) or (2, 0));
        // Meanwhile the newcomer gets the proposal from the coordinator, and the put passes through its whole life there.
        for (int i = 0; i < 10; i++)
        {
            world.DeliverAll((from, to) => from == 1 || to == 1);
            world.Advance(TimeSpan.FromMilliseconds(5));
        }
        var newcomer = world.Members[Newcomer].Host.Current!;
        Assert.True(put.IsCompletedSuccessfully);
        Assert.Equal((0, false), (newcomer.Participant.Records.Count, newcomer.State.Initialised));
        world.DeliverUntil(2, Newcomer, DhtFrame.Forward);
        Assert.Equal(0, newcomer.Participant.Records.Count);
        // Another put goes through there without the state.
        var next = Put(3, 2);
        world.Poke();
        world.DeliverAll((from, to) => (from, to) is not (0, Newcomer));
        Assert.Equal((true, false), (next.IsCompletedSuccessfully, newcomer.State.Initialised));
        Assert.Single((await next).Versions);
        world.Settle();
        Assert.Equal(DhtWorld.Slice(world.Members[0]).Digest, DhtWorld.Slice(world.Members[Newcomer]).Digest);
    }

    [Fact]
    public void What_a_newcomer_has_proposed_stays_when_its_state_has_come()
    {
        var world = Joined();
        var map = world.Members[1].Dht.Map<string, long>("longs");
        var put = map.PutAsync("a0", 1L).AsTask();
        var retry = world.Members[3].Dht.Map<string, long>("longs").PutAsync("a0", 1L, new() { Operation = new OperationId(world.Members[1].Host.Current!.State.Session, 1) }).AsTask();
        world.Poke();
        world.DeliverAll((from, to) => from == 1);
        world.DeliverAll((from, to) => from == 3);
        world.DeliverAll((from, to) => from == 1 || to == 1);
        Assert.True(put.IsCompletedSuccessfully);
        // Replicas forget the outcome, and then the newcomer gets its state; the retry's attempt has no time yet.
        var next = map.PutAsync("b0", 2L).AsTask();
        world.Poke();
        world.DeliverAll((from, to) => from == 1 || to == 1);
        Assert.True(next.IsCompletedSuccessfully);
        var newcomer = world.Members[Newcomer].Host.Current!;
        for (int i = 0; i < 15 && !newcomer.State.Initialised; i++)
        {
            world.DeliverAll((from, to) => (from, to) is (0, Newcomer) or (Newcomer, 0));
            world.Advance(TimeSpan.FromMilliseconds(5));
        }
        Assert.True(newcomer.State.Initialised);
        world.RunUntil(() => retry.IsCompleted, "The retry", steps: 2000);
        Assert.IsType<OutcomeForgottenException>(retry.Exception!.InnerException);
        world.Settle();
    }

    [Fact]
    public async Task A_retry_is_told_no_version_that_was_computed_ahead_for_another_time()
    {
        var world = DhtWorld.Founded(6);
        world.Members[2].Skew = 300_000_000;
        var ahead = world.Members[2].Dht.Map<string, long>("longs").GetAsync(["a0", "b0"]).AsTask();
        world.Poke();
        Assert.True(ahead.IsCompletedSuccessfully);
        Task<PutResult> Put(int member, string key, long value, OperationId? operation = null, CancellationToken token = default)
        {
            var put = world.Members[member].Dht.Map<string, long>("longs").PutAsync(key, value, new() { Operation = operation }, token).AsTask();
            world.Poke();
            return put;
        }
        using var cancellation = new CancellationTokenSource();
        var unknown = Put(1, "a0", 1, token: cancellation.Token);
        await cancellation.CancelAsync();
        world.Poke();
        var id = Assert.IsType<OutcomeUnknownException>(unknown.Exception!.InnerException).Operation;
        // At two of three replicas the retry comes before the put, and they compute at once what it does; at the replica with the late times it comes after the put.
        var retry = Put(3, "a0", 1, id);
        world.DeliverAll((from, to) => (from, to) is (3, 0) or (3, 4));
        world.DeliverAll((from, to) => from == 1);
        world.DeliverAll((from, to) => to == 1);
        world.DeliverAll((from, to) => from == 1);
        // Another put stands between the two.
        var between = Put(5, "a0", 2);
        world.DeliverAll((from, to) => from == 5);
        world.DeliverAll((from, to) => (from, to) is (3, 2));
        world.DeliverAll((from, to) => to == 3);
        world.DeliverAll((from, to) => from == 3);
        world.DeliverAll((from, to) => to == 1);
        world.DeliverAll((from, to) => from == 1);
        // Replicas forget the outcome before the retry has its turn.
        var next = Put(1, "c0", 3);
        world.DeliverAll((from, to) => from == 1);
        Assert.False(retry.IsCompleted || between.IsCompleted);
        world.RunUntil(() => retry.IsCompleted && between.IsCompleted && next.IsCompleted, "All");
        var told = Put(1, "a0", 1, id);
        world.RunUntil(() => told.IsCompleted, "A retry at the member that issued it");
        Assert.Equal((await told).Versions, (await retry).Versions);
    }

    /// <summary>
    /// Two members repeat one put, so their attempt is the same. One of them commits it. A replica that is through with it, and remembers only that it refuses all attempts that
    /// are as old, refuses it to the other member.
    /// </summary>
    [Fact]
    public async Task An_attempt_that_another_member_has_committed_is_not_said_to_be_aborted()
    {
        var world = DhtWorld.Founded(6);
        Task<PutResult> Put(int member, OperationId? operation = null, CancellationToken token = default)
        {
            var put = world.Members[member].Dht.Map<string, long>("longs").PutAsync("a0", 1L, new() { Operation = operation }, token).AsTask();
            world.Poke();
            return put;
        }
        using var cancellation = new CancellationTokenSource();
        var unknown = Put(1, token: cancellation.Token);
        await cancellation.CancelAsync();
        world.Poke();
        var id = Assert.IsType<OutcomeUnknownException>(unknown.Exception!.InnerException).Operation;
        world.DeliverAll();
        var first = Put(3, id);
        world.DeliverAll();
        Assert.True(first.IsCompletedSuccessfully);
        for (int i = 0; i < 10; i++)
        {
            world.Advance(TimeSpan.FromMilliseconds(5));
            world.DeliverAll((from, to) => from == 1 || to == 1 || to == 3 || (from, to) is (3, 0));
        }
        Assert.Equal([0, 1, 1], new[] { 0, 2, 4 }.Select(member => world.Members[member].Host.Current!.Participant.Records.Count));
        int acknowledged = 0;
        world.Swallows = (_, _, type) =>
        {
            acknowledged += type == DhtFrame.Aborted ? 1 : 0;
            return false;
        };
        var held = world.Members[2].Host.Current!.Participant.Records.Oldest!.Key;
        var body = new byte[64];
        var abort = new BodyWriter(body);
        FrameHead.Write(ref abort, world.Members[1].Rank, held);
        abort.U8(1);
        world.Members[2].Deliver(new(DhtFrame.Abort, body[..abort.Length], world.View!.Id, world.Members[4].Rank));
        Assert.Equal((0, 1), (acknowledged, world.Members[2].Host.Current!.Participant.Records.Count));
        // A member that has forgotten the attempt refuses it; the next attempt only repeats the put.
        var second = Put(5, id);
        world.RunUntil(() => second.IsCompleted, "The second retry");
        Assert.Equal((await first).Versions, (await second).Versions);
    }

    /// <summary>The link from the coordinator is slow, and others know that the put is stable before they have told what they proposed.</summary>
    [Fact]
    public async Task R_a_takeover_that_hears_of_stability_before_the_commit_goes_on()
    {
        var world = DhtWorld.Founded(6);
        var put = world.Members[1].Dht.Map<string, long>("longs").PutAsync("a0", 1L).AsTask();
        world.Poke();
        world.DeliverAll((from, to) => from == 1);
        world.DeliverAll((from, to) => (from, to) is not (1, 2));
        Assert.Single((await put).Versions);
        var waits = world.Members[2].Host.Current!.Participant;
        Assert.Equal(RecordPhase.Proposed, waits.Records.Oldest!.Phase);
        for (int i = 0; i < 200 && waits.Records.Oldest is { Stable: false }; i++)
        {
            world.Advance(TimeSpan.FromMilliseconds(20));
            world.DeliverAll((from, to) => (from, to) is not (1 or 4, 2));
            world.DeliverAll((from, to) => (from, to) is not (1, 2));
        }
        Assert.True(waits.Records.Oldest is null or { Stable: true }, world.Describe());
        Assert.True(world.Waiting(1, 2) > 0);
        world.Settle();
        Assert.Equal(DhtWorld.Slice(world.Members[0]).Digest, DhtWorld.Slice(world.Members[2]).Digest);
    }

    private static DhtWorld Joined()
    {
        var world = DhtWorld.Founded(4);
        var late = world.Add();
        world.ChangeView();
        late.Enable(world.Options, DhtWorld.Maps);
        world.ChangeView();
        world.ViewRequested = false;
        Assert.Equal((0, false), (late.Host.Current!.State.Shard, late.Host.Current.State.Initialised));
        return world;
    }
}
