using GroupCore.Transport;

namespace GroupCore.Membership;

/// <summary>A member of a view: the process, where it listens, whether it holds the group's state, and the tag it joined with (host, zone, role).</summary>
public sealed record ViewMember(ProcessId Id, NodeAddress Address, bool Initialised, string Tag);
