using Ida.Interleavings.Scheduling;

namespace Ida;

/// <summary>Stands in for the real ones: a step that no operation may take fails the schedule.</summary>
internal sealed class DhtCounters(Schedule schedule)
{
    public void CountForbiddenStep() => schedule.Fail("An operation took a step that is none of its phase's");
}
