using System.Reflection;
using GroupCore.Runtime;

namespace GroupCore.Tests.Runtime;

public sealed class TimerQueueTests
{
    [Fact]
    public void Timers_fire_by_due_time_then_order_of_setting_and_cancelled_ones_never()
    {
        for (ulong seed = 1; seed <= 100; seed++)
        {
            var random = new Prng(seed);
            var queue = new TimerQueue();
            var fired = new Fired();
            SortedDictionary<(long Due, long Token), TimerHandle> expected = [];
            List<TimerHandle> gone = [];
            long now = 0, token = 0;
            for (int step = 0; step < 2000; step++)
            {
                switch (random.Next(4))
                {
                    case 0 or 1:
                        long due = now + random.Next(50);
                        expected[(due, token)] = queue.Set(due, fired, token);
                        token++;
                        break;
                    case 2 when expected.Count > 0:
                        var victim = expected.ElementAt(random.Next(expected.Count));
                        queue.Cancel(victim.Value);
                        gone.Add(victim.Value);
                        expected.Remove(victim.Key);
                        break;
                    default:
                        if (gone.Count > 0) queue.Cancel(gone[random.Next(gone.Count)]);
                        queue.Cancel(default);
                        now += random.Next(20);
                        while (queue.FireOne(now))
                        {
                            var first = expected.First();
                            Assert.Equal(first.Key.Token, fired.Last);
                            Assert.True(first.Key.Due <= now);
                            gone.Add(first.Value);
                            expected.Remove(first.Key);
                        }
                        break;
                }
                Assert.Equal(expected.Count, queue.Count);
                Assert.Equal(expected.Count == 0 ? long.MaxValue : expected.First().Key.Due, queue.NextDue);
            }
        }
    }

    [Fact]
    public void A_timer_can_be_cancelled_however_often_its_place_was_used()
    {
        var queue = new TimerQueue();
        var fired = new Fired();
        queue.Cancel(queue.Set(1, fired, 1));
        // As after 2^32 of them.
        var slots = (Array)typeof(TimerQueue).GetField("_slots", BindingFlags.Instance | BindingFlags.NonPublic)!.GetValue(queue)!;
        object slot = slots.GetValue(0)!;
        slot.GetType().GetField("Generation")!.SetValue(slot, -1);
        slots.SetValue(slot, 0);
        var handle = queue.Set(1, fired, 1);
        Assert.NotEqual(default, handle);
        queue.Cancel(handle);
        Assert.Equal(0, queue.Count);
    }

    private sealed class Fired : ITimerTarget
    {
        public long Last { get; private set; }

        public void OnTimer(long token) => Last = token;
    }
}
