namespace Ida.Testing;

/// <summary>Virtual time for code that takes a time provider, such as <c>Task.Delay(time, provider)</c>.</summary>
internal sealed class SimTimeProvider(Simulation simulation) : TimeProvider
{
    private static readonly DateTimeOffset Start = new(2000, 1, 1, 0, 0, 0, TimeSpan.Zero);

    public override long TimestampFrequency => 1_000_000_000;

    public override TimeZoneInfo LocalTimeZone => TimeZoneInfo.Utc;

    public override long GetTimestamp() => simulation.Time;

    public override DateTimeOffset GetUtcNow() => Start + simulation.Now;

    public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period)
    {
        var timer = new SimTimer(simulation, () => callback(state));
        timer.Change(dueTime, period);
        return timer;
    }
}
