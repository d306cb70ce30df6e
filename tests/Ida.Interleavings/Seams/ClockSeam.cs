using Ida.Interleavings.Scheduling;

namespace Ida.Interleavings.Seams;

/// <summary>The clock of the schedule. It goes on a little at each look, and now and then by more than an owner of the loop may be away.</summary>
internal static class ClockSeam
{
    private const int LongOneIn = 24;
    private const long Short = 100, Long = 150_000;

    public static long Now()
    {
        if (Lane.Current is not { Schedule: var schedule }) return 0;
        schedule.Now += schedule.Happens(LongOneIn) ? Long : Short;
        return schedule.Now;
    }
}
