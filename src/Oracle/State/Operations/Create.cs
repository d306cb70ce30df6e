using GroupCore.Membership;

namespace Oracle.State.Operations;

/// <summary>A group with all its members at once (groupcore-oracle 3.5).</summary>
internal sealed record Create(string Name, GroupOptions Options, int Acceptors, IReadOnlyList<ProcessId> Members) : Operation;
