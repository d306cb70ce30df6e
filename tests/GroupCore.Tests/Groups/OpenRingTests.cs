using System.Reflection;
using GroupCore.Groups.PointToPoint;
using GroupCore.Runtime;

namespace GroupCore.Tests.Groups;

/// <summary>An entry that stays open for long does not hold the room of all that came and went behind it.</summary>
public sealed class OpenRingTests
{
    private const int Many = 200_000;

    private struct Entry : IOpenEntry
    {
        public ulong Number { get; set; }

        public bool Open { get; set; }

        public int Value;
    }

    [Fact]
    public void A_ring_holds_the_same_open_entries_as_a_table()
    {
        var random = new Prng(11);
        for (int run = 0; run < 50; run++)
        {
            ulong first = random.NextUInt64() >>> (int)random.Next(1, 60);
            var ring = new OpenRing<Entry>(first);
            var table = new SortedDictionary<ulong, int>();
            double adds = 0.3 + (0.4 * random.NextDouble());
            for (int step = 0; step < 2_000; step++)
            {
                if (random.Chance(adds) || table.Count == 0)
                {
                    if (random.Chance(0.05)) ring.Skip();
                    table.Add(ring.Add(new() { Open = true, Value = step }), step);
                }
                else if (random.Chance(0.02))
                {
                    ring.Trim();
                }
                else
                {
                    // Mostly young entries close, so that old ones stay.
                    ulong number = table.Keys.ElementAt(Math.Max(random.Next(table.Count), random.Next(table.Count)));
                    ring.Close(number);
                    table.Remove(number);
                }
                ulong asked = first + (ulong)random.Next(step + 3);
                Assert.Equal(table.ContainsKey(asked), ring.IsOpen(asked));
                if (table.TryGetValue(asked, out int value)) Assert.Equal(value, ring[asked].Value);
            }
            Assert.Equal(table.Count, ring.Count);
            var open = new List<ulong>();
            for (ulong number = 0; ring.TryNext(ref number); number++) open.Add(number);
            Assert.Equal(table.Keys, open);
            Assert.Equal(table.Count > 0 ? open[0] : ring.Next, ring.First);
        }
    }

    [Fact]
    public void One_message_that_is_not_acknowledged_keeps_no_room_for_those_that_are()
    {
        var queue = new OutQueue();
        uint oldest = queue.Add(7, 1);
        for (int i = 0; i < Many; i++) Assert.True(queue.TryClose(queue.Add(0, 1), 0, out _));
        Assert.InRange(queue.Places, 1, 64);
        Assert.True(queue.TryClose(oldest, 0, out ulong parent));
        Assert.Equal((7UL, 0, 0L), (parent, queue.Count, queue.Bytes));
    }

    [Fact]
    public void One_message_that_is_being_handled_keeps_no_room_for_those_that_were()
    {
        var table = new HandlingTable(1);
        ulong oldest = table.Add(new() { Open = true, Event = 0 });
        for (int i = 1; i < Many; i++)
        {
            ulong number = table.Add(new() { Open = true, Event = i });
            while (table.TryHandle(i + 1, out ulong handled))
                if (handled != oldest) table.Close(handled);
            Assert.False(table.IsOpen(number));
        }
        Assert.InRange(table.Places, 1, 64);
        Assert.True(table.IsOpen(oldest));
    }

    [Fact]
    public void A_number_that_is_open_since_a_round_is_given_to_nobody_else()
    {
        var queue = new OutQueue(5);
        uint oldest = queue.Add(7, 1);
        // As after a day with 50,000 messages a second.
        object ring = typeof(OutQueue).GetField("_open", BindingFlags.Instance | BindingFlags.NonPublic)!.GetValue(queue)!;
        ring.GetType().GetProperty("Next")!.SetValue(ring, (1UL << 32) + 5);
        uint next = queue.Add(8, 1);
        Assert.Equal((5U, 6U), (oldest, next));
        Assert.True(queue.TryClose(oldest, 0, out ulong parent));
        Assert.Equal(7UL, parent);
        Assert.True(queue.TryClose(next, 0, out parent));
        Assert.Equal(8UL, parent);
        Assert.False(queue.TryClose(next, 0, out _));
    }
}
