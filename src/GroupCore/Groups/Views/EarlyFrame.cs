using GroupCore.Membership;
using GroupCore.Wire;

namespace GroupCore.Groups.Views;

/// <summary>A frame that came before its view, with its number in order of arrival.</summary>
internal sealed record EarlyFrame(long Number, GroupId Group, ulong View, int Peer, FrameHeader Header, byte[] Body)
{
    public long Cost => CostOf(Body.Length);

    public static long CostOf(int length) => length + 64;
}
