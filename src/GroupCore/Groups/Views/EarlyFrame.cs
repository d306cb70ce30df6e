using GroupCore.Membership;
using GroupCore.Wire;

namespace GroupCore.Groups.Views;

/// <summary>A frame that came before its view.</summary>
internal sealed record EarlyFrame(GroupId Group, ulong View, int Peer, FrameHeader Header, byte[] Body)
{
    public long Cost => Body.Length + 64;
}
