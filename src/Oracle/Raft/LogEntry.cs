namespace Oracle.Raft;

/// <summary>One entry; its place in the log is its index.</summary>
internal sealed record LogEntry(ulong Term, EntryKind Kind, byte[] Content);
