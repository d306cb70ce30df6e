namespace Oracle.Log;

/// <summary>One entry; its index is its place.</summary>
internal sealed record LogEntry(ulong Term, EntryKind Kind, byte[] Content);
