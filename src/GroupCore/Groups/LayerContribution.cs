using GroupCore.Membership;

namespace GroupCore.Groups;

/// <summary>What a survivor or leaver contributed to a view change. <paramref name="Bytes"/> may be kept.</summary>
internal readonly record struct LayerContribution(ProcessId Member, ReadOnlyMemory<byte> Bytes);
