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
        // As after 2^32 timers.
        typeof(TimerQueue).GetField("_sequence", BindingFlags.Instance | BindingFlags.NonPublic)!.SetValue(queue, (long)uint.MaxValue);
        var handle = queue.Set(1, fired, 1);
        Assert.NotEqual(default, handle);
        queue.Cancel(handle);
        Assert.Equal(0, queue.Count);
    }

    /// <summary>65,536 queries of one group with a time limit each, all answered: 2.9 MB.</summary>
    [Fact]
    public void Places_of_a_burst_are_given_back_some_seconds_after_it()
    {
        var queue = new TimerQueue();
        Burst(queue, 65_536, 0);
        Assert.Equal(65_536, queue.Places);
        for (long second = 1; second <= 10; second++) queue.FireOne(second * Second);
        Assert.InRange(queue.Places, 1, 1_024);
    }

    /// <summary>A node always has some timers, and those that were set amid the burst have places at its end.</summary>
    [Fact]
    public void Places_are_given_back_also_where_timers_of_the_burst_are_set_again_and_again()
    {
        var queue = new TimerQueue();
        var ticks = new Ticks(queue);
        List<TimerHandle> set = [.. Enumerable.Range(0, 65_536).Select(i => queue.Set(Second * 30, ticks, -1))];
        for (int i = 0; i < 20; i++) queue.Set(i * Second / 20, ticks, i);
        foreach (var handle in set) queue.Cancel(handle);
        for (long now = 0; now <= 12 * Second; now += Second / 20)
        {
            while (queue.FireOne(now))
            {
            }
        }
        Assert.Equal(20, queue.Count);
        Assert.InRange(ticks.Fired, 20 * 11, 20 * 13);
        Assert.InRange(queue.Places, 1, 1_024);
    }

    [Fact]
    public void Bursts_that_come_again_and_again_use_the_same_places()
    {
        var queue = new TimerQueue();
        Burst(queue, 5_000, 0);
        long before = GC.GetAllocatedBytesForCurrentThread();
        for (int i = 0; i < 100; i++)
        {
            Burst(queue, 5_000, i * Second);
            queue.FireOne(i * Second);
        }
        // The lists of handles, and the places of no burst.
        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, 100 * (5_000 * 8 + 20_000));
        Assert.Equal(8_192, queue.Places);
    }

    [Fact]
    public void A_long_timer_of_each_burst_does_not_make_the_next_one_take_new_places()
    {
        var queue = new TimerQueue();
        for (int burst = 0; burst < 20; burst++)
        {
            long now = burst * 20 * Second;
            List<TimerHandle> set = [.. Enumerable.Range(0, 5_000).Select(i => queue.Set(now + (3_600 * Second), new Fired(), i))];
            foreach (var handle in set.SkipLast(1)) queue.Cancel(handle);
            for (int second = 1; second <= 10; second++) queue.FireOne(now + (second * Second));
        }
        Assert.Equal(20, queue.Count);
        Assert.InRange(queue.Places, 1, 16_384);
    }

    /// <summary>Whatever places came and went, a timer fires once, in its order, unless it was cancelled. The handle of a timer that is over names no other timer.</summary>
    [Fact]
    public void Timers_fire_in_their_order_beside_bursts_after_which_places_are_given_back()
    {
        int given = 0;
        for (ulong seed = 1; seed <= 6; seed++)
        {
            var random = new Prng(seed);
            var queue = new TimerQueue();
            var fired = new Fired();
            var live = new SortedDictionary<(long Due, long Token), TimerHandle>();
            List<TimerHandle> gone = [];
            long now = 0, token = 0;
            for (int step = 0; step < 100; step++, now += random.Next(2) == 0 ? Second * random.Next(5) : 10)
            {
                int count = random.Next(10) == 0 ? 5_000 : 20;
                for (; count > 0; count--, token++)
                {
                    long due = now + (Second * random.Next(6));
                    live.Add((due, token), queue.Set(due, fired, token));
                }
                int among = random.Next(2) == 0 ? 1 : 1 + random.Next(1_000);
                foreach (var (at, handle) in live.Where(one => one.Key.Token % 1_000 < among).ToList())
                {
                    queue.Cancel(handle);
                    gone.Add(handle);
                    live.Remove(at);
                }
                foreach (var handle in gone) queue.Cancel(handle);
                if (gone.Count > 20_000) gone.RemoveRange(0, 10_000);
                Assert.Equal(live.Count, queue.Count);
                int places = queue.Places;
                while (queue.FireOne(now))
                {
                    var first = live.First();
                    Assert.Equal(first.Key.Token, fired.Last);
                    Assert.True(first.Key.Due <= now);
                    gone.Add(first.Value);
                    live.Remove(first.Key);
                }
                Assert.Equal(live.Count == 0 ? long.MaxValue : live.First().Key.Due, queue.NextDue);
                if (queue.Places < places) given++;
            }
        }
        Assert.InRange(given, 6, 600);
    }

    private static void Burst(TimerQueue queue, int count, long now)
    {
        var set = new List<TimerHandle>(count);
        var target = new Fired();
        for (int i = 0; i < count; i++) set.Add(queue.Set(now + (30 * Second), target, i));
        foreach (var handle in set) queue.Cancel(handle);
    }

    private const long Second = 1_000_000_000;

    private sealed class Ticks(TimerQueue queue) : ITimerTarget
    {
        public int Fired { get; private set; }

        public void OnTimer(long token)
        {
            Fired++;
            queue.Set(((((Fired - 1) / 20) + 1) * Second) + (token * Second / 20), this, token);
        }
    }

    private sealed class Fired : ITimerTarget
    {
        public long Last { get; private set; }

        public void OnTimer(long token) => Last = token;
    }
}
