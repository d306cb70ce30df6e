using GroupCore.Membership;

namespace Oracle.State.Operations;

/// <summary>
/// An operation in a log entry with its requester. (Requester, Number) names a request and its repeats; all requests below
/// <paramref name="Floor"/> are answered. Number 0: made by the leader itself, or a registration, which its node id names.
/// </summary>
internal sealed record Request(ProcessId Requester, ulong Number, ulong Floor, Operation Operation);
