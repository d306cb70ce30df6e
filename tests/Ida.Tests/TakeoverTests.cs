using Ida.Ordering;
using Ida.Wire;

namespace Ida.Tests;

/// <summary>Members that drive an operation of another's to its end, while messages of its coordinator are slow (dht-order.md#takeover-without-consensus).</summary>
public sealed class TakeoverTests
{
    /// <summary>
    /// A participant that holds nothing says so, and is asked again before that answer comes. Meanwhile it proposes and the time is fixed:
    /// the late answer does not say that it has executed the put and forgotten it.
    /// </summary>
    [Fact]
    public async Task An_answer_from_before_the_proposal_is_no_sign_that_a_participant_is_through()
    {
        var world = DhtWorld.Founded(6);
        Task<PutResult> Put(int member, long value)
        {
            var put = world.Members[member].Dht.Map<string, long>("m").OrderedPutAsync("a0", value).AsTask();
            world.Poke();
            return put;
        }
        // Holds up the next one at all replicas: nobody hears what they propose.
        var before = Put(3, 1);
        world.DeliverAll((from, _) => from == 3);
        var put = Put(1, 2);
        world.DeliverAll((from, to) => (from, to) is (1, 0) or (1, 2));
        var taker = world.Members[0].Host.Current!;
        var held = taker.Participant.Oldest!.Newer!;
        int asked = 0;
        world.Swallows = (from, to, type) =>
        {
            asked += (from, to, type) == (0, 4, DhtFrame.Recover) ? 1 : 0;
            return false;
        };
        for (int i = 0; i < 200 && asked < 2; i++) world.Advance(TimeSpan.FromMilliseconds(20));
        Assert.Equal(2, asked);
        world.DeliverAll((from, to) => (from, to) is (0, 4));
        // Now the proposal arrives there too, and the time comes back to those who took over; the answers of that participant still wait.
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
}
