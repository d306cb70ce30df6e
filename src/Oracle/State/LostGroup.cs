using GroupCore.Membership;

namespace Oracle.State;

/// <summary>
/// A StrictPrimary group that is over because no member survives. Those that are not proved dead (<paramref name="Failed"/>) may be cut off and
/// still hold a lease: until their leases are over the name is kept, as another group of that name could be active beside this one. Their
/// records may be gone before that: <paramref name="Lease"/> is the length of the longest of these leases, in ns.
/// </summary>
internal sealed record LostGroup(GroupId Id, string Name, IReadOnlyList<ProcessId> Failed, long Lease);
