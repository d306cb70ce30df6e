using GroupCore.Membership;

namespace Oracle.State;

/// <summary>A process in the queue of a group.</summary>
internal readonly record struct JoinRequest(ProcessId Process, string Tag);
