using GroupCore.Membership;

namespace Oracle.State.Operations;

/// <summary>One excluded process, and whether its death is proved.</summary>
internal readonly record struct Exclusion(ProcessId Process, bool Proved);
