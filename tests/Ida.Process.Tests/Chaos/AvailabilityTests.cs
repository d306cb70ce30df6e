using Ida.Chaos.Judging;
using Ida.Testing.Checking;

namespace Ida.Process.Tests.Chaos;

/// <summary>How long nobody gets an answer after faults is judged, not only printed.</summary>
public sealed class AvailabilityTests
{
    private const long Second = 1_000_000_000;

    [Theory]
    [InlineData(20, 2, 0, false)]
    [InlineData(20, 14, 1, false)]
    [InlineData(20, 14, 4, true)]
    [InlineData(8, 14, 8, false)]
    public void Many_long_gaps_after_faults_of_one_kind_are_named(int faults, int gap, int slow, bool named)
    {
        long now = 0;
        var recorder = new HistoryRecorder(clock: () => now);
        for (int fault = 0; fault < faults; fault++)
        {
            recorder.Nemesis("kill", "m0");
            // Nobody has an answer for a while, then all have.
            now += (fault < slow ? gap : 1) * Second;
            for (int i = 0; i < 60; i++, now += Second / 2) recorder.Ok(recorder.Invoke("c0", "m0", HistoryFunctions.Get, ["a"]), [HistoryValue.Absent]);
        }
        string? wrong = Availability.Of(recorder.ToHistory()).Wrong();
        Assert.Equal(named, wrong is not null);
        if (named) Assert.Contains("after one kill in ten nobody had an answer for", wrong, StringComparison.Ordinal);
    }
}
