namespace Ida;

/// <summary>Slots and maps in a view, as one member knows them.</summary>
/// <param name="View">The group's view.</param>
/// <param name="OwnSlot">This member's slot, −1 without one.</param>
/// <param name="IsInitialised">Whether this member has the complete state of its shard.</param>
/// <param name="Shards">Number of shards.</param>
/// <param name="Slots">Taken slots, ascending.</param>
/// <param name="Maps">The maps that this member declares, in the order of their names, and which of them can be used in this view; no others can.</param>
public sealed record DhtStatus(ulong View, int OwnSlot, bool IsInitialised, int Shards, IReadOnlyList<DhtSlot> Slots, IReadOnlyList<DhtMapStatus> Maps);
