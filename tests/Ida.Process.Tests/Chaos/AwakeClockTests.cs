using Ida.Chaos.Members;

namespace Ida.Process.Tests.Chaos;

/// <summary>The clock by which a member judges its calls, and which tells whether the member was held up.</summary>
public sealed class AwakeClockTests
{
    private readonly SteppedTime _time = new();

    [Fact]
    public void A_stop_counts_as_a_moment_and_is_told()
    {
        var clock = new AwakeClock(_time);
        for (int i = 0; i < 10; i++) Pass(clock, 100);
        Pass(clock, 300);
        Assert.Equal((TimeSpan.FromMilliseconds(1_300), TimeSpan.Zero), (clock.Now, clock.HeldUp));
        Pass(clock, 8_000);
        Assert.Equal((TimeSpan.FromMilliseconds(1_800), TimeSpan.FromMilliseconds(7_900)), (clock.Now, clock.HeldUp));
    }

    [Fact]
    public void Ticks_come_on_a_thread_that_is_none_of_the_pool()
    {
        using var ticked = new CountdownEvent(3);
        using var ticker = new Ticker(() =>
        {
            if (!Thread.CurrentThread.IsThreadPoolThread && !ticked.IsSet) ticked.Signal();
        });
        Assert.True(ticked.Wait(TimeSpan.FromSeconds(30)));
    }

    private void Pass(AwakeClock clock, int milliseconds)
    {
        _time.Ticks += milliseconds * TimeSpan.TicksPerMillisecond;
        clock.Tick();
    }

    private sealed class SteppedTime : TimeProvider
    {
        public long Ticks { get; set; }

        public override long TimestampFrequency => TimeSpan.TicksPerSecond;

        public override long GetTimestamp() => Ticks;
    }
}
