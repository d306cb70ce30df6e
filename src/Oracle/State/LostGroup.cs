using GroupCore.Membership;

namespace Oracle.State;

/// <summary>
/// A StrictPrimary group that is over because no member survives; some of its members may be cut off and still hold a lease. Its name is kept
/// until their leases are over; otherwise another group of that name could be active beside it. The records of the members may be gone before
/// that: <paramref name="Lease"/> is the length of the longest of these leases, in ns.
/// </summary>
internal sealed record LostGroup(GroupId Id, string Name, IReadOnlyList<ProcessId> Failed, long Lease);
