namespace Ida.Coordination;

/// <summary>What a read of the own slice found, for an operation of this member.</summary>
internal readonly record struct LocalValue(ulong Request, uint Attempt, int Index, byte[]? Value, ulong Version);
