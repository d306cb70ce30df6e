namespace GroupCore.Groups.State;

/// <summary>The bytes of a checkpoint on their way to the user.</summary>
internal sealed record LoadedState(ReadOnlyMemory<byte> Bytes);
