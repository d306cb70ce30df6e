using GroupCore.Transport;

namespace Ida.Testing;

/// <summary>Something that waits for a node's next turn: frames, a link that is up, or a fault.</summary>
internal readonly record struct InboxItem(SimLinkEnd End, Packet? Packet, LinkFault? Fault);
