using GroupCore.Wire;

namespace Ida.Scenarios;

/// <summary>A frame to write, header and all. After one that <paramref name="Breaks"/> the receiver must end the connection.</summary>
internal sealed record HostileFrame(FrameType Type, Mutation Mutation, byte[] Bytes, bool Breaks);
