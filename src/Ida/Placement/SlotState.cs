using GroupCore.Membership;

namespace Ida.Placement;

/// <summary>
/// The member of a slot, whether it has the complete state of its shard, and whether it leaves as soon as another member has it. <c>default</c> is a hole.
/// </summary>
internal readonly record struct SlotState(ProcessId Member, bool Initialised, bool Taken = true, bool Leaving = false)
{
    public static SlotState Hole => new(default, false, false);
}
