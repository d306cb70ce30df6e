using GroupCore.Membership;

namespace Oracle.State.Operations;

/// <summary>Creates a group with all its members at once (oracle.md#a-group-with-its-whole-list-is-one-entry).</summary>
internal sealed record Create(string Name, GroupOptions Options, int Acceptors, IReadOnlyList<ProcessId> Members) : Operation;
