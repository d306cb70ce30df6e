namespace Ida.Interleavings.Scheduling;

/// <summary>A schedule that failed: its seed, and how many it took to find it.</summary>
internal sealed record FailedSchedule(ulong Seed, long Tried, Schedule Schedule);
