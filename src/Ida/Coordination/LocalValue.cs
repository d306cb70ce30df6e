namespace Ida.Coordination;

/// <summary>The result of a read of this member's slice, for one of its operations.</summary>
internal readonly record struct LocalValue(ulong Request, uint Attempt, int Index, byte[]? Value, ulong Version);
