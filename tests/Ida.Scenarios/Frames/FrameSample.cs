using GroupCore.Wire;

namespace Ida.Scenarios;

/// <summary>A frame as a member sent it, header aside.</summary>
internal sealed record FrameSample(FrameType Type, byte[] Body);
