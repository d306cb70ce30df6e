using GroupCore.Runtime;

namespace GroupCore.Tests.Runtime;

/// <summary>Commands from any thread to the loop: bounded, and in the order in which each thread posted them.</summary>
public sealed class CommandQueueTests
{
    [Fact]
    public void Commands_come_in_the_order_in_which_they_were_queued_however_often_places_are_used()
    {
        var queue = new CommandQueue(4);
        Assert.True(queue.IsEmpty);
        for (int round = 0; round < 100; round++)
        {
            int count = 1 + (round % 4);
            for (int i = 0; i < count; i++) Assert.True(queue.TryEnqueue(new Numbered(0, i)));
            Assert.False(queue.IsEmpty);
            for (int i = 0; i < count; i++) Assert.Equal(i, Next(queue)!.Number);
            Assert.True(queue.IsEmpty);
            Assert.Null(Next(queue));
        }
    }

    [Fact]
    public void A_full_queue_refuses_until_one_is_taken()
    {
        var queue = new CommandQueue(4);
        for (int i = 0; i < 4; i++) Assert.True(queue.TryEnqueue(new Numbered(0, i)));
        Assert.False(queue.TryEnqueue(new Numbered(0, 4)));
        Assert.Equal(0, Next(queue)!.Number);
        Assert.True(queue.TryEnqueue(new Numbered(0, 4)));
        Assert.False(queue.TryEnqueue(new Numbered(0, 5)));
    }

    [Fact]
    public void The_room_is_the_next_power_of_two()
    {
        var queue = new CommandQueue(5);
        int room = 0;
        while (queue.TryEnqueue(new Numbered(0, room))) room++;
        Assert.Equal(8, room);
    }

    [Fact]
    public async Task Threads_that_queue_at_once_lose_nothing_and_each_keeps_its_order()
    {
        const int Threads = 3, Each = 20_000;
        var queue = new CommandQueue(64);
        var producers = Enumerable.Range(0, Threads).Select(thread => Task.Run(() =>
        {
            var wait = new SpinWait();
            for (int i = 0; i < Each; i++)
                while (!queue.TryEnqueue(new Numbered(thread, i))) wait.SpinOnce();
        })).ToArray();
        int[] next = new int[Threads];
        var idle = new SpinWait();
        for (int taken = 0; taken < Threads * Each;)
        {
            if (Next(queue) is not { } command)
            {
                idle.SpinOnce();
                continue;
            }
            Assert.Equal(next[command.Thread]++, command.Number);
            taken++;
        }
        await Task.WhenAll(producers);
        Assert.True(queue.IsEmpty);
    }

    private static Numbered? Next(CommandQueue queue) => queue.TryDequeue(out var command) ? (Numbered)command : null;

    private sealed class Numbered(int thread, int number) : NodeCommand
    {
        public int Thread => thread;

        public int Number => number;

        public override void Run() => throw new NotSupportedException();

        public override void Abandon(Exception reason) => throw new NotSupportedException();
    }
}
