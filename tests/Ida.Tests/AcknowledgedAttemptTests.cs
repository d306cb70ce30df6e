using Ida.Wire;

namespace Ida.Tests;

/// <summary>
/// A newcomer holds every attempt that it is asked to hold, since it does not know yet what was acknowledged before its view. Initialised members refuse an attempt at an
/// acknowledged put. Where these are gone and the newcomer decides alone, it must not apply the put again.
/// </summary>
public sealed class AcknowledgedAttemptTests
{
    private const int Newcomer = 4;

    /// <param name="before">Whether the acknowledgement came before the newcomer's view, so that the state has no outcome of the put; else it overtakes the outcome on its way.</param>
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task R_an_attempt_at_an_acknowledged_put_that_only_a_newcomer_holds_is_not_applied(bool before)
    {
        var world = DhtWorld.Founded(4);
        world.GivenFrom = 0;
        var map = world.Members[1].Dht.Map<string, long>("longs");
        var put = map.MergePairAsync("a0", 1L).AsTask();
        world.RunUntil(() => put.IsCompleted, "The put");
        if (before) Acknowledge();
        world.Settle();
        var late = world.Add();
        world.ChangeView();
        late.Enable(world.Options, DhtWorld.Maps);
        world.ChangeView();
        Assert.Equal((0, false), (late.Host.Current!.State.Shard, late.Host.Current.State.Initialised));
        var retry = world.Members[3].Dht.Map<string, long>("longs").MergePairAsync("a0", 1L, new() { Operation = (await put).Operation }).AsTask();
        world.Poke();
        world.DeliverUntil(3, Newcomer, DhtFrame.Propose);
        Assert.Equal(1, late.Host.Current.Participant.Records.Count);
        if (!before) Acknowledge();
        for (int i = 0; i < 20 && !late.Host.Current.State.Initialised; i++)
        {
            world.DeliverAll(static (from, to) => from != 3 && to != 3);
            world.Advance(TimeSpan.FromMicroseconds(200));
        }
        Assert.True(late.Host.Current.State.Initialised);
        // The members that know better never answer.
        world.Crash(world.Members[0], loseAll: true);
        world.Crash(world.Members[2], loseAll: true);
        world.ChangeView();
        world.RunUntil(() => retry.IsCompleted, "The retry");
        var read = map.GetAsync("a0").AsTask();
        world.RunUntil(() => read.IsCompleted, "The read");
        Assert.Equal(1, (await read).Value);
        world.Settle();

        void Acknowledge()
        {
            var next = map.MergePairAsync("b0", 1L).AsTask();
            world.Poke();
            for (int i = 0; i < 20 && !next.IsCompleted; i++)
            {
                // Frames that are not of the writer stay where they are, so the state comes later.
                world.DeliverAll(static (from, to) => from == 1 || to == 1);
                world.Advance(TimeSpan.FromMicroseconds(100));
            }
            Assert.True(next.IsCompletedSuccessfully);
        }
    }
}
