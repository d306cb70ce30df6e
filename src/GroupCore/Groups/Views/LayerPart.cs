using GroupCore.Membership;

namespace GroupCore.Groups.Views;

/// <summary>What one layer of a survivor or leaver contributed to a view change.</summary>
internal readonly record struct LayerPart(ProcessId Member, LayerFrames Layer, ReadOnlyMemory<byte> Bytes);
