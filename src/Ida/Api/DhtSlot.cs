using GroupCore.Membership;

namespace Ida;

/// <summary>One slot.</summary>
/// <param name="Slot">Its number.</param>
/// <param name="Shard">The shard it belongs to: its number modulo the number of shards.</param>
/// <param name="Rank">Rank of its member in the view.</param>
/// <param name="Member">Its member.</param>
/// <param name="IsInitialised">Whether the member has the complete state of the shard.</param>
public sealed record DhtSlot(int Slot, int Shard, int Rank, ProcessId Member, bool IsInitialised);
