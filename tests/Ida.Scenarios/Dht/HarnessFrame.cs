using GroupCore.Wire;

namespace Ida.Scenarios;

/// <summary>A frame on its way.</summary>
internal sealed record HarnessFrame(FrameType Type, byte[] Body, ulong View, int FromRank);
