using GroupCore.Membership;

namespace Oracle.State;

/// <summary>
/// A StrictPrimary group that is over because no member survives, of which some may be cut off and still hold a lease. Its name is kept until
/// theirs are over; else another group of that name could be active beside it. Their records may be gone before: <paramref name="Lease"/> is the
/// length of the longest of those leases, in ns.
/// </summary>
internal sealed record LostGroup(GroupId Id, string Name, IReadOnlyList<ProcessId> Failed, long Lease);
