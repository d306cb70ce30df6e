using Ida.Ordering;
using Ida.Wire;

namespace Ida.Tests;

/// <summary>Members that drive another member's operation to its end, while messages of its coordinator are slow (dht-order.md#takeover-without-consensus).</summary>
public sealed class TakeoverTests
{
    /// <summary>
    /// A participant that holds nothing says so, and is asked again before that answer comes. Meanwhile it proposes, and the time is fixed. The late answer must not be
    /// taken to say that the participant has executed the put and forgotten it.
    /// </summary>
    [Fact]
    public async Task An_answer_from_before_the_proposal_is_no_sign_that_a_participant_is_through()
    {
        var world = DhtWorld.Founded(6);
        Task<PutResult> Put(int member, long value)
        {
            var put = world.Members[member].Dht.Map<string, long>("longs").PutAsync("a0", value).AsTask();
            world.Poke();
            return put;
        }
        // This put holds up the next one at all replicas: nobody hears what they propose.
        var before = Put(3, 1);
        world.DeliverAll((from, _) => from == 3);
        var put = Put(1, 2);
        world.DeliverAll((from, to) => (from, to) is (1, 0) or (1, 2));
        var taker = world.Members[0].Host.Current!;
        var held = taker.Participant.Records.Oldest!.Newer!;
        int asked = 0;
        world.Swallows = (from, to, type) =>
        {
            asked += (from, to, type) == (0, 4, DhtFrame.Recover) ? 1 : 0;
            return false;
        };
        for (int i = 0; i < 200 && asked < 2; i++) world.Advance(TimeSpan.FromMilliseconds(20));
        Assert.Equal(2, asked);
        world.DeliverAll((from, to) => (from, to) is (0, 4));
        // Now the proposal arrives at that participant too, and the time comes back to the members that took over; the answers of that participant still wait.
        world.DeliverAll((from, to) => (from, to) is (1, 4));
        world.DeliverUntil(4, 1, DhtFrame.Proposed);
        world.DeliverAll((from, to) => to == 1 && from is 0 or 2);
        world.DeliverAll((from, to) => (from, to) is (1, 0) or (1, 2));
        Assert.Equal((RecordPhase.Committed, false), (held.Phase, held.Stable));
        asked = 0;
        for (int i = 0; i < 200 && asked < 2; i++)
        {
            world.Advance(TimeSpan.FromMilliseconds(20));
            world.DeliverAll((from, to) => (from, to) is (0, 2) or (2, 0));
        }
        world.DeliverAll((from, to) => (from, to) is (4, 0));
        Assert.False(held.Stable);
        world.RunUntil(() => before.IsCompleted && put.IsCompleted, "Both puts");
        Assert.Equal((1, 1), ((await before).Versions.Count, (await put).Versions.Count));
        world.Settle();
    }

    /// <summary>
    /// A replica that has executed another attempt at a put answers a member that takes over a retry's attempt. The answer comes after that attempt was aborted there and a
    /// caller's retry has begun it anew, while the put is not executed yet at that member.
    /// </summary>
    [Fact]
    public async Task What_a_takeover_hears_late_does_not_end_a_retry_whose_put_is_not_executed_everywhere()
    {
        const int Executes = 0, Taker = 1, Issuer = 2, Retries = 3;
        var world = DhtWorld.Founded(4, options: new() { ShardSize = 1, TargetSize = 4, Hash = new LastByteHash(), Member = new() { Timeout = TimeSpan.FromHours(10) } });
        world.GivenFrom = 0;
        KeyValuePair<string, long>[] pairs = [new("a0", 1), new("a1", 1)];
        Task<PutResult> Put(int member, OperationId? id = null, CancellationToken token = default)
        {
            var put = world.Members[member].Dht.Map<string, long>("longs").MergeAsync(pairs, new() { Operation = id }, token).AsTask();
            world.Poke();
            return put;
        }
        using var cancellation = new CancellationTokenSource();
        var unknown = Put(Issuer, token: cancellation.Token);
        await cancellation.CancelAsync();
        world.Poke();
        var id = Assert.IsType<OutcomeUnknownException>(unknown.Exception!.InnerException).Operation;
        // The retry reaches one of the two participants before the put does.
        var retry = Put(Retries, id);
        world.DeliverUntil(Retries, Taker, DhtFrame.Propose);
        world.DeliverAll((from, to) => from == Issuer);
        world.DeliverAll((from, to) => to == Issuer);
        world.DeliverUntil(Issuer, Executes, DhtFrame.Commit);
        bool asked = false;
        world.Swallows = (from, to, type) =>
        {
            asked |= (from, to, type) == (Taker, Executes, DhtFrame.Recover);
            return false;
        };
        for (int i = 0; i < 100 && !asked; i++) world.Advance(TimeSpan.FromMilliseconds(10));
        world.DeliverUntil(Taker, Executes, DhtFrame.Recover);
        // The participant that has executed the put refuses the attempt of the retry, which is aborted at the other one.
        world.DeliverUntil(Retries, Executes, DhtFrame.Propose);
        world.DeliverUntil(Executes, Retries, DhtFrame.Rejected);
        world.DeliverUntil(Taker, Retries, DhtFrame.Proposed);
        world.DeliverUntil(Retries, Taker, DhtFrame.Abort);
        world.Advance(TimeSpan.FromMilliseconds(10));
        var taker = world.Members[Taker].Host.Current!;
        Assert.Empty(taker.Coordinator.Attempts.All);
        Assert.Equal(RecordPhase.Proposed, taker.Participant.Records.Oldest!.Phase);
        var late = Put(Taker, id);
        world.DeliverAll((from, to) => (from, to) is (Executes, Taker));
        Assert.Equal(RecordPhase.Proposed, taker.Participant.Records.Oldest.Phase);
        Assert.False(late.IsCompleted, "The retry was given the answer to the takeover's question.");
        world.RunUntil(() => late.IsCompleted && retry.IsCompleted, "Both retries");
        Assert.Equal((2, 2), ((await late).Versions.Count, (await retry).Versions.Count));
        world.Settle();
        var read = world.Members[Retries].Dht.Map<string, long>("longs").GetAsync(["a0", "a1"]).AsTask();
        world.RunUntil(() => read.IsCompleted, "The read");
        Assert.Equal([1L, 1L], (await read).Values);
    }
}
