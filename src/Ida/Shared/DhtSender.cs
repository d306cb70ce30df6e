using GroupCore.Wire;
using Ida.Wire;

namespace Ida.Shared;

/// <summary>Sends frames to other members, and counts them.</summary>
internal sealed class DhtSender(DhtState state)
{
    /// <summary>Room for the body of the next frame, which takes at most this many bytes.</summary>
    public BodyWriter Room(int size) => new(state.Port.Reserve(size));

    /// <summary>Sends what was written into the room.</summary>
    public void Send(int to, FrameType type, int length)
    {
        state.Counters.CountSent(type, 1);
        state.Port.Send(to, type, length);
    }

    /// <summary>Sends the same bytes to several members.</summary>
    public void Send(ReadOnlySpan<int> ranks, FrameType type, int length)
    {
        state.Counters.CountSent(type, ranks.Length);
        state.Port.Send(ranks, type, length);
    }
}
