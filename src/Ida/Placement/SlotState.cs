using GroupCore.Membership;

namespace Ida.Placement;

/// <summary>Who holds a slot, and whether it has the complete state of its shard. <c>default</c> is a hole.</summary>
internal readonly record struct SlotState(ProcessId Member, bool Full, bool Taken = true)
{
    public static SlotState Hole => new(default, false, false);
}
