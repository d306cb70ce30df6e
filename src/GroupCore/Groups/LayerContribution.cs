using GroupCore.Membership;

namespace GroupCore.Groups;

/// <summary>What one survivor contributed to a view change. <paramref name="Bytes"/> may be kept.</summary>
public readonly record struct LayerContribution(ProcessId Member, ReadOnlyMemory<byte> Bytes);
