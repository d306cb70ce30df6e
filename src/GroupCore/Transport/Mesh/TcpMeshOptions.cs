using System.Net;
using GroupCore.Transport.Sockets;

namespace GroupCore.Transport.Mesh;

/// <summary>What a <see cref="TcpMesh"/> is made of.</summary>
/// <param name="Cluster">Name that both ends of every link must share.</param>
/// <param name="Port">The sockets; the mesh disposes it.</param>
/// <param name="Listen">Where to listen.</param>
/// <param name="Advertise">Where others reach this node, if that is not where it listens; port 0 means the port where it does.</param>
/// <param name="MostQueuedBytes">Unacknowledged bytes of all links at which producers of bulk wait.</param>
/// <param name="MostMalformed">Malformed frames that a node may send within a minute.</param>
/// <param name="MostGuests">Most links to peers that only dialled in.</param>
/// <param name="MostGuestNumbers">Link numbers from this one on are not given to peers that dial in.</param>
/// <param name="Start">The number that makes this node's id of the identity that the port shows; 0 without credentials.</param>
/// <param name="Names">Source of the names of sessions; null for numbers that nobody can guess.</param>
internal sealed record TcpMeshOptions(string Cluster, ISocketPort Port, IPEndPoint Listen, IPEndPoint? Advertise, long MostQueuedBytes = LinkLimits.NodeBytes,
    int MostMalformed = MuteTable.Malformed, int MostGuests = LinkLimits.Guests, int MostGuestNumbers = LinkLimits.GuestNumbers, ulong Start = 0, Func<ulong>? Names = null);
