using GroupCore.Wire;

namespace Ida.Tests.Harness;

/// <summary>A frame on its way.</summary>
internal sealed record HarnessFrame(FrameType Type, byte[] Body, ulong View, int FromRank);
