using GroupCore.Wire;

namespace GroupCore.Runtime;

/// <summary>A protocol that receives frames.</summary>
internal interface IFrameHandler
{
    /// <summary>
    /// Handles one complete frame. <paramref name="body"/> is valid during the call only and is untrusted: a handler reads it with
    /// bounds, and on malformed content calls <see cref="NodeCounters.Refuse"/> and returns without an effect.
    /// </summary>
    void OnFrame(int peer, in FrameHeader header, ReadOnlySpan<byte> body);
}
