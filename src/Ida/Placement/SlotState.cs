using GroupCore.Membership;

namespace Ida.Placement;

/// <summary>
/// Who holds a slot, whether it has the complete state of its shard, and whether it goes as soon as another has it. <c>default</c> is a hole.
/// </summary>
internal readonly record struct SlotState(ProcessId Member, bool Full, bool Taken = true, bool Leaving = false)
{
    public static SlotState Hole => new(default, false, false);
}
