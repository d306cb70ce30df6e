using GroupCore.Transport;

namespace Oracle.State.Operations;

/// <summary>
/// Registers a process. Its incarnation is the index of this log entry, the same for all processes that one entry registers. <paramref name="Lease"/> is the
/// length of the process's leases, in ns: every leader has to know it, also for leases that it did not grant.
/// </summary>
internal sealed record Register(ulong Node, NodeAddress Address, string Tag, string Host, int Number, long Start, long Lease, bool OwnsAddress = true) : Operation;
