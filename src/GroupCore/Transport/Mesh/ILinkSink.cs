using GroupCore.Wire;

namespace GroupCore.Transport.Mesh;

/// <summary>Receives the frames of a session, each exactly once and in order.</summary>
internal interface ILinkSink
{
    /// <summary>One frame. <paramref name="body"/> is valid during the call only; the session may be closed inside it.</summary>
    void OnFrame(LinkSession session, in FrameHeader header, ReadOnlySpan<byte> body);
}
