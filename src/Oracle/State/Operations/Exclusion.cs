using GroupCore.Membership;

namespace Oracle.State.Operations;

/// <summary>One process to exclude, and whether its death is proved.</summary>
internal readonly record struct Exclusion(ProcessId Process, bool Proved);
