using GroupCore.Wire;

namespace Ida.Testing;

/// <summary>A frame that a node hands to its links.</summary>
internal readonly ref struct FrameSent(FrameType type, ReadOnlySpan<byte> body)
{
    public FrameType Type { get; } = type;

    public ReadOnlySpan<byte> Body { get; } = body;
}
