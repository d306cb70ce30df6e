using GroupCore.Membership;

namespace Oracle.State;

/// <summary>
/// A StrictPrimary group that is over because no member survives. Members that are not proved dead (<paramref name="Failed"/>) may be cut off and still hold a lease. Until
/// their leases are over the name is kept; otherwise another group of that name could be active beside this one. Their records may be gone earlier, so <paramref name="Lease"/>
/// keeps the length of the longest of these leases, in ns.
/// </summary>
internal sealed record LostGroup(GroupId Id, string Name, IReadOnlyList<ProcessId> Failed, long Lease);
